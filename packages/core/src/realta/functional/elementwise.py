"""Elementwise functions: made from ops of the registry, with promotion and broadcasting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, Protocol, TypeVar, cast

import numpy as np

from realta.errors import ArgumentError
from realta.functional.arguments import (
    as_tensor,
    broadcast,
    constant_of,
    elementwise,
    one_device,
    same_version,
)
from realta.functional.fast_path import by_name, fast_binary, fast_unary
from realta.functional.operation import arithmetic, operation
from realta.graph import Value
from realta.ops import NO_ATTRS, OpDef, OpKind, get_op
from realta.tensor import Tensor
from realta.types import (
    DType,
    bool_,
    is_weak,
    tensor_type,
)

__all__ = [
    "binary", "comparison", "is_elementwise", "logical", "make_elementwise", "outside",
    "predicate", "rounding", "sign_test", "truth_of", "unary",
]  # fmt: skip


class Unary(Protocol):
    """An elementwise function of one operand."""

    def __call__(self, x: Any) -> Tensor: ...


class Binary(Protocol):
    """An elementwise function of two operands, of which one is a tensor."""

    def __call__(self, lhs: Any, rhs: Any) -> Tensor: ...


_COMPARISONS: Final = {
    "equal": (False, False),
    "not_equal": (True, True),
    "less": (False, True),
    "less_equal": (False, True),
    "greater": (True, False),
    "greater_equal": (True, False),
}
"""``x op value`` for a value below every x, and for one above."""


def _operands(body: Callable[..., Tensor]) -> tuple[str, ...]:
    """The names of a body's operands; none if it takes any number."""
    return body.__code__.co_varnames[: body.__code__.co_argcount]


def _documented(body: Callable[..., Tensor], op: OpDef, name: str) -> None:
    body.__name__ = body.__qualname__ = name
    shown = f"{name}({', '.join([*(_operands(body) or op.operands), *op.attrs])})"
    body.__doc__ = f"{op.doc}\n\n``{shown}``, by element, with broadcasting and promotion."


Body = TypeVar("Body", bound=Callable[..., Tensor])


def _fast(make: Callable[[OpDef, Any], Any], op: OpDef, body: Body) -> Body:
    general = arithmetic(body)
    return cast("Body", by_name(make(op, general), general, _operands(body)))


def unary(name: str) -> Unary:
    """The public function of an elementwise op of one operand."""
    op = get_op(name)

    def body(x: Any) -> Tensor:
        return elementwise(op, x)

    _documented(body, op, name)
    return _fast(fast_unary, op, body)


def binary(name: str) -> Binary:
    """The public function of an elementwise op of two operands."""
    op = get_op(name)

    def body(lhs: Any, rhs: Any) -> Tensor:
        return elementwise(op, lhs, rhs)

    _documented(body, op, name)
    return _fast(fast_binary, op, body)


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

    def body(x: Any) -> Tensor:
        return same_version(as_tensor(x)) if _is_exact(x) else elementwise(op, x)

    _documented(body, op, name)
    return _fast(fast_unary, op, body)


def predicate(name: str, *, of_integers: bool) -> Unary:
    """A test of floats; integers are finite numbers, whatever float they would be cast to."""
    op = get_op(name)

    def body(x: Any) -> Tensor:
        return _filled(of_integers, as_tensor(x)) if _is_exact(x) else elementwise(op, x)

    _documented(body, op, name)
    return _fast(fast_unary, op, body)


def sign_test(name: str) -> Unary:
    """Whether the sign is negative; that of integers without a cast that could round."""
    op, less = get_op(name), get_op("less")

    def body(x: Any) -> Tensor:
        return elementwise(less, x, 0) if _is_exact(x) else elementwise(op, x)

    _documented(body, op, name)
    return _fast(fast_unary, op, body)


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

    def body(lhs: Any, rhs: Any) -> Tensor:
        for value, other, swapped in ((rhs, lhs, False), (lhs, rhs, True)):
            if type(value) is int and isinstance(other, Tensor) and other.dtype.is_integer:
                side = outside(value, other.dtype)
                if side:
                    return _filled(above if (side > 0) is not swapped else below, other)
        return elementwise(op, lhs, rhs)

    _documented(body, op, name)
    return arithmetic(body)


def outside(value: int, dtype: DType) -> int:
    """1 if an int lies above the dtype's range, -1 if below, 0 if inside."""
    info = np.iinfo(dtype.numpy)
    return int(value > info.max) - int(value < info.min)


def _filled(truth: bool, like: Tensor) -> Tensor:
    scalar = constant_of(truth, tensor_type(bool_, (), like._type.device))
    return broadcast(scalar, like._type.shape)


def logical(name: str, bitwise: str) -> Binary:
    """A logical function: that of the operands' truth, numbers being true unless they are 0."""
    op = get_op(bitwise)

    def body(lhs: Any, rhs: Any) -> Tensor:
        return elementwise(op, truth_of(lhs), truth_of(rhs))

    _documented(body, op, name)
    return operation(body)


def truth_of(value: Any) -> Any:
    """A number as a bool, a tensor of numbers as whether they are not 0."""
    if is_weak(value):
        return bool(value)
    (tensor,) = one_device("truth", value)
    return tensor if tensor.dtype is bool_ else elementwise(get_op("not_equal"), tensor, 0)
