"""Scattering: elements written, or taken along an axis, by an index for each of them."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.errors import ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    elementwise,
    known_extent,
    one_device,
    reshaped,
    same_shape,
    scalar_like,
)
from realta.functional.gathering import READING, index_tensor
from realta.functional.operation import operation
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import broadcast_shapes, int64, is_weak, normalize_axis

__all__ = [
    "WRITING", "scatter", "scatter_add", "scatter_max", "scatter_min", "scatter_mul",
    "take_along_axis",
]  # fmt: skip

WRITING: Final = (*READING, "drop")
"""Modes for indices out of range where elements are written."""


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
    if modes is READING and index.rank == tensor.rank:
        tensor, index = _stretched(name, tensor, index, number)
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


def _stretched(name: str, x: Tensor, index: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """The two with their other axes broadcast together."""
    rest = [(*t._type.shape[:axis], 1, *t._type.shape[axis + 1 :]) for t in (x, index)]
    if same_shape(*rest):
        return x, index
    try:
        common = broadcast_shapes(*rest)
    except ShapeError:
        raise ShapeError(
            f"indices of shape {index.shape} do not go along axis {axis} of {x.type}",
            fix="give indices of the same rank whose other axes broadcast with the tensor's",
        ) from None
    shapes = [(*common[:axis], t._type.shape[axis], *common[axis + 1 :]) for t in (x, index)]
    return broadcast(x, shapes[0]), broadcast(index, shapes[1])


@operation
def take_along_axis(x: Any, indices: Any, axis: int = -1, *, mode: str = "error") -> Tensor:
    """Elements along an axis by an index tensor that has an index for each of the result's.

    Args:
        x: tensor.
        indices: integer tensor of the rank of ``x``; the axes but ``axis`` broadcast together.
        axis: axis.
        mode: ``"error"``, ``"clip"`` or ``"wrap"`` for indices out of range.
    """
    tensor, positions = _along("take_along_axis", x, indices, axis, mode, READING)
    return apply("gather", reshaped(tensor, (tensor.size,)), positions, axis=0)


def _scatter(
    name: str, reduce: str, x: Any, updates: Any, indices: Any, axis: int, mode: str
) -> Tensor:
    tensor, positions = _along(name, x, indices, axis, mode, WRITING)
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
