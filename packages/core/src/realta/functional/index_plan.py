"""IndexPlan: how the elements that index arrays choose are met by one gather or one scatter.

The indexed axes are made one axis. Where they stand together that is a reshape; where they do not,
either they are brought to the front, or, if few elements are chosen from many, every one of them
gets its row-major position.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from realta.context import caller_location
from realta.errors import IndexBoundsError, ShapeError
from realta.functional.basic_index import basic_index
from realta.functional.gathering import known_index
from realta.functional.index_key import ArrayItem, IndexKey
from realta.functional.replay import Static
from realta.tensor import Tensor
from realta.types import Shape, broadcast_shapes

__all__ = ["IndexPlan", "IndexedAxes", "mask_plan", "plan_of", "result_shape"]

Array = NDArray[Any]
Path = Literal["lines", "front", "positions"]
_FEW: Final = 4
"""Positions are worth their making if the chosen elements are this many times fewer than all."""


class IndexedAxes(Static):
    """Axes that one array indexes as one.

    Attributes:
        axis: the first of them in the slice.
        span: how many they are; none for a 0-d mask, which indexes a new axis of extent 1.
        extent: of all of them together.
        original: the first of them in the tensor, for errors.
        known: whether its indices were checked and count from the start.
    """

    __slots__ = ("axis", "extent", "known", "original", "span")

    def __init__(self, axis: int, span: int, extent: Any, original: int, known: bool) -> None:
        self.axis = axis
        self.span = span
        self.extent = extent
        self.original = original
        self.known = known

    def _values(self) -> tuple[Any, ...]:
        return (self.axis, self.span, self.extent, self.original, self.known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IndexedAxes) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())


class IndexPlan(Static):
    """What is done for an index with arrays; hashable, so that programs are found by it.

    Attributes:
        start, stop, step: the slice that the other items take.
        sliced: its extents.
        kept: its extents without the axes that ints drop.
        groups: the indexed axes, in order.
        layout: the other axes of the result in order: an axis of ``kept``, or None for a new one.
        place: how many of ``layout`` come before the axes of the arrays.
        path: how the axes become one.
        joined: whether there is one array of indices into all indexed axes, or one for each group.
    """

    __slots__ = (
        "groups", "joined", "kept", "layout", "path", "place", "sliced", "start", "step", "stop",
    )  # fmt: skip

    start: tuple[Any, ...]
    stop: tuple[Any, ...]
    step: tuple[int, ...]
    sliced: Shape
    kept: Shape
    groups: tuple[IndexedAxes, ...]
    layout: tuple[int | None, ...]
    place: int
    path: Path
    joined: bool

    def _values(self) -> tuple[Any, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])

    def __repr__(self) -> str:
        return "index"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IndexPlan) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    @property
    def others(self) -> tuple[int, ...]:
        """Axes of ``kept`` that no array indexes."""
        return tuple([axis for axis in self.layout if axis is not None])

    @property
    def before(self) -> int:
        """How many of them come before the axes of the arrays."""
        return sum(axis is not None for axis in self.layout[: self.place])

    @property
    def strides(self) -> tuple[int, ...]:
        """What one step of each group is worth in an index of all of them."""
        if self.path == "positions":
            last = [g.axis + g.span for g in self.groups]
            kept: tuple[Any, ...] = self.kept
            return tuple([prod(kept[n:]) for n in last])
        extents = [g.extent for g in self.groups]
        return tuple([prod(extents[n + 1 :]) for n in range(len(extents))])


def result_shape(plan: IndexPlan, chosen: Shape) -> Shape:
    """The result's shape where the arrays broadcast to ``chosen``."""
    rest = [1 if axis is None else plan.kept[axis] for axis in plan.layout]
    return (*rest[: plan.place], *chosen, *rest[plan.place :])


def plan_of(
    key: IndexKey, shape: Shape, device: str, *, writing: bool
) -> tuple[IndexPlan, list[Tensor]]:
    """The plan of an index whose masks are all known, and its index tensors.

    Args:
        key: the index.
        shape: of the tensor that is indexed.
        device: where the index tensors are to be.
        writing: whether elements are written rather than read.

    Raises:
        IndexBoundsError: a known index is out of range.
        ShapeError: the arrays do not broadcast, or an indexed extent is symbolic.
    """
    folds = (
        bool(key.arrays)
        and not key.front
        and all(isinstance(i.data, np.ndarray) for i in key.arrays)
    )
    plan, data = _laid_out(_folded(key) if folds else key, shape)
    chosen = _broadcast([d.shape for d in data])
    plan.path = _path(plan, chosen, writing)
    plan.joined = all(g.known for g in plan.groups)
    if plan.joined:
        total: Any = 0
        for index, stride in zip(data, plan.strides, strict=True):
            total = total + index * stride
        return plan, [known_index(np.asarray(total, np.int64), device)]
    return plan, [
        d if isinstance(d, Tensor) else known_index(d.astype(np.int64), device) for d in data
    ]


def mask_plan(key: IndexKey, shape: Shape) -> IndexPlan:
    """The plan of an index with one mask, whose elements are not looked at.

    Raises:
        IndexBoundsError: an int is out of range.
    """
    plan, _ = _laid_out(key, shape)
    plan.path, plan.joined = "lines", False
    return plan


def _folded(key: IndexKey) -> IndexKey:
    """The index with ints beside arrays as arrays, so that one program serves every int."""
    items: list[Any] = []
    axis = 0
    for item in key.items:
        if type(item) is int:
            made = ArrayItem(np.asarray(item), False)
            made.axis = axis
            item = made
        items.append(item)
        axis += item.span if type(item) is ArrayItem else int(item is not None)
    return IndexKey(items, [i for i in items if type(i) is ArrayItem], key.front)


def _laid_out(key: IndexKey, shape: Shape) -> tuple[IndexPlan, list[Any]]:
    """The plan but for its path, and the indices of each group."""
    plan = IndexPlan()
    found = basic_index(_without_positions(key), shape)
    plan.start, plan.stop, plan.step, plan.sliced = (
        found.start,
        found.stop,
        found.step,
        found.sliced,
    )
    kept: list[Any] = []
    groups: list[IndexedAxes] = []
    layout: list[int | None] = []
    data: list[Any] = []
    place, axis = -1, 0
    for item in key.items:
        if item is None:
            layout.append(None)
        elif isinstance(item, slice):
            layout.append(len(kept))
            kept.append(found.sliced[axis])
            axis += 1
        else:
            place = len(layout) if place < 0 else place
            span = item.span if type(item) is ArrayItem else 1
            if type(item) is not int:
                indices, extent = _indices(item, axis, shape)
                known = not isinstance(indices, Tensor)
                groups.append(IndexedAxes(len(kept), span, extent, axis, known))
                kept += shape[axis : axis + span]
                data.append(indices)
            axis += span
    plan.kept, plan.groups, plan.layout = tuple(kept), tuple(groups), tuple(layout)
    plan.place = 0 if key.front else place
    return plan, data


def _without_positions(key: IndexKey) -> tuple[Any, ...]:
    return tuple([slice(None) if isinstance(item, Tensor) else item for item in key.basic])


def _indices(item: Any, axis: int, shape: Shape) -> tuple[Any, Any]:
    """The indices of one group, counted from the start if they are known, and its extent."""
    if isinstance(item, Tensor):
        return item, shape[axis]
    extents = shape[axis : axis + item.span]
    if item.is_mask and isinstance(item.data, Tensor):
        return item.data, None
    for extent in extents:
        if not isinstance(extent, int):
            raise ShapeError(
                f"axis {axis} has the symbolic extent {extent}, so arrays cannot index it",
                fix="declare that extent as a number, or use F.gather with mode=",
            )
    extent = prod(extents)
    if isinstance(item.data, Tensor):
        return item.data, extent
    if item.is_mask:
        chosen = np.flatnonzero(item.data) if item.span else np.zeros(int(item.data), np.int64)
        return chosen, extent
    wrong = item.data[(item.data < -extent) | (item.data >= extent)]
    if wrong.size:
        raise IndexBoundsError(
            f"index {int(wrong.flat[0])} is out of bounds for axis {axis} of extent {extent}",
            where=str(caller_location()),
            fix=f"use {-extent} to {extent - 1}" if extent else "the axis is empty",
        )
    wide = item.data.astype(np.int64)
    return np.where(wide < 0, wide + extent, wide), extent


def _broadcast(shapes: list[Shape]) -> Shape:
    try:
        return broadcast_shapes(*shapes)
    except ShapeError as error:
        shown = " and ".join(map(str, shapes))
        raise ShapeError(
            f"the index arrays of shapes {shown} do not broadcast together",
            where=str(caller_location()),
            fix="make their shapes equal, or add axes of extent 1",
        ) from error


def _path(plan: IndexPlan, chosen: Shape, writing: bool) -> Path:
    ends = [g.axis + g.span for g in plan.groups]
    if all(g.axis == end for g, end in zip(plan.groups[1:], ends, strict=False)):
        return "lines"
    sizes = (*plan.kept, *chosen)
    if any(not isinstance(extent, int) for extent in sizes):
        return "front"
    elements = prod(chosen) * prod([plan.kept[axis] for axis in plan.others])
    return "positions" if writing or elements * _FEW < prod(plan.kept) else "front"
