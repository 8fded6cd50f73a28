"""Movement: functions that rearrange elements without computing, and moves between devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    cast_to,
    constant_of,
    one_device,
    same_version,
    scalar_like,
)
from realta.functional.operation import movement, operation
from realta.plugins import device_of
from realta.tensor import Tensor
from realta.types import (
    as_dim,
    as_dtype,
    broadcast_shapes,
    normalize_axes,
    normalize_axis,
    normalize_axis_order,
    promote_all,
    resolve_reshape,
    tensor_type,
)

__all__ = [
    "barrier", "broadcast_to", "chunk", "concat", "flatten", "flip", "matrix_transpose", "moveaxis",
    "pad", "permute", "reshape", "roll", "split", "squeeze", "stack", "tile", "to", "transpose",
    "unsqueeze",
]  # fmt: skip


def _one(name: str, x: Any) -> Tensor:
    return one_device(name, x)[0]


def _reshaped(tensor: Tensor, shape: Sequence[Any]) -> Tensor:
    wanted = tuple(shape)
    if tensor._type.shape == wanted:
        return same_version(tensor)
    return apply("reshape", tensor, shape=wanted)  # type: ignore[no-any-return]


@movement
def reshape(x: Any, shape: int | Sequence[Any]) -> Tensor:
    """The elements in row-major order under another shape.

    Args:
        x: tensor.
        shape: extents; one may be -1 and is worked out.

    Raises:
        ShapeError: the number of elements differs.
    """
    tensor = _one("reshape", x)
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    return _reshaped(tensor, resolve_reshape(tensor._type.shape, wanted))


@movement
def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Joins the axes from ``start_dim`` to ``end_dim`` (both included) into one."""
    tensor = _one("flatten", x)
    shape = tensor._type.shape
    if not shape:
        return _reshaped(tensor, (1,))
    first, last = normalize_axis(start_dim, len(shape)), normalize_axis(end_dim, len(shape))
    if last < first:
        raise ArgumentError(f"flatten from axis {first} to axis {last}", fix="give them in order")
    joined: Any = 1
    for extent in shape[first : last + 1]:
        joined = joined * extent
    return _reshaped(tensor, (*shape[:first], joined, *shape[last + 1 :]))


@movement
def permute(x: Any, axes: Sequence[int]) -> Tensor:
    """The axes in another order.

    Args:
        x: tensor.
        axes: for each new axis the old one; a list, not separate arguments.
    """
    tensor = _one("permute", x)
    if isinstance(axes, int):
        raise ArgumentError(
            "permute takes the axes as one list",
            fix="write permute(x, [0, 1]) instead of permute(x, 0, 1)",
        )
    order = normalize_axis_order(axes, tensor.rank)
    if order == tuple(range(tensor.rank)):
        return same_version(tensor)
    return apply("permute", tensor, axes=order)  # type: ignore[no-any-return]


@movement
def transpose(x: Any, axis_1: int = -2, axis_2: int = -1) -> Tensor:
    """Exchanges two axes; the last two if left out."""
    tensor = _one("transpose", x)
    first, second = normalize_axis(axis_1, tensor.rank), normalize_axis(axis_2, tensor.rank)
    order = list(range(tensor.rank))
    order[first], order[second] = order[second], order[first]
    if first == second:
        return same_version(tensor)
    return apply("permute", tensor, axes=tuple(order))  # type: ignore[no-any-return]


def matrix_transpose(x: Any) -> Tensor:
    """Exchanges the last two axes."""
    return transpose(x, -2, -1)


@movement
def moveaxis(x: Any, source: int | Sequence[int], destination: int | Sequence[int]) -> Tensor:
    """Moves axes to new places; the others keep their order."""
    tensor = _one("moveaxis", x)
    given = [source] if isinstance(source, int) else list(source)
    wanted = [destination] if isinstance(destination, int) else list(destination)
    old = [normalize_axis(a, tensor.rank) for a in given]
    new = [normalize_axis(a, tensor.rank) for a in wanted]
    if len(old) != len(new) or len(set(old)) != len(old) or len(set(new)) != len(new):
        raise ArgumentError(
            "moveaxis needs equally many distinct axes", fix="give one place per axis"
        )
    order = [n for n in range(tensor.rank) if n not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return permute(tensor, order)


@movement
def squeeze(x: Any, axis: int | Sequence[int] | None = None) -> Tensor:
    """Drops axes of extent 1; all of them if None.

    Raises:
        ShapeError: the extent of a named axis is not 1.
    """
    tensor = _one("squeeze", x)
    shape = tensor._type.shape
    if axis is None:
        axes = tuple([n for n, d in enumerate(shape) if d == 1])
    else:
        axes = normalize_axes(axis, tensor.rank)
    wrong = [n for n in axes if shape[n] != 1]
    if wrong:
        raise ShapeError(
            f"axis {wrong[0]} has extent {shape[wrong[0]]}, so it cannot be squeezed",
            where=f"squeeze({tensor.type}, axis={axis})",
            fix="squeeze axes of extent 1 only",
        )
    return _reshaped(tensor, [d for n, d in enumerate(shape) if n not in axes])


@movement
def unsqueeze(x: Any, axis: int | Sequence[int]) -> Tensor:
    """Inserts axes of extent 1 at the given places of the result."""
    tensor = _one("unsqueeze", x)
    count = 1 if isinstance(axis, int) else len(axis)
    axes = normalize_axes(axis, tensor.rank + count)
    rest = iter(tensor._type.shape)
    return _reshaped(tensor, [1 if n in axes else next(rest) for n in range(tensor.rank + count)])


@movement
def broadcast_to(x: Any, shape: int | Sequence[Any]) -> Tensor:
    """The tensor stretched to a shape by NumPy's rules.

    Raises:
        ShapeError: it does not stretch to that shape.
    """
    tensor = _one("broadcast_to", x)
    given = (shape,) if isinstance(shape, int) else tuple(shape)
    wanted = tuple([as_dim(d) for d in given])
    if broadcast_shapes(tensor._type.shape, wanted) != wanted:
        raise ShapeError(
            f"shape {tensor.shape} does not broadcast to {wanted}",
            where=f"broadcast_to({tensor.type}, shape={wanted})",
            fix="axes are aligned at the end; only extents of 1 stretch",
        )
    if tensor._type.shape == wanted:
        return same_version(tensor)
    return apply("broadcast", tensor, shape=wanted)  # type: ignore[no-any-return]


@operation
def concat(vals: Sequence[Any], axis: int | None = 0) -> Tensor:
    """Tensors one after the other along an axis; flattened first if the axis is None.

    Raises:
        ShapeError: they differ in another axis.
        ArgumentError: there are none.
    """
    tensors = _several("concat", vals)
    if axis is None:
        tensors = [_reshaped(t, (t.size,)) for t in tensors]
        axis = 0
    number = normalize_axis(axis, tensors[0].rank)
    if len(tensors) == 1:
        return same_version(tensors[0])
    return apply("concat", *tensors, axis=number)  # type: ignore[no-any-return]


def _several(name: str, values: Sequence[Any]) -> list[Tensor]:
    if isinstance(values, Tensor):
        values = list(values)
    if not values:
        raise ArgumentError(f"{name} of no tensors", fix="give at least one")
    tensors = one_device(name, *values)
    dtype = promote_all([t.dtype for t in tensors])
    return [cast_to(t, dtype) for t in tensors]


@operation
def stack(values: Sequence[Any], axis: int = 0) -> Tensor:
    """Tensors of one shape along a new axis."""
    tensors = _several("stack", values)
    shape = tensors[0]._type.shape
    wrong = [t for t in tensors if t._type.shape != shape]
    if wrong:
        raise ShapeError(
            f"stack of shapes {shape} and {wrong[0].shape}", fix="give tensors of one shape"
        )
    number = normalize_axis(axis, len(shape) + 1)
    lifted = [_reshaped(t, (*shape[:number], 1, *shape[number:])) for t in tensors]
    if len(lifted) == 1:
        return lifted[0]
    return apply("concat", *lifted, axis=number)  # type: ignore[no-any-return]


def _slice_axis(tensor: Tensor, axis: int, start: int, stop: int) -> Tensor:
    shape = tensor._type.static_shape
    starts = [0] * len(shape)
    stops = list(shape)
    starts[axis], stops[axis] = start, stop
    return apply("slice", tensor, start=tuple(starts), stop=tuple(stops), step=(1,) * len(shape))  # type: ignore[no-any-return]


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
    tensor = _one("split", x)
    number = normalize_axis(axis, tensor.rank)
    total = tensor._type.static_shape[number]
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
            where=f"split({tensor.type}, axis={axis})",
            fix="give sizes whose sum is the extent",
        )
    parts, start = [], 0
    for size in sizes:
        parts.append(_slice_axis(tensor, number, start, start + size))
        start += size
    return parts


@operation
def chunk(x: Any, chunks: int, axis: int = 0) -> list[Tensor]:
    """Equal parts along an axis.

    Raises:
        ShapeError: the extent is not a multiple of the number of parts.
    """
    tensor = _one("chunk", x)
    number = normalize_axis(axis, tensor.rank)
    total = tensor._type.static_shape[number]
    if chunks <= 0 or total % chunks:
        raise ShapeError(
            f"the extent {total} of axis {number} does not divide into {chunks} parts",
            where=f"chunk({tensor.type}, chunks={chunks})",
            fix="use split with explicit sizes",
        )
    return split(tensor, total // chunks if total else 1, number)


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
    """
    tensor = _one("pad", x)
    pairs = _pairs(paddings, tensor.rank)
    if mode == "constant":
        fill = scalar_like(value, tensor.dtype, tensor._type.device)
        low, high = (tuple(side) for side in zip(*pairs, strict=True)) if pairs else ((), ())
        return apply("pad", tensor, fill, low=low, high=high)  # type: ignore[no-any-return]
    if mode not in ("edge", "reflect"):
        raise ArgumentError(f"pad has no mode {mode!r}", fix='use "constant", "edge" or "reflect"')
    for axis, (low_size, high_size) in enumerate(pairs):
        tensor = _pad_axis(tensor, axis, low_size, high_size, mode)
    return tensor


def _pairs(paddings: Sequence[Any], rank: int) -> list[tuple[int, int]]:
    given = list(paddings)
    flat = [n for p in given for n in (p if isinstance(p, (list, tuple)) else (p,))]
    if len(flat) != 2 * rank or any(n < 0 for n in flat):
        raise ArgumentError(
            f"paddings {paddings!r} for {rank} axes", fix="give two sizes >= 0 for each axis"
        )
    return [(int(flat[2 * n]), int(flat[2 * n + 1])) for n in range(rank)]


def _pad_axis(tensor: Tensor, axis: int, low: int, high: int, mode: str) -> Tensor:
    extent = tensor._type.static_shape[axis]
    if not (low or high):
        return tensor
    limit = extent - 1 if mode == "reflect" else extent
    if extent == 0 or (mode == "reflect" and max(low, high) > limit):
        raise ShapeError(
            f"a border of {max(low, high)} cannot be taken from an extent of {extent}",
            where=f"pad({tensor.type}, mode={mode!r})",
            fix="pad less, or with a constant",
        )
    order = [min(max(n, 0), extent - 1) for n in range(-low, extent + high)]
    if mode == "reflect":
        order = [abs(n) if n < extent else 2 * (extent - 1) - n for n in range(-low, extent + high)]
    wide = as_dtype("int64")
    index = constant_of(np.array(order), tensor_type(wide, (len(order),), tensor._type.device))
    return apply("gather", tensor, index, axis=axis)  # type: ignore[no-any-return]


@movement
def flip(x: Any, axis: int | Sequence[int] | None = None) -> Tensor:
    """The elements in reverse order along axes; all if None."""
    tensor = _one("flip", x)
    axes = normalize_axes(axis, tensor.rank)
    shape = tensor._type.static_shape
    return apply(
        "slice", tensor,
        start=tuple([d - 1 if n in axes else 0 for n, d in enumerate(shape)]),
        stop=tuple([-1 if n in axes else d for n, d in enumerate(shape)]),
        step=tuple([-1 if n in axes else 1 for n in range(len(shape))]),
    )  # type: ignore[no-any-return]  # fmt: skip


@operation
def roll(x: Any, shift: int | Sequence[int], axis: int | Sequence[int] | None = None) -> Tensor:
    """The elements moved along axes, those pushed out coming in at the other end."""
    tensor = _one("roll", x)
    if axis is None:
        flat = _reshaped(tensor, (tensor.size,))
        return _reshaped(_roll_axis(flat, 0, int(shift)), tensor._type.shape)  # type: ignore[arg-type]
    axes = [axis] if isinstance(axis, int) else list(axis)
    shifts = [shift] * len(axes) if isinstance(shift, int) else list(shift)
    for number, by in zip(axes, shifts, strict=True):
        tensor = _roll_axis(tensor, normalize_axis(number, tensor.rank), by)
    return tensor


def _roll_axis(tensor: Tensor, axis: int, shift: int) -> Tensor:
    extent = tensor._type.static_shape[axis]
    by = shift % extent if extent else 0
    if not by:
        return same_version(tensor)
    tail = _slice_axis(tensor, axis, extent - by, extent)
    return apply("concat", tail, _slice_axis(tensor, axis, 0, extent - by), axis=axis)  # type: ignore[no-any-return]


@operation
def tile(x: Any, repeats: int | Sequence[int]) -> Tensor:
    """The tensor repeated along each axis."""
    tensor = _one("tile", x)
    counts = [repeats] if isinstance(repeats, int) else list(repeats)
    rank = max(len(counts), tensor.rank)
    counts = [1] * (rank - len(counts)) + counts
    shape = [1] * (rank - tensor.rank) + list(tensor._type.static_shape)
    if any(c < 0 for c in counts):
        raise ArgumentError(f"repeats {counts} of tile", fix="give counts >= 0")
    spread = _reshaped(tensor, [n for d in shape for n in (1, d)])
    wide = [n for c, d in zip(counts, shape, strict=True) for n in (c, d)]
    result = (
        spread
        if tuple(wide) == spread._type.shape
        else apply("broadcast", spread, shape=tuple(wide))
    )
    return _reshaped(result, [c * d for c, d in zip(counts, shape, strict=True)])


@movement
def to(x: Any, device: Any) -> Tensor:
    """The tensor on another device; on its own a new handle.

    Raises:
        BackendNotFound, BackendUnavailable: the device cannot be used.
    """
    tensor = _one("to", x)
    name = device_of(device).name
    if tensor._type.device == name:
        return same_version(tensor)
    return apply("transfer", tensor, device=name)  # type: ignore[no-any-return]


@operation
def barrier(x: Any) -> Tensor:
    """The same values, behind a line that no kernel crosses."""
    return apply("barrier", _one("barrier", x))  # type: ignore[no-any-return]
