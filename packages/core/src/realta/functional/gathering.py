"""Gathering and scattering: elements read and written by index tensors."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.context import caller_location
from realta.errors import ArgumentError, DTypeError, IndexBoundsError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    constant_of,
    elementwise,
    known_extent,
    one_device,
    reshaped,
    scalar_like,
    to_device,
)
from realta.functional.operation import operation
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import int64, is_weak, normalize_axis, tensor_type, uint64

__all__ = [
    "gather", "index_tensor", "scatter", "scatter_add", "scatter_max", "scatter_min",
    "scatter_mul", "take", "take_along_axis",
]  # fmt: skip

_READING: Final = ("error", "clip", "wrap")
_WRITING: Final = (*_READING, "drop")


def _check_known(indices: Any, extent: int, axis: int) -> None:
    """Known indices out of range raise at the call."""
    wrong = indices[(indices < -extent) | (indices >= extent)]
    if wrong.size:
        raise IndexBoundsError(
            f"index {int(wrong.flat[0])} is out of bounds for axis {axis} of extent {extent}",
            where=str(caller_location()),
            fix=f"use {-extent} to {extent - 1}" if extent else "the axis is empty",
        )


def index_tensor(
    name: str, indices: Any, x: Tensor, axis: int, mode: str, modes: tuple[str, ...] = _READING
) -> Tensor:
    """Indices as an int64 tensor, checked now if they are known, by the device if they are not.

    Args:
        name: the function, for errors.
        indices: integer tensor, array, nested list or int.
        x: the tensor that is indexed.
        axis: its axis, counted from the start.
        mode: what to do about indices out of range.
        modes: the modes that the function has.

    Raises:
        IndexBoundsError: a known index is out of range and the mode is ``"error"``.
        DTypeError: the indices are no integers.
        ArgumentError: an unknown mode.
    """
    if mode not in modes:
        raise ArgumentError(f"{name} has no index mode {mode!r}", fix=f"use {', '.join(modes)}")
    if isinstance(indices, Tensor):
        if not indices.dtype.is_integer:
            raise DTypeError(f"{name} takes integer indices, not {indices.dtype}", fix=_CAST)
        tensor = to_device(indices, x._type.device)
        if tensor.dtype is uint64:
            # What int64 cannot hold must not come out as an index from the end.
            tensor = elementwise(get_op("minimum"), tensor, 2**63 - 1)
        tensor = cast_to(tensor, int64)
        if mode == "error":
            extent = known_extent(x, axis)
            status = apply("check_bounds", tensor, extent=extent, axis=axis)
            return apply("guard", tensor, status)
    else:
        array = np.asarray(indices)
        if array.dtype.kind not in "iu" and array.size:
            raise DTypeError(f"{name} takes integer indices, not {array.dtype}", fix=_CAST)
        if mode == "error":
            _check_known(array, known_extent(x, axis), axis)
        known = array.astype(np.int64)
        tensor = constant_of(known, tensor_type(int64, known.shape, x._type.device))
    if mode == "wrap" and known_extent(x, axis):
        return elementwise(get_op("mod"), tensor, known_extent(x, axis))
    return tensor


_CAST: Final = "cast them to an integer dtype"


def _gathered(name: str, x: Any, indices: Any, axis: int | None, mode: str) -> Tensor:
    (tensor,) = one_device(name, x)
    if axis is None:
        tensor, axis = reshaped(tensor, (tensor.size,)), 0
    number = normalize_axis(axis, tensor.rank)
    index = index_tensor(name, indices, tensor, number, mode)
    return apply("gather", tensor, index, axis=number)


@operation
def gather(input: Any, indices: Any, axis: int = 0, *, mode: str = "error") -> Tensor:
    """The slices along an axis that an index tensor names.

    Args:
        input: tensor of shape (before, extent, after).
        indices: integer tensor, list or array of any shape; negative ones count from the end.
        axis: axis.
        mode: ``"error"``, ``"clip"`` or ``"wrap"`` for indices out of range.

    Returns:
        A tensor of shape (before, shape of the indices, after).

    Raises:
        IndexBoundsError: at the call for known indices, else at the next wait.
    """
    return _gathered("gather", input, indices, axis, mode)


@operation
def take(x: Any, indices: Any, axis: int | None = None, *, mode: str = "error") -> Tensor:
    """`gather` by NumPy's name; of the flattened tensor if the axis is None."""
    return _gathered("take", x, indices, axis, mode)


def _flat_positions(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Row-major positions of ``x[..., index, ...]`` where the other axes go along."""
    shape, source, device = index._type.static_shape, x._type.static_shape, x._type.device
    strides = [int(np.prod(source[n + 1 :], dtype=np.int64)) for n in range(len(source))]
    total = _times(index, strides[axis])
    for n, stride in enumerate(strides):
        if n != axis:
            line = apply("iota", shape=shape, axis=n, dtype=int64, device=device)
            total = apply("add", total, _times(line, stride))
    return total


def _times(tensor: Tensor, factor: int) -> Tensor:
    return tensor if factor == 1 else elementwise(get_op("mul"), tensor, factor)


def _along(
    name: str, x: Any, indices: Any, axis: int, mode: str, modes: tuple[str, ...]
) -> tuple[Tensor, Tensor]:
    """The tensor and the row-major positions that indices along an axis name.

    The positions stay inside the axis whatever the indices are, except in mode ``"drop"``, where
    one out of range gives a position beyond the tensor.
    """
    (tensor,) = one_device(name, x)
    number = normalize_axis(axis, tensor.rank)
    index = index_tensor(name, indices, tensor, number, mode, modes)
    if index.rank != tensor.rank or any(
        a > b for n, (a, b) in enumerate(zip(index.shape, tensor.shape, strict=True)) if n != number
    ):
        raise ShapeError(
            f"indices of shape {index.shape} do not go along axis {number} of {tensor.type}",
            fix="give indices of the same rank, no longer than the tensor along its other axes",
        )
    extent = known_extent(tensor, number)
    if not extent and index.size and mode != "drop":
        raise ShapeError(
            f"axis {number} is empty, so it has no element to index", fix="check .size"
        )
    negative = elementwise(get_op("less"), index, 0)
    counted = apply("select", negative, elementwise(get_op("add"), index, extent), index)
    last = max(extent - 1, 0)
    inside = elementwise(get_op("minimum"), elementwise(get_op("maximum"), counted, 0), last)
    positions = _flat_positions(tensor, inside, number)
    if mode != "drop":
        return tensor, positions
    kept = elementwise(get_op("equal"), counted, inside)
    beyond = broadcast(scalar_like(tensor.size, int64, tensor._type.device), positions._type.shape)
    return tensor, apply("select", kept, positions, beyond)


@operation
def take_along_axis(x: Any, indices: Any, axis: int = -1, *, mode: str = "error") -> Tensor:
    """Elements along an axis by an index tensor that has an index for each of the result's.

    Args:
        x: tensor.
        indices: integer tensor of the rank of ``x``.
        axis: axis.
        mode: ``"error"``, ``"clip"`` or ``"wrap"`` for indices out of range.
    """
    tensor, positions = _along("take_along_axis", x, indices, axis, mode, _READING)
    return apply("gather", reshaped(tensor, (tensor.size,)), positions, axis=0)


def _scatter(
    name: str, reduce: str, x: Any, updates: Any, indices: Any, axis: int, mode: str
) -> Tensor:
    tensor, positions = _along(name, x, indices, axis, mode, _WRITING)
    if is_weak(updates):
        new = scalar_like(updates, tensor.dtype, tensor._type.device)
    else:
        _, new = one_device(name, tensor, updates)
        new = cast_to(new, tensor.dtype)
    count = (positions.size,)
    spread = apply(
        "scatter",
        reshaped(tensor, (tensor.size,)),
        reshaped(positions, count),
        reshaped(broadcast(new, positions._type.shape), count),
        axis=0,
        reduce=reduce,
        mode="drop" if mode == "drop" else "clip",
    )
    return reshaped(spread, tensor._type.shape)


@operation
def scatter(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """A copy with ``updates`` put where ``indices`` say along an axis; the last of doubles wins.

    Args:
        input: tensor.
        updates: tensor that broadcasts to the shape of ``indices``, or a number.
        indices: integer tensor of the rank of ``input``.
        axis: axis.
        mode: ``"error"``, ``"clip"``, ``"wrap"`` or ``"drop"`` for indices out of range.
    """
    return _scatter("scatter", "set", input, updates, indices, axis, mode)


@operation
def scatter_add(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """Like `scatter`, adding every update in row-major order."""
    return _scatter("scatter_add", "add", input, updates, indices, axis, mode)


@operation
def scatter_mul(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """Like `scatter`, multiplying by every update in row-major order."""
    return _scatter("scatter_mul", "mul", input, updates, indices, axis, mode)


@operation
def scatter_max(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """Like `scatter`, keeping the larger value."""
    return _scatter("scatter_max", "max", input, updates, indices, axis, mode)


@operation
def scatter_min(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """Like `scatter`, keeping the smaller value."""
    return _scatter("scatter_min", "min", input, updates, indices, axis, mode)
