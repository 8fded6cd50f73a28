"""Joining: tensors put together along an axis, taken apart, repeated, moved on and padded."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    constant_of,
    known_extent,
    one_device,
    promoted,
    reshaped,
    same_shape,
    same_version,
    scalar_like,
    to_device,
)
from realta.functional.operation import operation
from realta.plugins import device_of
from realta.tensor import Tensor
from realta.types import int64, normalize_axis, tensor_type

__all__ = ["chunk", "concat", "pad", "roll", "split", "stack", "tile"]


def _several(name: str, values: Sequence[Any]) -> list[Tensor]:
    if isinstance(values, Tensor) and values.rank:
        # Iterating over it would realize it.
        given = [values[n] for n in range(known_extent(values, 0))]
    else:
        given = list(values)
    if not given:
        raise ArgumentError(f"{name} of no tensors", fix="give at least one")
    return promoted(name, *given)


def _slice_axis(tensor: Tensor, axis: int, start: int, stop: int) -> Tensor:
    shape = tensor._type.shape
    starts: list[Any] = [0] * len(shape)
    stops: list[Any] = list(shape)
    starts[axis], stops[axis] = start, stop
    steps = (1,) * len(shape)
    return apply("slice", tensor, start=tuple(starts), stop=tuple(stops), step=steps)


@operation
def concat(vals: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Tensors one after the other along an axis; flattened first if the axis is None.

    Raises:
        ShapeError: they differ in another axis.
        ArgumentError: there are none.
    """
    tensors = _several("concat", vals)
    if axis is None:
        tensors = [reshaped(t, (t.size,)) for t in tensors]
        axis = 0
    number = normalize_axis(axis, tensors[0].rank)
    if len(tensors) == 1:
        return same_version(tensors[0])
    return apply("concat", *tensors, axis=number)


@operation
def stack(values: Sequence[Any], axis: int = 0, device: Any = None) -> Tensor:
    """Tensors of one shape along a new axis.

    Args:
        values: tensors.
        axis: place of the new axis in the result.
        device: where the result is; where the tensors are if left out.

    Raises:
        ShapeError: their shapes differ.
        ArgumentError: there are none.
    """
    tensors = _several("stack", values)
    shape = tensors[0]._type.shape
    wrong = [t for t in tensors if not same_shape(t._type.shape, shape)]
    if wrong:
        raise ShapeError(
            f"stack of shapes {shape} and {wrong[0].shape}", fix="give tensors of one shape"
        )
    number = normalize_axis(axis, len(shape) + 1)
    lifted = [reshaped(t, (*shape[:number], 1, *shape[number:])) for t in tensors]
    found = lifted[0] if len(lifted) == 1 else apply("concat", *lifted, axis=number)
    return found if device is None else to_device(found, device_of(device).name)


def _parts(tensor: Tensor, axis: int, sizes: Sequence[int]) -> list[Tensor]:
    parts, start = [], 0
    for size in sizes:
        parts.append(_slice_axis(tensor, axis, start, start + size))
        start += size
    return parts


@operation
def split(x: Any, split_size_or_sizes: int | Sequence[int], axis: int = 0) -> list[Tensor]:
    """Parts along an axis.

    Args:
        x: tensor.
        split_size_or_sizes: extent of each part (the last may be smaller), or all extents.
        axis: axis.

    Raises:
        ShapeError: the extents do not add up.
    """
    (tensor,) = one_device("split", x)
    number = normalize_axis(axis, tensor.rank)
    total = known_extent(tensor, number)
    if isinstance(split_size_or_sizes, int):
        size = split_size_or_sizes
        if size <= 0:
            raise ArgumentError(f"split into parts of {size}", fix="give a positive size")
        sizes = [min(size, total - n) for n in range(0, total, size)] or [0]
    else:
        sizes = list(split_size_or_sizes)
    if sum(sizes) != total or any(s < 0 for s in sizes):
        raise ShapeError(
            f"parts of {sizes} do not add up to the extent {total} of axis {number}",
            fix="give sizes whose sum is the extent",
        )
    return _parts(tensor, number, sizes)


@operation
def chunk(x: Any, chunks: int, axis: int = 0) -> list[Tensor]:
    """Equal parts along an axis.

    Raises:
        ShapeError: the extent is not a multiple of the number of parts.
    """
    (tensor,) = one_device("chunk", x)
    number = normalize_axis(axis, tensor.rank)
    total = known_extent(tensor, number)
    if chunks <= 0 or total % chunks:
        raise ShapeError(
            f"the extent {total} of axis {number} does not divide into {chunks} parts",
            fix="use split with explicit sizes",
        )
    return _parts(tensor, number, [total // chunks] * chunks)


@operation
def pad(x: Any, paddings: Sequence[Any], mode: str = "constant", value: Any = 0) -> Tensor:
    """The tensor with borders.

    Args:
        x: tensor.
        paddings: a pair per axis, or the pairs in one flat list: before, after, before, after …
        mode: ``"constant"``, ``"edge"`` or ``"reflect"``.
        value: number in the border in mode ``"constant"``.

    Raises:
        ArgumentError: wrong number of pairs, a negative one, an unknown mode.
        ShapeError: a border longer than what it is taken from.
    """
    (tensor,) = one_device("pad", x)
    pairs = _pairs(paddings, tensor.rank)
    if mode == "constant":
        fill = scalar_like(value, tensor.dtype, tensor._type.device)
        low, high = (tuple([pair[side] for pair in pairs]) for side in (0, 1))
        return apply("pad", tensor, fill, low=low, high=high)
    if mode not in ("edge", "reflect"):
        raise ArgumentError(f"pad has no mode {mode!r}", fix='use "constant", "edge" or "reflect"')
    result = tensor
    for axis, (low_size, high_size) in enumerate(pairs):
        result = _pad_axis(result, axis, low_size, high_size, mode)
    return result if result is not tensor else same_version(tensor)


def _pairs(paddings: Sequence[Any], rank: int) -> list[tuple[int, int]]:
    flat = [n for p in paddings for n in (p if isinstance(p, (list, tuple)) else (p,))]
    if len(flat) != 2 * rank or any(n < 0 for n in flat):
        raise ArgumentError(
            f"paddings {paddings!r} for {rank} axes", fix="give two sizes >= 0 for each axis"
        )
    return [(int(flat[2 * n]), int(flat[2 * n + 1])) for n in range(rank)]


def _pad_axis(tensor: Tensor, axis: int, low: int, high: int, mode: str) -> Tensor:
    if not (low or high):
        return tensor
    extent = known_extent(tensor, axis)
    limit = extent - 1 if mode == "reflect" else low + high
    if extent == 0 or max(low, high) > limit:
        raise ShapeError(
            f"a border of {max(low, high)} cannot be taken from an extent of {extent}",
            fix="pad less, or with a constant",
        )
    places = np.arange(-low, extent + high)
    if mode == "reflect":
        places = (extent - 1) - np.abs((extent - 1) - np.abs(places))
    index = np.clip(places, 0, extent - 1)
    known = constant_of(index, tensor_type(int64, index.shape, tensor._type.device))
    return apply("gather", tensor, known, axis=axis)


@operation
def roll(x: Any, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Tensor:
    """The elements moved along axes, those pushed out coming in at the other end.

    Args:
        x: tensor.
        shift: how far; one number for each axis, or for all.
        axis: axis or axes; the flattened tensor if None.

    Raises:
        ArgumentError: not as many shifts as axes.
    """
    (tensor,) = one_device("roll", x)
    shifts = [shift] if isinstance(shift, int) else list(shift)
    if axis is None:
        flat = reshaped(tensor, (tensor.size,))
        return reshaped(_roll_axis(flat, 0, sum(shifts)), tensor._type.shape)
    axes = [axis] if isinstance(axis, int) else list(axis)
    if len(shifts) == 1:
        shifts = shifts * len(axes)
    if len(shifts) != len(axes):
        raise ArgumentError(
            f"roll got {len(shifts)} shifts for {len(axes)} axes", fix="give one for each axis"
        )
    result = same_version(tensor)
    for number, by in zip(axes, shifts, strict=True):
        result = _roll_axis(result, normalize_axis(number, tensor.rank), by)
    return result


def _roll_axis(tensor: Tensor, axis: int, shift: int) -> Tensor:
    extent = known_extent(tensor, axis)
    by = shift % extent if extent else 0
    if not by:
        return tensor
    tail = _slice_axis(tensor, axis, extent - by, extent)
    return apply("concat", tail, _slice_axis(tensor, axis, 0, extent - by), axis=axis)


@operation
def tile(x: Any, repeats: int | Sequence[int]) -> Tensor:
    """The tensor repeated along each axis; axes are added in front where there are more repeats.

    Raises:
        ArgumentError: a negative number.
    """
    (tensor,) = one_device("tile", x)
    counts = [repeats] if isinstance(repeats, int) else list(repeats)
    if any(c < 0 for c in counts):
        raise ArgumentError(f"repeats {counts} of tile", fix="give counts >= 0")
    rank = max(len(counts), tensor.rank)
    counts = [1] * (rank - len(counts)) + counts
    shape = [*[1] * (rank - tensor.rank), *tensor._type.shape]
    spread = reshaped(tensor, [n for d in shape for n in (1, d)])
    wide = tuple([n for c, d in zip(counts, shape, strict=True) for n in (c, d)])
    return reshaped(broadcast(spread, wide), [c * d for c, d in zip(counts, shape, strict=True)])
