"""Elementwise functions: made from ops of the registry, with promotion and broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.errors import ArgumentError, DTypeError
from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    constant_of,
    elementwise,
    float_operand,
    one_device,
    promoted,
    same_version,
)
from realta.functional.fast_path import fast_binary, fast_unary
from realta.functional.operation import arithmetic, movement, operation
from realta.graph import Value
from realta.ops import NO_ATTRS, OpDef, OpKind, get_op
from realta.tensor import Tensor
from realta.types import (
    DType,
    as_dtype,
    bool_,
    broadcast_shapes,
    is_weak,
    tensor_type,
)

__all__ = [
    "binary", "bitcast", "cast", "clip", "comparison", "divmod", "gelu", "is_elementwise",
    "logical", "logical_not", "make_elementwise", "pos", "pow", "predicate", "rounding",
    "sign_test", "unary", "where",
]  # fmt: skip

Unary = Callable[[Any], Tensor]
Binary = Callable[[Any, Any], Tensor]

_COMPARISONS: Final = {
    "equal": (False, False),
    "not_equal": (True, True),
    "less": (False, True),
    "less_equal": (False, True),
    "greater": (True, False),
    "greater_equal": (True, False),
}
"""``x op value`` for a value below every x, and for one above."""


def _documented(body: Callable[..., Tensor], op: OpDef, name: str) -> None:
    body.__name__ = body.__qualname__ = name
    shown = f"{name}({', '.join([*op.operands, *op.attrs])})"
    body.__doc__ = f"{op.doc}\n\n``{shown}``, by element, with broadcasting and promotion."


def unary(name: str) -> Unary:
    """The public function of an elementwise op of one operand."""
    op = get_op(name)

    def body(x: Any, /) -> Tensor:
        return elementwise(op, x)

    _documented(body, op, name)
    return fast_unary(op, arithmetic(body))


def binary(name: str) -> Binary:
    """The public function of an elementwise op of two operands."""
    op = get_op(name)

    def body(x: Any, y: Any, /) -> Tensor:
        return elementwise(op, x, y)

    _documented(body, op, name)
    return fast_binary(op, arithmetic(body))


_WRITTEN: Final = frozenset({"select", "cast", "bitcast", "clip", "gelu"})
"""Elementwise ops whose functions treat their arguments in a way of their own."""


def _is_exact(value: Any) -> bool:
    """Whether a value is a bool or an integer, or a tensor or array of them."""
    if isinstance(value, (Tensor, Value)):
        return not value.type.dtype.is_float
    return np.asarray(value).dtype.kind in "biu"


def rounding(name: str) -> Unary:
    """A function that rounds to integers: what is one already stays in its dtype."""
    op = get_op(name)

    def body(x: Any, /) -> Tensor:
        return same_version(as_tensor(x)) if _is_exact(x) else elementwise(op, x)

    _documented(body, op, name)
    return fast_unary(op, arithmetic(body))


def predicate(name: str, *, of_integers: bool) -> Unary:
    """A test of floats; integers are finite numbers, whatever float they would be cast to."""
    op = get_op(name)

    def body(x: Any, /) -> Tensor:
        return _filled(of_integers, as_tensor(x)) if _is_exact(x) else elementwise(op, x)

    _documented(body, op, name)
    return fast_unary(op, arithmetic(body))


def sign_test(name: str) -> Unary:
    """Whether the sign is negative; that of integers without a cast that could round."""
    op, less = get_op(name), get_op("less")

    def body(x: Any, /) -> Tensor:
        return elementwise(less, x, 0) if _is_exact(x) else elementwise(op, x)

    _documented(body, op, name)
    return fast_unary(op, arithmetic(body))


def is_elementwise(op: OpDef) -> bool:
    """Whether `make_elementwise` can make the op's function."""
    return op.kind is OpKind.ELEMENTWISE and op.results == 1 and op.name not in _WRITTEN


def make_elementwise(op: OpDef) -> Callable[..., Tensor]:
    """The public function of any elementwise op, such as one defined at run time."""

    def body(*values: Any, **attrs: Any) -> Tensor:
        made = op.make_attrs(attrs) if attrs or op.attrs else NO_ATTRS
        if len(values) != len(op.operands):
            raise ArgumentError(
                f"{op.name} takes {len(op.operands)} operand(s), got {len(values)}",
                fix=f"call it as {op.signature()}",
            )
        return elementwise(op, *values, attrs=made)

    _documented(body, op, op.name)
    return arithmetic(body)


def comparison(name: str) -> Binary:
    """A comparison; with a Python int outside the tensor's range it is exact, not an overflow."""
    op = get_op(name)
    below, above = _COMPARISONS[name]

    def body(x: Any, y: Any, /) -> Tensor:
        for value, other, swapped in ((y, x, False), (x, y, True)):
            if type(value) is int and isinstance(other, Tensor) and other.dtype.is_integer:
                side = _outside(value, other.dtype)
                if side:
                    return _filled(above if (side > 0) is not swapped else below, other)
        return elementwise(op, x, y)

    _documented(body, op, name)
    return arithmetic(body)


def _outside(value: int, dtype: DType) -> int:
    """1 if an int lies above the dtype's range, -1 if below, 0 if inside."""
    info = np.iinfo(dtype.numpy)
    return int(value > info.max) - int(value < info.min)


def _filled(truth: bool, like: Tensor) -> Tensor:
    scalar = constant_of(truth, tensor_type(bool_, (), like._type.device))
    return broadcast(scalar, like._type.shape)


def logical(name: str, bitwise: str) -> Binary:
    """A logical function: that of the operands' truth, numbers being true unless they are 0."""
    op = get_op(bitwise)

    def body(x: Any, y: Any, /) -> Tensor:
        return elementwise(op, _truth(x), _truth(y))

    _documented(body, op, name)
    return operation(body)


@operation
def logical_not(x: Any, /) -> Tensor:
    """Whether an element is false, numbers being true unless they are 0."""
    return elementwise(get_op("logical_not"), _truth(x))


def _truth(value: Any) -> Any:
    if is_weak(value):
        return bool(value)
    (tensor,) = one_device("truth", value)
    return tensor if tensor.dtype is bool_ else elementwise(get_op("not_equal"), tensor, 0)


@arithmetic
def pow(x: Any, y: Any, /) -> Tensor:
    """``x`` to the power ``y``, by element, with broadcasting and promotion.

    Integers wrap. A negative integer exponent in a tensor gives 1 for base 1, ±1 for base -1,
    else 0.

    Raises:
        DTypeError: a negative Python int as the exponent of integers.
    """
    if type(y) is int and y < 0 and isinstance(x, Tensor) and not x.dtype.is_float:
        raise DTypeError(
            f"an integer tensor cannot be raised to the negative power {y}",
            fix="cast the tensor to a float dtype first",
        )
    return elementwise(get_op("pow"), x, y)


@arithmetic
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
            f"the condition of where is bool, not {condition.dtype}", fix="compare it, as in t != 0"
        )
    condition, first, second = one_device("where", condition, *promoted("where", x, y))
    shape = broadcast_shapes(condition._type.shape, first._type.shape, second._type.shape)
    return apply("select", *[broadcast(t, shape) for t in (condition, first, second)])


@arithmetic
def clip(x: Any, min: Any = None, max: Any = None) -> Tensor:
    """``minimum(maximum(x, min), max)``; NaN propagates.

    Args:
        x: tensor.
        min: lower bound, number or tensor; none if left out.
        max: upper bound, number or tensor; none if left out.

    A bound that no element can pass, such as 300 above uint8, is no bound.

    Raises:
        ScalarOverflowError: an integer bound that every element passes.
    """
    (tensor,) = one_device("clip", x)
    result = tensor
    if min is not None and not _never_passed(min, tensor.dtype, -1):
        result = elementwise(get_op("maximum"), result, min)
    if max is not None and not _never_passed(max, tensor.dtype, 1):
        result = elementwise(get_op("minimum"), result, max)
    return result if result is not tensor else same_version(tensor)


def _never_passed(bound: Any, dtype: DType, side: int) -> bool:
    return type(bound) is int and dtype.is_integer and _outside(bound, dtype) == side


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
    return apply("gelu", float_operand("gelu", x), approximate=approximate)


@movement
def cast(x: Any, dtype: Any) -> Tensor:
    """The tensor with another dtype: floats truncate to integers and saturate, NaN gives 0.

    Args:
        x: tensor.
        dtype: the new element type.
    """
    wanted = as_dtype(dtype)
    (tensor,) = one_device("cast", x)
    return same_version(tensor) if tensor.dtype is wanted else cast_to(tensor, wanted)


@movement
def bitcast(x: Any, dtype: Any) -> Tensor:
    """The same bits read as another dtype of the same width.

    Args:
        x: tensor.
        dtype: the new element type.

    Raises:
        DTypeError: the widths differ.
    """
    return apply("bitcast", one_device("bitcast", x)[0], dtype=as_dtype(dtype))


@arithmetic
def divmod(x: Any, y: Any, /) -> tuple[Tensor, Tensor]:
    """Floor division and its remainder."""
    return elementwise(get_op("floor_div"), x, y), elementwise(get_op("mod"), x, y)


@movement
def pos(x: Any, /) -> Tensor:
    """The values themselves, under a new handle."""
    return same_version(one_device("pos", x)[0])
