"""Uniqueness: the distinct elements of a tensor, in rising order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    elementwise,
    reshaped,
    scalar_like,
)
from realta.functional.demanding import checked_size, data_dependent, demanded, results_on
from realta.functional.operation import operation
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import bool_, int64

__all__ = ["unique_all", "unique_counts", "unique_inverse", "unique_values"]


class UniqueAllResult(NamedTuple):
    """Distinct values, where each is first, which one each element is, how often each occurs."""

    values: Tensor
    indices: Tensor
    inverse_indices: Tensor
    counts: Tensor


class UniqueCountsResult(NamedTuple):
    """Distinct values, and how often each occurs."""

    values: Tensor
    counts: Tensor


class UniqueInverseResult(NamedTuple):
    """Distinct values, and which one each element is."""

    values: Tensor
    inverse_indices: Tensor


@data_dependent
def unique_all(x: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The distinct elements in rising order, with all that is known of them.

    Each NaN is distinct from every other; 0 and -0 are not.

    Args:
        x: tensor; it is taken as one row in row-major order.
        size: how many values the result has, which makes it static: further ones are left out.
        fill_value: stands among the values where there are fewer; indices and counts are 0 there.

    Returns:
        ``(values, indices, inverse_indices, counts)``: the distinct values; the int64 position of
        the first of each; for each element the place of its value, of the shape of ``x``; how
        often each occurs. With ``size`` a pair: this, and how many distinct values there are.

    Raises:
        RealizationError: without ``size``, for a tensor of a graph.
    """
    return _unique("unique_all", UniqueAllResult, x, size, fill_value)


@data_dependent
def unique_counts(x: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The distinct elements in rising order, and how often each occurs. See `unique_all`."""
    return _unique("unique_counts", UniqueCountsResult, x, size, fill_value)


@data_dependent
def unique_inverse(x: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The distinct elements in rising order, and which one each element is. See `unique_all`."""
    return _unique("unique_inverse", UniqueInverseResult, x, size, fill_value)


@data_dependent
def unique_values(x: Any, *, size: int | None = None, fill_value: Any = 0) -> Any:
    """The distinct elements in rising order. Arguments as in `unique_all`.

    Returns:
        The values; with ``size`` a pair: the values, and how many distinct ones there are.
    """
    found = _unique("unique_values", UniqueCountsResult, x, size, fill_value)
    return found.values if size is None else (found[0].values, found[1])


def _unique(name: str, wanted: Any, x: Any, size: int | None, fill: Any) -> Any:
    tensor = as_tensor(x)
    fields = wanted._fields
    if size is None:
        found = UniqueAllResult(*results_on(tensor, *_known(demanded(name, tensor))))
        return wanted(*[getattr(found, field) for field in fields])
    *parts, count = _padded(tensor, checked_size(size), fill)
    padded = UniqueAllResult(*parts)
    return wanted(*[getattr(padded, field) for field in fields]), count


def _known(x: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    """Values, indices, inverse and counts of a known array."""
    row = x.reshape(-1)
    comparable = row if row.dtype.kind in "biuf" else row.astype(np.float32)
    _, indices, inverse, counts = np.unique(
        comparable, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    return row[indices], indices, inverse.reshape(x.shape), counts


@operation
def _padded(x: Tensor, size: int, fill: Any) -> tuple[Tensor, ...]:
    """The same with results of a known size, and the number of distinct values."""
    device, extent = x._type.device, x.size
    row = reshaped(x, (extent,))
    order = apply("argsort", row, axis=0, descending=False)
    line = apply("gather", row, order, axis=0)
    first = _starts(line)
    group = apply("cumsum", cast_to(first, int64), axis=0, exclusive=False, reverse=False)
    group = elementwise(get_op("sub"), group, 1)
    count = apply("sum", cast_to(first, int64), axes=(0,))
    end = broadcast(scalar_like(size, int64, device), (extent,))
    targets = apply("select", first, group, end)
    fitting = bool(fill) if x.dtype is bool_ else fill
    filling = broadcast(scalar_like(fitting, x.dtype, device), (size,))
    nothing = broadcast(scalar_like(0, int64, device), (size,))
    values = _spread(filling, targets, line, "set")
    indices = _spread(nothing, targets, order, "set")
    ones = broadcast(scalar_like(1, int64, device), (extent,))
    counts = _spread(nothing, group, ones, "add")
    inverse = _spread(broadcast(scalar_like(0, int64, device), (extent,)), order, group, "set")
    return values, indices, reshaped(inverse, x._type.shape), counts, count


def _spread(x: Tensor, targets: Tensor, updates: Tensor, reduce: str) -> Tensor:
    return apply("scatter", x, targets, updates, axis=0, reduce=reduce, mode="drop")


def _starts(line: Tensor) -> Tensor:
    """Which elements of a sorted row differ from the one before."""
    extent, device = line.size, line._type.device
    head = broadcast(scalar_like(True, bool_, device), (min(extent, 1),))
    if extent < 2:
        return head
    left = apply("slice", line, start=(0,), stop=(extent - 1,), step=(1,))
    right = apply("slice", line, start=(1,), stop=(extent,), step=(1,))
    return apply("concat", head, elementwise(get_op("not_equal"), left, right), axis=0)
