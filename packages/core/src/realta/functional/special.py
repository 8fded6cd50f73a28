"""Elementwise functions whose arguments follow rules of their own."""

from __future__ import annotations

from typing import Any

from realta.errors import ArgumentError, DTypeError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    elementwise,
    float_operand,
    one_device,
    promoted,
    same_version,
)
from realta.functional.elementwise import outside, truth_of
from realta.functional.operation import arithmetic, movement, operation
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import DType, as_dtype, bool_, broadcast_shapes

__all__ = [
    "bitcast", "cast", "clamp", "clip", "divmod", "gelu", "logical_not", "pos", "pow", "where",
]  # fmt: skip


@operation
def logical_not(x: Any, /) -> Tensor:
    """Whether an element is false, numbers being true unless they are 0."""
    return elementwise(get_op("logical_not"), truth_of(x))


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
def where(cond: Any, x: Any, y: Any) -> Tensor:
    """``x`` where the condition holds, else ``y``; all three broadcast together.

    Args:
        cond: bool tensor.
        x: tensor or number.
        y: tensor or number. Two Python numbers take the dtypes that they have as tensors.

    Raises:
        DTypeError: the condition is not bool.
    """
    (condition,) = one_device("where", cond)
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


@arithmetic
def clamp(x: Any, lower_bound: Any = None, upper_bound: Any = None) -> Tensor:
    """`clip` by MAX's name, and with MAX's names of the bounds."""
    return clip(x, lower_bound, upper_bound)


def _never_passed(bound: Any, dtype: DType, side: int) -> bool:
    return type(bound) is int and dtype.is_integer and outside(bound, dtype) == side


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
