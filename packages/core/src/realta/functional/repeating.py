"""Repeating: each element of an axis several times in a row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import numpy as np

from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    constant_of,
    elementwise,
    known_extent,
    one_device,
    reshaped,
    to_device,
)
from realta.functional.operation import operation
from realta.graph import Value
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import int64, normalize_axis, tensor_type

__all__ = ["repeat_interleave"]

P = ParamSpec("P")
R = TypeVar("R")


def repeat_interleave(
    x: Any, repeats: Any, axis: int | None = None, out_dim: int | None = None
) -> Tensor:
    """Each element along an axis as often as told, its copies next to each other.

    Args:
        x: tensor.
        repeats: one number for all elements, or one for each: a list, an array, or a tensor.
        axis: axis; the flattened tensor if None.
        out_dim: the extent of the result along the axis. A tensor of repeats needs it in a graph;
            without it their values are read. Elements beyond it are cut off, and the last element
            fills what is missing.

    Raises:
        ShapeError: not as many repeats as elements.
        ArgumentError: negative repeats.
        DTypeError: repeats that are no integers.
    """
    if isinstance(repeats, (Tensor, Value)):
        if out_dim is not None:
            return _by_tensor(x, repeats, axis, out_dim)
        known = repeats if isinstance(repeats, Tensor) else Tensor.from_graph_value(repeats)
        repeats = known.numpy().tolist()
    counts = repeats if isinstance(repeats, int) else np.asarray(repeats).tolist()
    return _known(x, counts, axis, out_dim)


def _called(body: Callable[P, R]) -> Callable[P, R]:
    """Lets errors call a body by the name of the public function."""
    body.__name__ = "repeat_interleave"
    return body


def _lined(x: Any, axis: int | None) -> tuple[Tensor, int]:
    (tensor,) = one_device("repeat_interleave", x)
    if axis is None:
        return reshaped(tensor, (tensor.size,)), 0
    return tensor, normalize_axis(axis, tensor.rank)


@operation
@_called
def _known(x: Any, repeats: int | Sequence[int], axis: int | None, out_dim: int | None) -> Tensor:
    tensor, place = _lined(x, axis)
    if isinstance(repeats, (bool, float)) or (
        not isinstance(repeats, int) and not all(type(n) is int for n in repeats)
    ):
        raise DTypeError(f"repeats {repeats!r} are no integers", fix="give whole numbers")
    counts = [repeats] if isinstance(repeats, int) else list(repeats)
    if any(n < 0 for n in counts):
        raise ArgumentError(f"repeats {repeats!r} of repeat_interleave", fix="give counts >= 0")
    if isinstance(repeats, int) and out_dim is None:
        extent = tensor._type.shape[place]
        before, after = tensor._type.shape[: place + 1], tensor._type.shape[place + 1 :]
        wide = broadcast(reshaped(tensor, (*before, 1, *after)), (*before, repeats, *after))
        return reshaped(wide, (*before[:-1], extent * repeats, *after))
    extent = known_extent(tensor, place)
    if len(counts) not in (1, extent):
        raise ShapeError(
            f"{len(counts)} repeats for {extent} elements of axis {place}",
            fix="give one number, or one for each element",
        )
    index = np.repeat(np.arange(extent), counts * (extent if len(counts) == 1 else 1))
    if out_dim is not None and out_dim != index.size:
        raise ShapeError(
            f"out_dim={out_dim}, but the repeats make {index.size} elements",
            fix="leave out_dim out, or give the sum of the repeats",
        )
    type_ = tensor_type(int64, index.shape, tensor._type.device)
    return apply("gather", tensor, constant_of(index, type_), axis=place)


@operation
@_called
def _by_tensor(x: Any, repeats: Any, axis: int | None, out_dim: int) -> Tensor:
    """An element of the result comes from as many ends of runs as lie at or before it."""
    tensor, place = _lined(x, axis)
    _, counts = one_device("repeat_interleave", tensor, repeats)
    if not counts.dtype.is_integer:
        raise DTypeError(f"repeats of {counts.type}", fix="give an integer tensor")
    extent = known_extent(tensor, place)
    if counts.rank > 1 or (counts.rank and known_extent(counts, 0) not in (1, extent)):
        raise ShapeError(
            f"repeats of {counts.type} for {extent} elements of axis {place}",
            fix="give one number, or one for each element",
        )
    if type(out_dim) is not int or out_dim < 0:
        raise ArgumentError(f"out_dim={out_dim!r}", fix="give a number from 0 up")
    device = tensor._type.device
    wide = cast_to(to_device(counts, device), int64)
    each = broadcast(wide if counts.rank else reshaped(wide, (1,)), (extent,))
    ends = apply("cumsum", each, axis=0, exclusive=False, reverse=False)
    number = apply("iota", shape=(out_dim, extent), axis=0, dtype=int64, device=device)
    passed = cast_to(apply("less_equal", broadcast(ends, (out_dim, extent)), number), int64)
    index = apply("sum", passed, axes=(1,))
    last = elementwise(get_op("minimum"), index, max(extent - 1, 0))
    return apply("gather", tensor, last, axis=place)
