"""Dynamic slices: windows stored at positions that are known when the program runs."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from realta.context import caller_location
from realta.errors import ArgumentError, DTypeError, IndexBoundsError, ShapeError
from realta.functional.arguments import (
    apply,
    cast_to,
    elementwise,
    one_device,
    scalar_like,
    to_device,
)
from realta.functional.operation import arithmetic
from realta.functional.replay import RunTimeIndex
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import int32, int64

__all__ = ["dynamic_update_slice", "known_start"]

_MODES = ("error", "clip")


def dynamic_update_slice(x: Any, update: Any, starts: Any, *, mode: str = "error") -> Tensor:
    """A copy of a tensor with a window replaced; where it begins is known at run time only.

    All positions share one compiled program. A cache moves to the result by a store:
    ``F.buffer_store(cache, F.dynamic_update_slice(cache, new, (0, position, 0)))``; in a compiled
    function or a loop that writes it in place where nobody else holds it.

    Args:
        x: tensor.
        update: tensor of the rank of ``x``, no longer along any axis; cast to its dtype.
        starts: first index along each axis: ints and 0-d integer tensors; negative ones count from
            the end, once.
        mode: ``"error"``, or ``"clip"``, which moves the window inside.

    Raises:
        ShapeError: the window does not fit the tensor.
        IndexBoundsError: the window leaves the tensor: at the call for ints, else at the next wait.
        DTypeError: a start is no integer.
    """
    if mode not in _MODES:
        raise ArgumentError(
            f"dynamic_update_slice has no mode {mode!r}", fix=f"use {' or '.join(_MODES)}"
        )
    tensor = x if isinstance(x, Tensor) else Tensor(x)
    value = update if isinstance(update, Tensor) else Tensor(update, device=tensor._type.device)
    whole, part = tensor._type.static_shape, value._type.static_shape
    if len(part) != len(whole) or any(a > b for a, b in zip(part, whole, strict=True)):
        raise ShapeError(
            f"a window of shape {part} does not fit {tensor.type}",
            where=f"dynamic_update_slice at {caller_location()}",
            fix="give it the rank of the tensor and no longer axes",
        )
    given = list(starts) if isinstance(starts, (list, tuple)) else [starts]
    if len(given) != len(whole):
        raise ArgumentError(
            f"{len(given)} start(s) are given for {len(whole)} axes",
            where=f"dynamic_update_slice at {caller_location()}",
            fix="give one for each axis",
        )
    found = [
        s if isinstance(s, Tensor) else known_start(s, axis, whole[axis], part[axis], mode)
        for axis, s in enumerate(given)
    ]
    return _update(tensor, value, mode, *found)


def known_start(start: Any, axis: int, extent: int, length: int, mode: str) -> RunTimeIndex:
    """A known start, counted from the beginning, as a parameter of the program.

    Raises:
        IndexBoundsError: the window leaves the axis and the mode is ``"error"``.
        DTypeError: it is no integer.
    """
    if isinstance(start, (bool, np.bool_)) or not hasattr(start, "__index__"):
        raise DTypeError(
            f"start {axis} is {type(start).__name__}, which is no integer",
            where=f"dynamic_update_slice at {caller_location()}",
            fix="pass an int or a 0-d integer tensor",
        )
    number = operator.index(start)
    first = number + extent if number < 0 else number
    if mode == "clip":
        first = min(max(first, 0), extent - length)
    elif not 0 <= first <= extent - length:
        raise IndexBoundsError(
            f"a window of length {length} at {number} leaves axis {axis} of extent {extent}",
            where=f"dynamic_update_slice at {caller_location()}",
            fix=f"start from 0 to {extent - length}",
        )
    return RunTimeIndex(first)


def _updated(x: Tensor, update: Tensor, mode: str, *starts: Any) -> Tensor:
    _, value = one_device("dynamic_update_slice", x, update)
    value = cast_to(value, x.dtype)
    part = value._type.static_shape
    found = [
        _dynamic_start(x, axis, start, part[axis], mode)
        if isinstance(start, Tensor)
        else scalar_like(start, int64, x._type.device)
        for axis, start in enumerate(starts)
    ]
    return apply("dynamic_update_slice", x, value, *found)


_update = arithmetic(_updated, name="dynamic_update_slice")


def _dynamic_start(x: Tensor, axis: int, start: Tensor, length: int, mode: str) -> Tensor:
    extent = x._type.static_shape[axis]
    if not start.dtype.is_integer or start.rank:
        raise DTypeError(f"start {axis} is {start.type}", fix="pass a 0-d integer tensor")
    index = to_device(start, x._type.device)
    if index.dtype is not int32:
        index = cast_to(index, int64)
    first = _counted(index, extent)
    if mode == "error" and length:
        first = _guarded(first, index, extent, axis)
        if length > 1:
            last = elementwise(get_op("add"), first, length - 1)
            first = _guarded(first, last, extent, axis)
    return first


def _counted(index: Tensor, extent: int) -> Tensor:
    """The index with negative ones counted from the end, once."""
    negative = elementwise(get_op("less"), index, 0)
    return apply("select", negative, elementwise(get_op("add"), index, extent), index)


def _guarded(value: Tensor, index: Tensor, extent: int, axis: int) -> Tensor:
    """A value after the check that an index lies inside its axis."""
    status = apply("check_bounds", index, extent=extent, axis=axis)
    return apply("guard", value, status)
