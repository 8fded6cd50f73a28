"""Problems: contractions as batches of matrix products, whatever axes their operands have.

``dot_general`` pairs axes; ``conv_general`` is the product of the windows of an operand, which are
never stored, with a filter.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import prod
from typing import Final

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Apply, Const, Expr, FromIndex
from realta.codegen.lower_frame import (
    Frame,
    IndexMap,
    make_frame,
    map_of_read,
    map_of_store,
    place_of,
)
from realta.codegen.lower_maps import Coordinates, flat_of, unravel
from realta.codegen.lower_members import Members
from realta.codegen.writer import both, inside, not_below
from realta.fusion import Group
from realta.graph import Node, Value
from realta.ops import OpKind
from realta.types import DType, bool_, int32, int64

__all__ = ["Problem", "problem_of"]

Shapes = tuple[tuple[int, ...], ...]


class Problem:
    """A contraction as products of an m × k with a k × n matrix.

    Attributes:
        members: members of the group.
        node: the contraction.
        x: its first operand, y: its second.
        epilogue: members that follow it.
        batches, m, n, k: extents.
        frame: loops over batches, rows, columns and terms, with ``"x"`` and ``"y"`` among the
            places.
    """

    def __init__(self, group: Group) -> None:
        self.members = Members(group)
        computing = self.members.computing
        self.node: Node = next(n for n in computing if n.op.kind is OpKind.CONTRACTION)
        self.x: Value = self.node.operands[0]
        self.y: Value = self.node.operands[1]
        self.epilogue = [n for n in computing if n is not self.node]
        self.dtype: DType = self.node.type.dtype
        self.shapes = self._shapes()
        self.batches, self.m, self.n, self.k = map(prod, self.shapes)
        if self.k:
            self.frame = self._frame(group)

    # What a kind of contraction says: extents of batches, rows, columns and terms; where operands
    # and the result have an element; where x has none.

    def _shapes(self) -> Shapes:
        raise NotImplementedError

    def _x(self, parts: Sequence[Coordinates]) -> Coordinates:
        raise NotImplementedError

    def _y(self, parts: Sequence[Coordinates]) -> Coordinates:
        raise NotImplementedError

    def _result(self, parts: Sequence[Coordinates]) -> Coordinates:
        return (*parts[0], *parts[1], *parts[2])

    def _more(self) -> dict[Hashable, Callable[[Sequence[Coordinates]], Index]]:
        return {}

    def x_where(self, kept: Coordinates, terms: Coordinates) -> Expr | None:
        """Where x has an element; elsewhere it is zero. None: everywhere."""
        return None

    def loops(self, number: int) -> tuple[int, ...]:
        """Extents of the loops over batches, rows or columns."""
        strides = self.frame.places[number].strides or ()
        return tuple(e for e, s in zip(self.frame.kept, strides, strict=False) if s)

    def kept(self, batch: Index, row: Index, column: Index) -> Coordinates:
        """Turns of all loops but those over terms."""
        parts = (unravel(at, self.loops(n)) for n, at in enumerate((batch, row, column)))
        return tuple(turn for part in parts for turn in part)

    def split(self, full: Coordinates) -> list[Coordinates]:
        """The coordinates of batches, rows, columns and terms."""
        found = []
        for shape in self.shapes:
            found.append(full[: len(shape)])
            full = full[len(shape) :]
        return found

    def _frame(self, group: Group) -> Frame:
        shape = tuple(d for part in self.shapes for d in part)
        terms = range(len(shape) - len(self.shapes[3]), len(shape))
        whole = Group(
            "reduce", group.nodes, group.inputs, group.outputs, group.region, shape, tuple(terms),
            group.levels,
        )  # fmt: skip

        def operand(value: Value, at: Callable[..., Coordinates]) -> IndexMap:
            return lambda full: place_of(value, at(self.split(full)), group)

        def part(number: int) -> IndexMap:
            return lambda full: flat_of(self.split(full)[number], self.shapes[number])

        def result(index: IndexMap) -> IndexMap:
            return lambda full: index(self._result(self.split(full)))

        def more(at: Callable[..., Index]) -> IndexMap:
            return lambda full: at(self.split(full))

        maps: dict[Hashable, IndexMap] = {
            "x": operand(self.x, self._x), "y": operand(self.y, self._y)
        }  # fmt: skip
        # Batches, rows and columns stay apart even where they could be one loop.
        maps |= {number: part(number) for number in range(3)}
        maps |= {name: more(at) for name, at in self._more().items()}
        for read in self.members.reads_of(self.epilogue):
            maps[read] = result(map_of_read(read, group))
        for output, source in self.members.stores:
            maps[output] = result(map_of_store(self.members.read_of(source), group))
        return make_frame(whole, maps)


class _Dot(Problem):
    """``dot_general``."""

    def _shapes(self) -> Shapes:
        attrs = self.node.attrs
        x_shape, y_shape = self.x.type.static_shape, self.y.type.static_shape
        self.x_order = _order(len(x_shape), attrs["x_batch"], attrs["x_contract"])
        self.y_order = _order(len(y_shape), attrs["y_batch"], attrs["y_contract"])
        batch, rows, terms = (tuple(x_shape[a] for a in axes) for axes in self.x_order)
        return (batch, rows, tuple(y_shape[a] for a in self.y_order[1]), terms)

    def _x(self, parts: Sequence[Coordinates]) -> Coordinates:
        return _placed(self.x_order, (parts[0], parts[1], parts[3]))

    def _y(self, parts: Sequence[Coordinates]) -> Coordinates:
        return _placed(self.y_order, (parts[0], parts[2], parts[3]))


Order = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]


def _order(rank: int, batch: Sequence[int], contract: Sequence[int]) -> Order:
    """The axes of an operand: of batches, its own, and those it is contracted along."""
    free = tuple(a for a in range(rank) if a not in batch and a not in contract)
    return tuple(batch), free, tuple(contract)


def _placed(order: Order, parts: Sequence[Coordinates]) -> Coordinates:
    """Coordinates of an operand in the order of its axes."""
    axes = [axis for part in order for axis in part]
    found = dict(zip(axes, (c for part in parts for c in part), strict=True))
    return tuple(found[axis] for axis in range(len(axes)))


class _Convolution(Problem):
    """``conv_general``: the groups of channels are batches, windows are rows."""

    def _shapes(self) -> Shapes:
        attrs = self.node.attrs
        result, filter = self.node.type.static_shape, self.y.type.static_shape
        self.groups: int = attrs["groups"]
        self.spatial = len(attrs["strides"])
        return ((self.groups,), result[:-1], (result[-1] // self.groups,), filter[:-1])

    def _place(self, axis: int, parts: Sequence[Coordinates]) -> Index:
        """The place that an element of a window covers, before gaps are taken out."""
        attrs = self.node.attrs
        window: Index = parts[1][1 + axis] * attrs["strides"][axis]
        element: Index = parts[3][axis] * attrs["dilation"][axis]
        low: int = attrs["low"][axis]
        return window + element - low

    def _x(self, parts: Sequence[Coordinates]) -> Coordinates:
        apart = self.node.attrs["input_dilation"]
        places = [self._place(n, parts) // apart[n] for n in range(self.spatial)]
        channel: Index = parts[0][0] * self.y.type.static_shape[-2] + parts[3][-1]
        return (parts[1][0], *places, channel)

    def _y(self, parts: Sequence[Coordinates]) -> Coordinates:
        return (*parts[3], parts[0][0] * self.shapes[2][0] + parts[2][0])

    def _result(self, parts: Sequence[Coordinates]) -> Coordinates:
        return (*parts[1], parts[0][0] * self.shapes[2][0] + parts[2][0])

    def _more(self) -> dict[Hashable, Callable[[Sequence[Coordinates]], Index]]:
        return {("place", n): partial(self._place, n) for n in range(self.spatial)}

    def x_where(self, kept: Coordinates, terms: Coordinates) -> Expr | None:
        """Inside of the operand, and not in a gap."""
        bounds: list[Expr | None] = []
        for axis, apart in enumerate(self.node.attrs["input_dilation"]):
            place = self.frame.at(self.frame.places["place", axis], kept, terms)
            last = (self.x.type.static_shape[1 + axis] - 1) * apart
            bounds += [not_below(place, 0), inside(place, last + 1)]
            gap = place % apart
            if gap != Number(0):
                dtype = int32 if gap.high < 1 << 31 else int64
                bounds.append(Apply("equal", (FromIndex(gap, dtype), Const(0, dtype)), bool_))
        return both(*bounds)


_KINDS: Final[dict[str, type[Problem]]] = {"conv_general": _Convolution, "dot_general": _Dot}


def problem_of(group: Group) -> Problem | None:
    """The problem of a ``contraction`` group; None if its contraction is of no known kind."""
    for node in group.nodes:
        if node.op.kind is OpKind.CONTRACTION:
            kind = _KINDS.get(node.op.name)
            return None if kind is None else kind(group)
    return None
