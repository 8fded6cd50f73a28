"""Bands: matrices of which the elements near the diagonal are kept, or dropped."""

from __future__ import annotations

from typing import Any

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    constant_of,
    one_device,
    same_version,
    scalar_like,
)
from realta.functional.operation import operation
from realta.tensor import Tensor
from realta.types import convert_scalar, int64, tensor_type

__all__ = ["band_part"]


@operation
def band_part(
    x: Any, num_lower: int | None = None, num_upper: int | None = None, exclude: bool = False
) -> Tensor:
    """Matrices with zeros outside a band around the diagonal.

    Args:
        x: shape (..., rows, columns).
        num_lower: how many diagonals below the main one are kept; all if None or -1.
        num_upper: how many diagonals above the main one are kept; all if None or -1.
        exclude: whether the band is what becomes zero instead.

    Raises:
        ShapeError: fewer than two axes.
        ArgumentError: a number below -1.
    """
    (tensor,) = one_device("band_part", x)
    if tensor.rank < 2:
        raise ShapeError(f"band_part of {tensor.type}", fix="give a tensor of two or more axes")
    inside = None
    for name, count, comparison, sign in (
        ("num_lower", num_lower, "greater_equal", -1), ("num_upper", num_upper, "less_equal", 1),
    ):  # fmt: skip
        if count is None or count == -1:
            continue
        if type(count) is not int or count < 0:
            raise ArgumentError(f"{name}={count!r}", fix="give a number from 0 up, or None for all")
        near = _compared(tensor, comparison, sign * count)
        inside = near if inside is None else apply("bitwise_and", inside, near)
    zero = broadcast(scalar_like(0, tensor.dtype, tensor._type.device), tensor._type.shape)
    if inside is None:
        # A zero tensor of its own, or the elements themselves.
        return zero if exclude else same_version(tensor)
    return apply("select", inside, *((zero, tensor) if exclude else (tensor, zero)))


def _compared(tensor: Tensor, comparison: str, number: int) -> Tensor:
    """Column less row, compared with a number, for each element."""
    shape, device = tensor._type.shape, tensor._type.device
    column, row = (
        apply("iota", shape=shape, axis=tensor.rank - n, dtype=int64, device=device) for n in (1, 2)
    )
    border = constant_of(convert_scalar(number, int64), tensor_type(int64, (), device))
    return apply(comparison, apply("sub", column, row), broadcast(border, shape))
