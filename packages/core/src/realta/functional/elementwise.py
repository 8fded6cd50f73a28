"""Elementwise functions: one for each elementwise op of the registry, with promotion and broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from realta.errors import ArgumentError, DTypeError
from realta.functional.arguments import (
    apply,
    as_tensor,
    cast_to,
    constant_of,
    elementwise,
    one_device,
    scalar_like,
)
from realta.functional.operation import operation
from realta.ops import OpDef, OpKind, get_op
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import (
    DType,
    as_dtype,
    bool_,
    broadcast_shapes,
    is_weak,
    promote,
    tensor_type,
    weak_dtype,
)

__all__ = ["cast", "clip", "divmod", "gelu", "is_elementwise", "make_elementwise", "where"]

Function = Callable[..., Any]
NEEDS_ARGUMENTS = frozenset({"select", "cast", "bitcast", "clip", "gelu"})
COMPARISONS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal"})
LOGICAL = {"logical_and": "bitwise_and", "logical_or": "bitwise_or", "logical_xor": "bitwise_xor"}


def is_elementwise(op: OpDef) -> bool:
    """Whether `make_elementwise` can make its function: elementwise, tensors only, no attributes."""
    return op.kind is OpKind.ELEMENTWISE and not op.attrs and op.name not in NEEDS_ARGUMENTS


def make_elementwise(op: OpDef) -> Function:
    """The public function of an elementwise op, with its doc and operand names."""
    if op.name in COMPARISONS:
        body = _comparison(op)
    elif op.name == "pow":
        body = _power
    else:
        body = _plain(op)
    body.__name__ = body.__qualname__ = op.name
    body.__doc__ = f"{op.doc}\n\n{op.signature()}, by element, with broadcasting and promotion."
    return operation(body)


def _plain(op: OpDef) -> Function:
    count = len(op.operands)

    def body(*values: Any) -> Tensor:
        if len(values) != count:
            raise ArgumentError(
                f"{op.name} takes {count} operand(s) ({', '.join(op.operands)}), got {len(values)}",
                fix=f"call it as {op.signature()}",
            )
        return elementwise(op, *values)  # type: ignore[no-any-return]

    return body


def _comparison(op: OpDef) -> Function:
    """Comparisons with a Python int outside the tensor's range are exact instead of an overflow."""

    def body(x: Any, y: Any) -> Tensor:
        for value, other, swapped in ((y, x, False), (x, y, True)):
            if type(value) is int and isinstance(other, Tensor) and other.dtype.is_integer:
                limit = _out_of_range(value, other.dtype)
                if limit:
                    truth = _truth(op.name, limit if not swapped else -limit)
                    return _filled(truth, other)
        return elementwise(op, x, y)  # type: ignore[no-any-return]

    return body


def _out_of_range(value: int, dtype: DType) -> int:
    """1 if the int lies above the dtype's range, -1 if below, 0 if inside."""
    low = 0 if dtype.kind == "uint" else -(2 ** (dtype.bits - 1))
    high = 2**dtype.bits - 1 if dtype.kind == "uint" else 2 ** (dtype.bits - 1) - 1
    return (value > high) - (value < low)


def _truth(name: str, side: int) -> bool:
    """The comparison ``x op value`` where value lies above (1) or below (-1) every x."""
    return {
        "equal": False, "not_equal": True, "less": side > 0, "less_equal": side > 0,
        "greater": side < 0, "greater_equal": side < 0,
    }[name]  # fmt: skip


def _filled(truth: bool, like: Tensor) -> Tensor:
    scalar = constant_of(truth, tensor_type(bool_, (), like._type.device))
    return apply("broadcast", scalar, shape=like._type.shape)  # type: ignore[no-any-return]


def _power(x: Any, y: Any) -> Tensor:
    if type(y) is int and y < 0 and isinstance(x, Tensor) and not x.dtype.is_float:
        raise DTypeError(
            f"an integer tensor cannot be raised to the negative power {y}",
            where=f"pow({x.type}, {y})",
            fix="cast the tensor to a float dtype first",
        )
    return elementwise(get_op("pow"), x, y)  # type: ignore[no-any-return]


def _same_operands(name: str, *values: Any) -> list[Tensor]:
    """Operands promoted and broadcast together, Python numbers weak."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    if not tensors:
        return one_device(name, *values)
    dtype = tensors[0].dtype
    for tensor in tensors[1:]:
        dtype = promote(dtype, tensor.dtype)
    for value in values:
        if is_weak(value):
            dtype = weak_dtype(value, dtype, default_float=current_dtype())
    device = tensors[0]._type.device
    found = [scalar_like(v, dtype, device) if is_weak(v) else as_tensor(v, device) for v in values]
    return [cast_to(t, dtype) for t in one_device(name, *found)]


@operation
def where(condition: Any, x: Any, y: Any) -> Tensor:
    """``x`` where the condition holds, else ``y``; all three broadcast together.

    Args:
        condition: bool tensor.
        x: tensor or number.
        y: tensor or number. Two Python numbers take the dtypes that they have as tensors.

    Raises:
        DTypeError: the condition is not bool.
    """
    (condition,) = one_device("where", condition)
    if condition.dtype is not bool_:
        raise DTypeError(
            f"the condition of where is bool, not {condition.dtype}",
            where=f"where({condition.type}, ...)",
            fix="compare it, as in t != 0",
        )
    if is_weak(x) and is_weak(y):
        x, y = (Tensor(v, device=condition._type.device) for v in (x, y))
    first, second = _same_operands("where", x, y)
    condition, first, second = one_device("where", condition, first, second)
    shape = broadcast_shapes(condition._type.shape, first._type.shape, second._type.shape)
    parts = [
        t if t._type.shape == shape else apply("broadcast", t, shape=shape)
        for t in (condition, first, second)
    ]
    return apply("select", *parts)  # type: ignore[no-any-return]


@operation
def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """``minimum(maximum(x, min), max)``; NaN propagates.

    Args:
        x: tensor.
        min: lower bound, number or tensor; none if left out.
        max: upper bound, number or tensor; none if left out.
    """
    (tensor,) = one_device("clip", x)
    result = tensor
    dtype = tensor.dtype
    if min is not None:
        result = elementwise(get_op("maximum"), result, min, dtype=_bound_dtype(dtype, min))
    if max is not None:
        result = elementwise(get_op("minimum"), result, max, dtype=_bound_dtype(dtype, max))
    return result if result is not tensor else tensor._another_handle()


def _bound_dtype(dtype: DType, bound: Any) -> DType | None:
    """Bounds do not widen the tensor's dtype if they fit it."""
    return dtype if is_weak(bound) and not isinstance(bound, float) else None


@operation
def gelu(x: Any, approximate: str = "none") -> Tensor:
    """Gaussian error linear unit.

    Args:
        x: tensor.
        approximate: ``"none"`` (with erf), ``"tanh"`` or ``"quick"`` (``x * sigmoid(1.702 x)``).

    Raises:
        ArgumentError: another approximation.
    """
    if approximate not in ("none", "tanh", "quick"):
        raise ArgumentError(
            f"gelu has no approximation {approximate!r}", fix='use "none", "tanh" or "quick"'
        )
    (tensor,) = one_device("gelu", x)
    if not tensor.dtype.is_float:
        tensor = cast_to(tensor, current_dtype())
    return apply("gelu", tensor, approximate=approximate)  # type: ignore[no-any-return]


@operation
def cast(x: Any, dtype: Any) -> Tensor:
    """The tensor with another dtype: floats truncate to integers and saturate, NaN gives 0.

    Args:
        x: tensor.
        dtype: the new element type.
    """
    wanted = as_dtype(dtype)
    (tensor,) = one_device("cast", x)
    if tensor.dtype is wanted:
        return tensor._another_handle()
    return apply("cast", tensor, dtype=wanted)  # type: ignore[no-any-return]


@operation
def divmod(x: Any, y: Any) -> tuple[Tensor, Tensor]:
    """Floor division and its remainder."""
    return elementwise(get_op("floor_div"), x, y), elementwise(get_op("mod"), x, y)
