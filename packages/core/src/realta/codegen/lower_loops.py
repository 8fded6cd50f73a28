"""Loops over elements: how elementwise work is cut into groups, turns and lanes.

Whole vectors are computed without a predicate; only what is left at an end takes one. On a GPU,
where a predicate costs nothing, every lane has it instead, and the code is there once; unless a
lane takes several neighbouring elements at once, which it can only do without a predicate.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
EmitWide = Callable[[Sequence[At]], None]
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
        width: neighbouring elements that a lane takes at once.
    """

    __slots__ = ("inner", "rows", "rows_per_group", "shares", "width")

    rows: int
    inner: int
    shares: Cut
    rows_per_group: int
    width: int

    def __init__(
        self, rows: int, inner: int, shares: Cut, rows_per_group: int, width: int = 1
    ) -> None:
        self._set(inner, rows, rows_per_group, shares, width)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return self.shares.groups * -(-self.rows // self.rows_per_group)


def element_loops(frame: Frame, profile: DeviceProfile, width: int = 1) -> ElementLoops:
    """How the kept loops of a frame are cut on a device.

    Args:
        frame: the loops.
        profile: the device.
        width: most neighbouring elements that a lane may take at once, a power of two.
    """
    wide = _wide_loops(frame, profile, width) if width > 1 else None
    if wide is not None:
        return wide
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


def _wide_loops(frame: Frame, profile: DeviceProfile, width: int) -> ElementLoops | None:
    """Loops in which lanes take several elements at once; None if rows are too short for that."""
    inner = frame.rows
    rows = 1
    if len(frame.kept) > 1 and frame.kept[-1] >= _WIDE * profile.lanes:
        inner, rows = frame.kept[-1], prod(frame.kept[:-1])
    # Rows begin where lanes can still move so many elements at once.
    while width > 1 and (inner < profile.lanes * width or (rows > 1 and inner % width)):
        width //= 2
    if width == 1:
        return None
    most = max(1, profile.chunk // (profile.lanes * width))
    vectors = vectors_of(inner, profile.lanes * width)
    return ElementLoops(rows, inner, balanced(vectors, most), 1, width)


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
        self.predicated = profile.realization == "items" and loops.width == 1

    def run(self, before: Callable[[At], None], emit: Emit, emit_wide: EmitWide | None) -> None:
        self.emit_wide = emit_wide
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
        turns, inner = self.loops.shares.turns, self.loops.inner
        if self.predicated:
            self._vectors(row, share * turns, turns, emit)
            return
        vector = self.writer.lanes * self.loops.width
        whole = inner // vector
        full = whole // turns  # shares without a predicate
        if full:
            with self.writer.when(inside(share, full)):
                self._whole(row, share * turns, turns, emit)
        if full == self.loops.shares.groups:
            return
        with self.writer.when(not_below(share, full)):
            self._whole(row, Number(full * turns), whole - full * turns, emit)
            rest = vectors_of(inner - whole * vector, self.writer.lanes)
            self._vectors(row, Number(whole * self.loops.width), rest, emit)

    def _whole(self, row: Index, first: Index, count: int, emit: Emit) -> None:
        """Vectors of which each lane has `width` elements."""
        if self.emit_wide is None or self.loops.width == 1:
            self._vectors(row, first, count, emit)
            return
        if count == 0:
            return
        width = self.loops.width
        with self.writer.loop(count, "vector") as turn:
            column = ((first + turn) * self.writer.lanes + self.writer.lane) * width
            self.emit_wide([self._at(row, column + part) for part in range(width)])

    def _vectors(self, row: Index, first: Index, count: int, emit: Emit) -> None:
        if count == 0:
            return
        with self.writer.loop(count, "vector") as turn:
            column = (first + turn) * self.writer.lanes + self.writer.lane
            where = None
            whole = self.loops.inner // self.writer.lanes // self.loops.width * self.loops.width
            if self.predicated or first == Number(whole):
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
    emit_wide: EmitWide | None = None,
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
        emit_wide: writes the work on neighbouring vectors of which each lane has one element each;
            needed where the loops have a width.
    """
    number = writer.group if group is None else group
    _Walk(writer, frame, loops, profile, number).run(before, emit, emit_wide)
