"""Indexing: NumPy's basic indexing for reading and writing; a write moves the handle."""

from __future__ import annotations

from typing import Any

import numpy as np

from realta.context import caller_location, current
from realta.errors import ShapeError, UnsupportedOp
from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    reshaped,
    same_shape,
    scalar_like,
    to_device,
)
from realta.functional.basic_index import BasicIndex, basic_index, integer_index, is_mask
from realta.functional.gathering import index_tensor
from realta.functional.operation import arithmetic, movement
from realta.functional.replay import RunTimeIndex
from realta.functional.storing import store
from realta.tensor import Tensor
from realta.types import Shape, broadcast_shapes, int64, is_weak

__all__ = ["buffer_store", "buffer_store_slice", "getitem", "setitem", "slice_tensor"]


def getitem(x: Tensor, key: Any) -> Tensor:
    """``x[key]`` for ints, slices, ``...``, None and 0-d integer tensors.

    Raises:
        IndexBoundsError: an index is out of range; at the next wait for a tensor's value.
        UnsupportedOp: integer arrays and masks, which come in a later version.
    """
    if type(key) is int and x._type.is_static and x.rank and current.get() is None and x._settle():
        # The position is a parameter, so that walking over rows meets one program.
        return _row(x, RunTimeIndex(integer_index(key, 0, x._type.static_shape[0])))
    return _part(x, key)


def _row_of(x: Tensor, position: RunTimeIndex) -> Tensor:
    index = scalar_like(position, int64, x._type.device)
    return apply("gather", x, index, axis=0)


def _part_of(x: Tensor, key: Any) -> Tensor:
    tensor = as_tensor(x)
    found = basic_index(key, tensor._type.shape)
    part = _sliced(tensor, found)
    for axis, position in reversed(found.positions):
        index = index_tensor("getitem", position, tensor, axis, "error")
        part = apply("gather", part, index, axis=axis)
    if part is not tensor and same_shape(part._type.shape, found.shape):
        return part
    return reshaped(part, found.shape)


def _sliced(tensor: Tensor, found: BasicIndex) -> Tensor:
    if found.is_whole(tensor._type.shape):
        return tensor
    return apply("slice", tensor, start=found.start, stop=found.stop, step=found.step)


_row = arithmetic(_row_of, name="getitem")
_part = movement(_part_of, name="getitem")


def slice_tensor(x: Any, indices: Any) -> Tensor:
    """The same as ``x[indices]``, indices in a list or a tuple."""
    return getitem(x, tuple(indices) if isinstance(indices, list) else indices)


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value``: moves the handle ``x`` to a new version; nobody else sees a change.

    Raises:
        ShapeError: the value does not broadcast to the slice; ``x`` stays as it was.
        IndexBoundsError: an index is out of range.
    """
    if is_mask(key):
        mask = key if isinstance(key, Tensor) else Tensor(key, device=x._type.device)
        store(x, _masked, mask, value)
    elif type(key) is int and x._type.is_static and x.rank and current.get() is None:
        position = RunTimeIndex(integer_index(key, 0, x._type.static_shape[0]))
        store(x, _row_replaced, position, value)
    else:
        store(x, _updated, key, value)


def _row_replaced(x: Tensor, position: RunTimeIndex, value: Any) -> Tensor:
    """The tensor with one row replaced; the position is a parameter of the program."""
    new = _fitting(x, value, x._type.shape[1:])
    index = scalar_like(position, int64, x._type.device)
    return apply("scatter", x, index, new, axis=0, reduce="set", mode="clip")


def _updated(x: Tensor, key: Any, value: Any) -> Tensor:
    """The tensor with a slice replaced."""
    found = basic_index(key, x._type.shape)
    new = _fitting(x, value, found.shape)
    if len(found.positions) > 1:
        raise UnsupportedOp(
            "a store at two positions that are known at run time only is not in this version",
            fix="store a row at a time, or use F.scatter",
        )
    if found.positions:
        axis, position = found.positions[0]
        index = index_tensor("setitem", position, x, axis, "error")
        rows = reshaped(new, [d for n, d in enumerate(found.sliced) if n != axis])
        part = _sliced(x, found)
        new = apply("scatter", part, index, rows, axis=axis, reduce="set", mode="clip")
        if part is x:
            return new
    new = reshaped(new, found.sliced)
    return apply("update_slice", x, new, start=found.start, stop=found.stop, step=found.step)


def _fitting(x: Tensor, value: Any, shape: Shape) -> Tensor:
    """What is stored, broadcast to the shape it replaces."""
    new = as_stored(value, x)
    try:
        fits = same_shape(broadcast_shapes(new._type.shape, shape), shape)
    except ShapeError:
        fits = False
    if not fits:
        raise ShapeError(
            f"a value of shape {new.shape} does not fit a slice of shape {shape}",
            where=f"store into {x.type} at {caller_location()}",
            fix="make the value broadcast to the slice",
        )
    return broadcast(new, shape)


def _masked(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The tensor with the elements under a mask replaced: a select, static everywhere."""
    if not same_shape(mask._type.shape, x._type.shape[: mask.rank]):
        raise ShapeError(
            f"a mask of shape {mask.shape} does not fit {x.type}",
            where=f"store into {x.type} at {caller_location()}",
            fix="give a mask of the shape of the tensor's leading axes",
        )
    new = as_stored(value, x)
    # The masked elements are rows of this shape, however many there are.
    rest = (1, *x._type.shape[mask.rank :])
    if not same_shape(broadcast_shapes(new._type.shape, rest), rest):
        raise ShapeError(
            f"a value of shape {new.shape} would need to know how many elements the mask holds",
            where=f"store into {x.type} at {caller_location()}",
            fix="store one number or one row, or use F.where(mask, values, x)",
        )
    lifted = to_device(mask, x._type.device)
    ones = [1] * (x.rank - mask.rank)
    wide = broadcast(reshaped(lifted, (*mask._type.shape, *ones)), x._type.shape)
    row = reshaped(new, new._type.shape[1:]) if new.rank == len(rest) else new
    return apply("select", wide, broadcast(row, x._type.shape), x)


def as_stored(value: Any, x: Tensor) -> Tensor:
    """What is stored: a number in the tensor's dtype, or a tensor cast to it.

    Raises:
        DTypeError: a Python number that the dtype cannot hold.
    """
    if is_weak(value) and not isinstance(value, np.generic):
        return scalar_like(value, x.dtype, x._type.device)
    tensor = value if isinstance(value, Tensor) else Tensor(value, device=x._type.device)
    return cast_to(to_device(tensor, x._type.device), x.dtype)


def buffer_store(destination: Tensor, source: Any) -> None:
    """Moves ``destination`` to the values of ``source`` (same shape after broadcasting)."""
    setitem(destination, Ellipsis, source)


def buffer_store_slice(destination: Tensor, source: Any, indices: Any) -> None:
    """``destination[indices] = source``."""
    setitem(destination, tuple(indices) if isinstance(indices, list) else indices, source)
