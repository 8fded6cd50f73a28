"""Manipulation and indexing functions under the standard's names."""

from __future__ import annotations

from typing import Any

import realta.functional as F
from realta.array_api.naming import called
from realta.errors import ArgumentError
from realta.functional import broadcast_to, concat, flip, moveaxis, roll, squeeze, stack, take, tile
from realta.functional import take_along_axis as _take_along_axis
from realta.functional import unsqueeze as expand_dims
from realta.functional.arguments import known_extent
from realta.functional.operation import operation
from realta.tensor import Tensor
from realta.types import broadcast_shapes as _broadcast_shapes
from realta.types import normalize_axis

__all__ = [
    "broadcast_arrays", "broadcast_shapes", "broadcast_to", "concat", "expand_dims", "flip",
    "moveaxis", "permute_dims", "repeat", "reshape", "roll", "squeeze", "stack", "take",
    "take_along_axis", "tile", "unstack",
]  # fmt: skip


def broadcast_shapes(*shapes: Any) -> tuple[Any, ...]:
    """The shape to which shapes stretch together.

    Raises:
        ShapeError: they do not.
    """
    return _broadcast_shapes(*[tuple(shape) for shape in shapes])


def broadcast_arrays(*arrays: Any) -> tuple[Tensor, ...]:
    """The tensors, each stretched to their common shape.

    Raises:
        ShapeError: their shapes do not stretch together.
    """
    return tuple(_broadcast_arrays(list(arrays))) if arrays else ()


@operation
@called("broadcast_arrays")
def _broadcast_arrays(arrays: list[Any]) -> list[Tensor]:
    tensors = [F.pos(x) for x in arrays]
    shape = _broadcast_shapes(*[x._type.shape for x in tensors])
    return [broadcast_to(x, shape) for x in tensors]


def permute_dims(x: Any, /, axes: Any) -> Tensor:
    """The axes in another order. See `F.permute`."""
    return F.permute(x, axes)


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """The elements in row-major order under another shape. See `F.reshape`.

    Args:
        x: tensor.
        shape: extents; one may be -1 and is worked out.
        copy: has no effect: tensors are values, so a copy is never observable.
    """
    return F.reshape(x, shape)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each element along an axis as often as told. See `F.repeat_interleave`."""
    return F.repeat_interleave(x, repeats, axis)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Tensor:
    """Elements along an axis by an index for each of the result's. See `F.take_along_axis`."""
    return _take_along_axis(x, indices, axis)


@operation
@called("unstack")
def _unstack(x: Any, axis: int) -> list[Tensor]:
    tensor = F.pos(x)
    if not tensor.rank:
        raise ArgumentError("unstack of a 0-d tensor", fix="give it an axis, as in x.reshape(1)")
    number = normalize_axis(axis, tensor.rank)
    head = (slice(None),) * number
    return [tensor[(*head, n)] for n in range(known_extent(tensor, number))]


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, which they have no longer.

    Raises:
        ArgumentError: a 0-d tensor.
    """
    return tuple(_unstack(x, axis))
