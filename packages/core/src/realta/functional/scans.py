"""Scans: running sums, products and extremes along an axis."""

from __future__ import annotations

from typing import Any

from realta.errors import ArgumentError
from realta.functional.arguments import apply, one_device, reshaped, scalar_like
from realta.functional.operation import operation
from realta.functional.reductions import accumulating
from realta.tensor import Tensor
from realta.types import normalize_axis

__all__ = ["cummax", "cummin", "cumprod", "cumsum", "cumulative_prod", "cumulative_sum"]


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


def _cumulative(
    name: str, scan: str, x: Any, axis: int | None, dtype: Any, include_initial: bool
) -> Tensor:
    tensor = accumulating(name, x, dtype)
    if not tensor.rank or (axis is None and tensor.rank > 1):
        raise ArgumentError(
            f"{name} of {tensor.rank} axes along {axis if tensor.rank else 'none of them'}",
            fix=f"name the axis, or flatten the tensor: F.{scan}(x) does",
        )
    number = normalize_axis(-1 if axis is None else axis, tensor.rank)
    if not include_initial:
        return _scan(scan, tensor, number, False, False)
    # One element more in front: the scan that leaves each element out of its own result ends there.
    fill = scalar_like(0, tensor.dtype, tensor._type.device)
    ends = tuple([int(n == number) for n in range(tensor.rank)])
    longer = apply("pad", tensor, fill, low=(0,) * tensor.rank, high=ends)
    return _scan(scan, longer, number, True, False)


@operation
def cumulative_sum(
    x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Running sum along an axis, as the array API has it.

    Args:
        x: tensor; bool and narrow integers accumulate in int64 (uint64).
        axis: axis; may be left out if there is one.
        dtype: dtype to accumulate in and to return.
        include_initial: whether a 0 stands in front, so that the result is one longer.

    Raises:
        ArgumentError: no axis for a tensor of several, or a 0-d tensor.
    """
    return _cumulative("cumulative_sum", "cumsum", x, axis, dtype, include_initial)


@operation
def cumulative_prod(
    x: Any, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Tensor:
    """Running product along an axis; 1 stands in front. Arguments as in `cumulative_sum`."""
    return _cumulative("cumulative_prod", "cumprod", x, axis, dtype, include_initial)
