"""Searching: where values belong in a sorted row."""

from __future__ import annotations

from typing import Any, Literal

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import apply, cast_to, promoted
from realta.functional.gathering import take
from realta.functional.operation import operation
from realta.tensor import Tensor
from realta.types import bool_, uint8

__all__ = ["searchsorted"]


@operation
def searchsorted(
    x1: Any, x2: Any, *, side: Literal["left", "right"] = "left", sorter: Any = None
) -> Tensor:
    """For each value the place in a sorted row where it can be put so that it stays sorted.

    Args:
        x1: a row of n elements in rising order, NaN last.
        x2: values of any shape.
        side: ``"left"`` gives the first such place, ``"right"`` the last.
        sorter: indices that sort ``x1``, as `argsort` gives them, if it is not sorted.

    Returns:
        An int64 tensor of places from 0 to n, of the shape of ``x2``.
    """
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted on the side {side!r}", fix='use "left" or "right"')
    row, values = promoted("searchsorted", x1, x2)
    if row.dtype is bool_:
        row, values = cast_to(row, uint8), cast_to(values, uint8)
    if row.rank != 1:
        raise ShapeError(
            f"searchsorted in a tensor of {row.rank} axes", fix="give one row of sorted elements"
        )
    if sorter is not None:
        row = take(row, sorter, axis=0)
    return apply("searchsorted", row, values, right=side == "right")
