"""BasicIndex: ints, slices, ``...`` and None, worked out against the shape of a tensor."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, Final

from realta.context import caller_location
from realta.errors import ArgumentError, IndexBoundsError, ShapeError
from realta.functional.arguments import same_shape
from realta.tensor import Tensor
from realta.types import Dim, Shape

__all__ = ["BASIC", "BasicIndex", "basic_index", "integer_index"]

BASIC: Final = frozenset({int, slice, type(None), type(Ellipsis)})
"""Types of the items that choose elements by position and extent alone."""


class BasicIndex:
    """A basic index worked out against a shape.

    Attributes:
        start: first element along each axis.
        stop: end along each axis, -1 where a negative step runs past the first element.
        step: distance along each axis, never 0.
        sliced: extents of the slice, before axes are dropped or inserted.
        positions: axes that a 0-d integer tensor indexes; whole in the slice.
        shape: the result's shape: indexed axes dropped, new axes inserted.
    """

    __slots__ = ("positions", "shape", "sliced", "start", "step", "stop")

    def __init__(
        self,
        start: tuple[Any, ...],
        stop: tuple[Any, ...],
        step: tuple[int, ...],
        sliced: Shape,
        positions: tuple[tuple[int, Tensor], ...],
        shape: Shape,
    ) -> None:
        self.start = start
        self.stop = stop
        self.step = step
        self.sliced = sliced
        self.positions = positions
        self.shape = shape

    def is_whole(self, shape: Shape) -> bool:
        """Whether the slice is all of a tensor of that shape, in order."""
        return same_shape(self.sliced, shape) and all(s == 1 for s in self.step)


def basic_index(key: Any, shape: Shape) -> BasicIndex:
    """Works out ints, slices, ``...`` and None against a shape.

    Raises:
        IndexBoundsError: an int outside its axis, or more indices than axes.
        ArgumentError: a slice step of 0, a float index, two ellipses.
        ShapeError: part of an axis of symbolic extent.
    """
    starts: list[Any] = []
    stops: list[Any] = []
    steps: list[int] = []
    sliced: list[Any] = []
    positions: list[tuple[int, Tensor]] = []
    result: list[Any] = []
    for item in _completed(key, shape):
        axis = len(starts)
        if item is None:
            result.append(1)
            continue
        if isinstance(item, slice):
            start, stop, step, extent = _slice_of(item, axis, shape[axis])
            result.append(extent)
        elif isinstance(item, Tensor) and item.rank == 0 and item.dtype.is_integer:
            start, stop, step, extent = 0, shape[axis], 1, shape[axis]
            positions.append((axis, item))
        else:
            start = integer_index(item, axis, shape[axis])
            stop, step, extent = start + 1, 1, 1
        starts.append(start)
        stops.append(stop)
        steps.append(step)
        sliced.append(extent)
    return BasicIndex(
        tuple(starts), tuple(stops), tuple(steps), tuple(sliced), tuple(positions), tuple(result)
    )


def _completed(key: Any, shape: Shape) -> Sequence[Any]:
    """The items of an index with the ellipsis written out, one for each axis besides None."""
    items = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for i in items if i is not None and i is not Ellipsis)
    places = [n for n, i in enumerate(items) if i is Ellipsis]
    if used > len(shape):
        raise IndexBoundsError(
            f"too many indices: {used} for a tensor of {len(shape)} axes",
            fix="give at most one index for each axis",
        )
    if len(places) > 1:
        raise ArgumentError("an index has more than one '...'", fix="keep one")
    place = places[0] if places else len(items)
    whole = [slice(None)] * (len(shape) - used)
    return [*items[:place], *whole, *items[place + 1 :]]


def _slice_of(item: slice, axis: int, extent: int | Dim) -> tuple[Any, Any, int, Any]:
    """First element, end, step and number of elements of a slice of an axis."""
    if not isinstance(extent, int):
        if item not in (slice(None), slice(None, None, 1)):
            raise ShapeError(
                f"axis {axis} has the symbolic extent {extent}, so only all of it can be sliced",
                fix="declare that extent as a number",
            )
        return 0, extent, 1, extent
    try:
        if item.step is not None and operator.index(item.step) == 0:
            raise ArgumentError("a slice step is 0", fix="use a positive or a negative step")
        start, stop, step = item.indices(extent)
    except TypeError as error:
        if isinstance(error, ArgumentError):
            raise
        raise ArgumentError(
            f"the bounds of the slice of axis {axis} are not integers: {item!r}",
            fix="convert them with int()",
        ) from None
    count = len(range(start, stop, step))
    if not count:
        return 0, 0, 1, 0
    last = start + (count - 1) * step
    return start, last + 1 if step > 0 else last - 1, step, count


def integer_index(item: Any, axis: int, extent: int | Dim) -> Any:
    """A known index of an axis, counted from the start.

    Raises:
        IndexBoundsError: it lies outside the axis.
        ArgumentError: no integer.
    """
    if not hasattr(item, "__index__"):
        raise ArgumentError(
            f"an index is an int, a slice, None or ..., got {type(item).__name__}",
            where=str(caller_location()),
            fix="convert it with int()",
        )
    number = operator.index(item)
    if isinstance(extent, int) and not -extent <= number < extent:
        raise IndexBoundsError(
            f"index {number} is out of bounds for axis {axis} of extent {extent}",
            where=str(caller_location()),
            fix=f"use {-extent} to {extent - 1}" if extent else "the axis is empty",
        )
    return extent + number if number < 0 else number
