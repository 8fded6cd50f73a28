"""Loops over elements: how elementwise work is cut into groups, turns and lanes.

Whole vectors are computed without a predicate; only what is left at an end takes one. On a GPU,
where a predicate costs nothing, every lane has it instead, and the code is there once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Expr
from realta.codegen.lower_frame import Frame, Place
from realta.codegen.lower_maps import unravel
from realta.codegen.profile import DeviceProfile
from realta.codegen.writer import KernelWriter, inside, not_below
from realta.records import Record

__all__ = [
    "Cut", "ElementLoops", "balanced", "element_loops", "vectors_of",
    "write_element_loops",
]  # fmt: skip

At = Callable[[Place], Index]
Emit = Callable[[At, Expr | None], None]
_WIDE = 4
"""Rows of at least this many vectors are walked row by row even if they end in a part of one."""


def vectors_of(elements: int, lanes: int) -> int:
    """Vectors of lanes that hold so many elements."""
    return -(-elements // lanes)


class Cut(Record):
    """Work in equal shares.

    Args:
        groups: number of shares.
        turns: pieces of work of a share; the last one may have fewer.
    """

    __slots__ = ("groups", "turns")

    groups: int
    turns: int

    def __init__(self, groups: int, turns: int) -> None:
        self._set(groups, turns)


def balanced(pieces: int, most: int) -> Cut:
    """Shares of at most so many pieces, all equal if a slightly larger number of them is."""
    groups = max(1, -(-pieces // max(1, most)))
    for count in range(groups, min(pieces, groups * 2) + 1):
        if pieces % count == 0:
            return Cut(count, pieces // count)
    turns = -(-pieces // groups)
    return Cut(-(-pieces // turns), turns)


class ElementLoops(Record):
    """The cut of the kept loops of a frame.

    Args:
        rows: turns of the outer loops, which are walked one by one; 1 if all loops are one.
        inner: elements of a row.
        shares: groups per row, and vectors that each takes; if a group takes several rows, one.
        rows_per_group: rows that a group takes.
    """

    __slots__ = ("inner", "rows", "rows_per_group", "shares")

    rows: int
    inner: int
    shares: Cut
    rows_per_group: int

    def __init__(self, rows: int, inner: int, shares: Cut, rows_per_group: int) -> None:
        self._set(inner, rows, rows_per_group, shares)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.shares.groups * -(-self.rows // self.rows_per_group)


def element_loops(frame: Frame, profile: DeviceProfile) -> ElementLoops:
    """How the kept loops of a frame are cut on a device."""
    lanes = profile.lanes
    most = max(1, profile.chunk // lanes)
    inner = frame.kept[-1] if frame.kept else 1
    by_rows = len(frame.kept) > 1 and (
        inner >= _WIDE * lanes or (inner >= lanes and inner % lanes == 0)
    )
    if not by_rows:
        return ElementLoops(1, frame.rows, balanced(vectors_of(frame.rows, lanes), most), 1)
    rows = prod(frame.kept[:-1])
    vectors = vectors_of(inner, lanes)
    if vectors >= most:
        return ElementLoops(rows, inner, balanced(vectors, most), 1)
    return ElementLoops(rows, inner, Cut(1, vectors), balanced(rows, most // vectors).turns)


class _Walk:
    """Writes the loops."""

    def __init__(
        self,
        writer: KernelWriter,
        frame: Frame,
        loops: ElementLoops,
        profile: DeviceProfile,
        group: Index,
    ) -> None:
        self.writer = writer
        self.group = group
        self.frame = frame
        self.loops = loops
        self.predicated = profile.realization == "items"

    def run(self, before: Callable[[At], None], emit: Emit) -> None:
        loops, group = self.loops, self.group
        if loops.rows_per_group == 1:
            share = group % loops.shares.groups
            self._row(group // loops.shares.groups, share, before, emit)
            return
        with self.writer.loop(loops.rows_per_group, "row") as turn:
            row = group * loops.rows_per_group + turn
            with self.writer.when(inside(row, loops.rows)):
                self._row(row, Number(0), before, emit)

    def _row(self, row: Index, share: Index, before: Callable[[At], None], emit: Emit) -> None:
        before(self._at(row, Number(0)))
        turns, inner, lanes = self.loops.shares.turns, self.loops.inner, self.writer.lanes
        if self.predicated:
            self._vectors(row, share * turns, turns, emit)
            return
        whole = inner // lanes
        full = whole // turns  # shares without a predicate
        if full:
            with self.writer.when(inside(share, full)):
                self._vectors(row, share * turns, turns, emit)
        if full == self.loops.shares.groups:
            return
        with self.writer.when(not_below(share, full)):
            self._vectors(row, Number(full * turns), whole - full * turns, emit)
            if inner % lanes:
                self._vectors(row, Number(whole), 1, emit)

    def _vectors(self, row: Index, first: Index, count: int, emit: Emit) -> None:
        if count == 0:
            return
        with self.writer.loop(count, "vector") as turn:
            column = (first + turn) * self.writer.lanes + self.writer.lane
            where = None
            if self.predicated or first == Number(self.loops.inner // self.writer.lanes):
                where = inside(column, self.loops.inner)
            emit(self._at(row, column), where)

    def _at(self, row: Index, column: Index) -> At:
        frame = self.frame
        if self.loops.rows == 1:
            return lambda place: frame.at_flat(place, column)
        coordinates = (*unravel(row, frame.kept[:-1]), column)
        return lambda place: frame.at(place, coordinates)


def write_element_loops(
    writer: KernelWriter,
    frame: Frame,
    loops: ElementLoops,
    profile: DeviceProfile,
    before: Callable[[At], None],
    emit: Emit,
    *,
    group: Index | None = None,
) -> None:
    """Writes the loops over the kept elements of a frame.

    Args:
        writer: the kernel, of `ElementLoops.groups` groups.
        frame: the loops.
        loops: how they are cut.
        profile: the device.
        before: writes what holds for a whole row, or for all elements, before these.
        emit: writes the work on one vector of elements: given where values lie, and a predicate.
        group: number of the group among those of these loops; the kernel's groups if left out.
    """
    number = writer.group if group is None else group
    _Walk(writer, frame, loops, profile, number).run(before, emit)
