"""Places: where a tensor is not zero, and values that go there."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    constant_of,
    elementwise,
    one_device,
    reshaped,
    scalar_like,
)
from realta.functional.demanding import checked_size, data_dependent, demanded, results_on
from realta.functional.mask_store import mask_ranks
from realta.functional.operation import operation
from realta.functional.pointwise import not_equal
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import int64, is_weak, tensor_type

__all__ = ["argwhere", "masked_scatter", "nonzero", "places_of"]


class Places(NamedTuple):
    """Row-major positions of true elements, padded, and how many there are."""

    positions: Tensor
    used: Tensor
    total: Tensor


@data_dependent
def nonzero(x: Any, *, size: int | None = None, fill_value: int = 0) -> Any:
    """The indices of the elements that are not zero, in row-major order.

    Args:
        x: tensor of one axis or more.
        size: how many indices the result has, which makes it static: further ones are left out.
        fill_value: stands in the result where there are fewer.

    Returns:
        One int64 tensor for each axis, in a tuple. With ``size`` a pair: such a tuple, and how
        many elements are not zero, a 0-d int64 tensor.

    Raises:
        RealizationError: without ``size``, for a tensor of a graph.
        ShapeError: ``x`` is 0-d.
    """
    tensor = as_tensor(x)
    if not tensor.rank:
        raise ShapeError("nonzero of a 0-d tensor", fix="write x.reshape(1), or x != 0")
    if size is None:
        return results_on(tensor, *np.nonzero(demanded("nonzero", tensor)))
    *columns, count = _nonzero(tensor, checked_size(size), int(fill_value))
    return tuple(columns), count


@data_dependent
def argwhere(x: Any, *, size: int | None = None, fill_value: int = 0) -> Any:
    """The index vectors of the elements that are not zero: what MAX calls nonzero.

    Args:
        x: tensor.
        size: how many index vectors the result has, which makes it static.
        fill_value: stands in the result where there are fewer.

    Returns:
        An int64 tensor of shape (count, rank). With ``size`` a pair: one of shape (size, rank),
        and how many elements are not zero.

    Raises:
        RealizationError: without ``size``, for a tensor of a graph.
    """
    tensor = as_tensor(x)
    if size is None:
        (found,) = results_on(tensor, np.argwhere(demanded("argwhere", tensor)))
        return found
    vectors, count = _argwhere(tensor, checked_size(size), int(fill_value))
    return vectors, count


def places_of(mask: Tensor, size: int) -> Places:
    """Where a mask is true, in a result of a known size.

    Args:
        mask: bool tensor.
        size: extent of the result.
    """
    device, count = mask._type.device, mask.size
    ranks, total = mask_ranks(mask)
    end = broadcast(scalar_like(size, int64, device), (count,))
    # Each true element writes its own position to its own place; the others write nowhere.
    targets = apply("select", reshaped(mask, (count,)), ranks, end)
    line = apply("iota", shape=(count,), axis=0, dtype=int64, device=device)
    start = broadcast(scalar_like(0, int64, device), (size,))
    positions = apply("scatter", start, targets, line, axis=0, reduce="set", mode="drop")
    places = apply("iota", shape=(size,), axis=0, dtype=int64, device=device)
    return Places(positions, elementwise(get_op("less"), places, total), total)


def _vectors(x: Tensor, size: int, fill: int) -> tuple[list[Tensor], Tensor]:
    """The index along each axis of the elements that are not zero, and their number."""
    extents = x._type.static_shape
    mask = x if x.dtype.kind == "bool" else not_equal(x, 0)
    found = places_of(mask, size)
    filling = constant_of(np.full((size,), fill), tensor_type(int64, (size,), x._type.device))
    columns = []
    for axis, extent in enumerate(extents):
        line = elementwise(get_op("floor_div"), found.positions, max(prod(extents[axis + 1 :]), 1))
        if axis:
            line = elementwise(get_op("mod"), line, max(extent, 1))
        columns.append(apply("select", found.used, line, filling))
    return columns, found.total


@operation
def _nonzero(x: Tensor, size: int, fill: int) -> tuple[Tensor, ...]:
    columns, count = _vectors(x, size, fill)
    return (*columns, count)


@operation
def _argwhere(x: Tensor, size: int, fill: int) -> tuple[Tensor, ...]:
    columns, count = _vectors(x, size, fill)
    if not columns:
        return apply("iota", shape=(size, 0), axis=0, dtype=int64, device=x._type.device), count
    return apply("concat", *[reshaped(c, (size, 1)) for c in columns], axis=1), count


@operation
def masked_scatter(input: Any, mask: Any, updates: Any) -> Tensor:
    """A copy with the elements under a mask replaced by updates, taken in row-major order.

    Args:
        input: tensor.
        mask: bool tensor that broadcasts to its shape.
        updates: tensor with at least as many elements as the mask has true ones, or a number.

    Raises:
        IndexBoundsError: at the next wait: there are fewer updates than true elements.
    """
    tensor, given = one_device("masked_scatter", input, mask)
    if given.dtype.kind != "bool":
        raise ArgumentError(f"masked_scatter with a mask of {given.dtype}", fix="give bools")
    wide = broadcast(given, tensor._type.shape)
    if is_weak(updates):
        number = scalar_like(updates, tensor.dtype, tensor._type.device)
        return apply("select", wide, broadcast(number, tensor._type.shape), tensor)
    _, new = one_device("masked_scatter", tensor, updates)
    row = reshaped(cast_to(new, tensor.dtype), (new.size,))
    ranks, total = mask_ranks(wide)
    # The last update that is taken must be there; without updates none may be.
    last = elementwise(get_op("sub"), total, 1) if new.size else total
    status = apply("check_bounds", last, extent=max(new.size, 1), axis=0)
    ranks = apply("guard", ranks, status)
    if not new.size:
        row = broadcast(scalar_like(0, tensor.dtype, tensor._type.device), (1,))
    inside = elementwise(get_op("minimum"), ranks, max(new.size - 1, 0))
    spread = reshaped(apply("gather", row, inside, axis=0), tensor._type.shape)
    return apply("select", wide, spread, tensor)
