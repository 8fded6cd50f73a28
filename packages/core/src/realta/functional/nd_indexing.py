"""N-d indexing: elements read and written by index vectors, one for each slice."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from realta.errors import DTypeError, ShapeError
from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    elementwise,
    known_extent,
    one_device,
    reshaped,
    same_shape,
    scalar_like,
    to_device,
)
from realta.functional.gathering import READING, index_tensor
from realta.functional.operation import operation
from realta.functional.scattering import WRITING
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import Shape, int64, is_weak

__all__ = [
    "gather_nd", "scatter_nd", "scatter_nd_add", "scatter_nd_max", "scatter_nd_min",
    "scatter_nd_mul",
]  # fmt: skip

_NO_AXES: Final = "index vectors lie along the last axis of the indices"


@operation
def gather_nd(input: Any, indices: Any, batch_dims: int = 0, *, mode: str = "error") -> Tensor:
    """The slices that index vectors name.

    Args:
        input: tensor of shape (batch, indexed, rest).
        indices: integers of shape (batch, any, k); each vector along the last axis indexes the
            first k axes of ``input`` behind the batch axes; negative ones count from the end.
        batch_dims: how many leading axes the two have in common.
        mode: ``"error"``, ``"clip"`` or ``"wrap"`` for indices out of range.

    Returns:
        A tensor of shape (batch, any, rest).

    Raises:
        IndexBoundsError: at the call for known indices, else at the next wait.
        ShapeError: the vectors are longer than the input has axes, or the batch axes differ.
    """
    (tensor,) = one_device("gather_nd", input)
    columns, shape = _columns("gather_nd", tensor, indices, batch_dims, mode, READING)
    count = batch_dims + len(columns)
    extents = [known_extent(tensor, axis) for axis in range(count)]
    lines = [
        apply("iota", shape=shape, axis=n, dtype=int64, device=tensor._type.device)
        for n in range(batch_dims)
    ]
    rows = reshaped(tensor, (prod(extents), *tensor._type.shape[count:]))
    return apply("gather", rows, _flat([*lines, *columns], extents, shape, tensor), axis=0)


def _columns(
    name: str, x: Tensor, indices: Any, batch: int, mode: str, modes: tuple[str, ...]
) -> tuple[list[Tensor], Shape]:
    """The index tensor of each indexed axis, and their shape."""
    given = indices if isinstance(indices, Tensor) else _known(name, indices)
    shape = given.shape
    if not shape or not isinstance(shape[-1], int):
        raise ShapeError(f"{name} with indices of shape {shape}", fix=_NO_AXES)
    if not 0 <= batch < len(shape) or batch + shape[-1] > x.rank:
        raise ShapeError(
            f"{name} of a tensor of {x.rank} axes, {batch} of them for batches, with index vectors "
            f"of {shape[-1]}",
            fix="give no more indices than there are axes left; " + _NO_AXES,
        )
    if not same_shape(tuple(shape[:batch]), x._type.shape[:batch]):
        raise ShapeError(
            f"the batch axes {x.shape[:batch]} of the input and {shape[:batch]} of the indices "
            "differ",
            fix="make them equal, or give fewer batch_dims",
        )
    if isinstance(given, Tensor):
        given = to_device(given, x._type.device)
    columns = []
    for axis in range(batch, batch + shape[-1]):
        column = _column(given, axis - batch)
        columns.append(index_tensor(name, column, x, axis, mode, modes))
    return columns, tuple(shape[:-1])


def _known(name: str, indices: Any) -> Any:
    if not isinstance(indices, np.ndarray) and not isinstance(indices, (list, tuple, int)):
        return as_tensor(indices)
    array = np.asarray(indices)
    if array.dtype.kind not in "iu" and array.size:
        raise DTypeError(
            f"{name} takes integer indices, not {array.dtype}", fix="cast them to an integer dtype"
        )
    return array


def _column(indices: Any, n: int) -> Any:
    """The nth index of every vector."""
    if not isinstance(indices, Tensor):
        return indices[..., n]
    shape = indices._type.shape
    start = (*[0] * (len(shape) - 1), n)
    part = apply("slice", indices, start=start, stop=(*shape[:-1], n + 1), step=(1,) * len(shape))
    return reshaped(part, shape[:-1])


def _flat(columns: list[Tensor], extents: list[int], shape: Shape, x: Tensor) -> Tensor:
    """Index vectors as positions in all indexed axes as one, counted from the start."""
    total = broadcast(scalar_like(0, int64, x._type.device), shape)
    for column, extent in zip(columns, extents, strict=True):
        negative = elementwise(get_op("less"), column, 0)
        counted = apply("select", negative, elementwise(get_op("add"), column, extent), column)
        last = max(extent - 1, 0)
        inside = elementwise(get_op("minimum"), elementwise(get_op("maximum"), counted, 0), last)
        total = elementwise(get_op("add"), elementwise(get_op("mul"), total, extent), inside)
    return total


def _beyond(columns: list[Tensor], extents: list[int], shape: Shape, x: Tensor) -> Tensor:
    """Like `_flat`, with a position beyond them all for a vector that is out of range."""
    inside = _flat(columns, extents, shape, x)
    for column, extent in zip(columns, extents, strict=True):
        low = elementwise(get_op("less"), column, -extent)
        high = elementwise(get_op("greater_equal"), column, extent)
        outside = elementwise(get_op("bitwise_or"), low, high)
        end = broadcast(scalar_like(prod(extents), int64, x._type.device), shape)
        inside = apply("select", outside, end, inside)
    return inside


def _scattered(name: str, reduce: str, input: Any, updates: Any, indices: Any, mode: str) -> Tensor:
    (tensor,) = one_device(name, input)
    columns, shape = _columns(name, tensor, indices, 0, mode, WRITING)
    extents = [known_extent(tensor, axis) for axis in range(len(columns))]
    rest = tensor._type.shape[len(columns) :]
    flat = (_beyond if mode == "drop" else _flat)(columns, extents, shape, tensor)
    if is_weak(updates):
        new = scalar_like(updates, tensor.dtype, tensor._type.device)
    else:
        _, new = one_device(name, tensor, updates)
        new = cast_to(new, tensor.dtype)
    spread = apply(
        "scatter",
        reshaped(tensor, (prod(extents), *rest)),
        flat,
        broadcast(new, (*shape, *rest)),
        axis=0,
        reduce=reduce,
        mode="drop" if mode == "drop" else "clip",
    )
    return reshaped(spread, tensor._type.shape)


@operation
def scatter_nd(input: Any, updates: Any, indices: Any, *, mode: str = "error") -> Tensor:
    """A copy with slices put where index vectors say; the last of doubles wins.

    Args:
        input: tensor of shape (indexed, rest).
        updates: broadcasts to (any, rest), or a number.
        indices: integers of shape (any, k); each vector along the last axis indexes the first k
            axes of ``input``.
        mode: ``"error"``, ``"clip"``, ``"wrap"`` or ``"drop"`` for indices out of range.

    Raises:
        IndexBoundsError: at the call for known indices, else at the next wait.
    """
    return _scattered("scatter_nd", "set", input, updates, indices, mode)


@operation
def scatter_nd_add(input: Any, updates: Any, indices: Any, *, mode: str = "error") -> Tensor:
    """Like `scatter_nd`, adding every update in row-major order."""
    return _scattered("scatter_nd_add", "add", input, updates, indices, mode)


@operation
def scatter_nd_mul(input: Any, updates: Any, indices: Any, *, mode: str = "error") -> Tensor:
    """Like `scatter_nd`, multiplying by every update in row-major order."""
    return _scattered("scatter_nd_mul", "mul", input, updates, indices, mode)


@operation
def scatter_nd_max(input: Any, updates: Any, indices: Any, *, mode: str = "error") -> Tensor:
    """Like `scatter_nd`, keeping the larger value."""
    return _scattered("scatter_nd_max", "max", input, updates, indices, mode)


@operation
def scatter_nd_min(input: Any, updates: Any, indices: Any, *, mode: str = "error") -> Tensor:
    """Like `scatter_nd`, keeping the smaller value."""
    return _scattered("scatter_nd_min", "min", input, updates, indices, mode)
