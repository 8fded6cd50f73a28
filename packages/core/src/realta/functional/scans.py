"""Scans: running sums, products and extremes along an axis."""

from __future__ import annotations

from typing import Any

from realta.functional.arguments import apply, one_device, reshaped
from realta.functional.operation import operation
from realta.functional.reductions import accumulating
from realta.tensor import Tensor
from realta.types import normalize_axis

__all__ = ["cummax", "cummin", "cumprod", "cumsum"]


def _scan(name: str, x: Tensor, axis: int | None, exclusive: bool, reverse: bool) -> Tensor:
    if axis is None:
        x, axis = reshaped(x, (x.size,)), 0
    number = normalize_axis(axis, x.rank)
    return apply(name, x, axis=number, exclusive=bool(exclusive), reverse=bool(reverse))


@operation
def cumsum(
    x: Any,
    axis: int | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Running sum along an axis; of the flattened tensor if None.

    Args:
        x: tensor; bool and narrow integers accumulate in int64 (uint64).
        axis: axis.
        exclusive: whether each element sums those before it only.
        reverse: whether it runs from the end.
        dtype: dtype to accumulate in and to return.
    """
    return _scan("cumsum", accumulating("cumsum", x, dtype), axis, exclusive, reverse)


@operation
def cumprod(
    x: Any,
    axis: int | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Running product along an axis. Arguments as in `cumsum`."""
    return _scan("cumprod", accumulating("cumprod", x, dtype), axis, exclusive, reverse)


@operation
def cummax(x: Any, axis: int | None = None, reverse: bool = False) -> Tensor:
    """Running maximum along an axis; NaN propagates."""
    return _scan("cummax", one_device("cummax", x)[0], axis, False, reverse)


@operation
def cummin(x: Any, axis: int | None = None, reverse: bool = False) -> Tensor:
    """Running minimum along an axis; NaN propagates."""
    return _scan("cummin", one_device("cummin", x)[0], axis, False, reverse)
