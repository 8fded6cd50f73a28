"""Transposes through tiles: reads along one axis and writes along another, both contiguous.

A square tile of what is read along the wrong axis goes through memory of the group; its lines are
one element longer than the tile, so that a column of it lies in different banks.
"""

from __future__ import annotations

from math import prod
from typing import Final

from realta.codegen.indices import Index
from realta.codegen.ir import Buffer, Expr, Load
from realta.codegen.lower_frame import Frame, Place, Read
from realta.codegen.lower_loops import balanced
from realta.codegen.lower_maps import unravel
from realta.codegen.lower_members import Body, Members, Values, zero
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import negated
from realta.codegen.writer import both, inside
from realta.records import Record

__all__ = ["Tiling", "find_tiling", "write_tiles"]

_SQUARE: Final = 8
"""Edge of a square of tiles, in tiles."""
_SHORT: Final = 8
"""Along shorter axes tiles are mostly empty."""


class Tiling(Record):
    """How a transposing kernel is cut.

    Args:
        frame: the loops.
        axis: the loop along which the reads are contiguous; stores are along the last one.
        reads: what goes through tiles.
        edge: edge of a tile.
        per_group: tiles that a group takes.
    """

    __slots__ = ("axis", "edge", "frame", "per_group", "reads")

    frame: Frame
    axis: int
    reads: tuple[Read, ...]
    edge: int
    per_group: int

    def __init__(
        self, frame: Frame, axis: int, reads: tuple[Read, ...], edge: int, per_group: int
    ) -> None:
        self._set(axis, edge, frame, per_group, reads)

    @property
    def order(self) -> tuple[int, ...]:
        """The loops in the order in which tiles are taken: neighbours are read one by one."""
        others = [n for n in range(len(self.frame.kept) - 1) if n != self.axis]
        return (*others, len(self.frame.kept) - 1, self.axis)

    @property
    def counts(self) -> tuple[int, ...]:
        """Tiles along each loop of `order`: those of the two axes are cut, others are walked."""
        extents = [self.frame.kept[n] for n in self.order]
        return (*extents[:-2], *(-(-n // self.edge) for n in extents[-2:]))

    @property
    def tiles(self) -> int:
        """Number of tiles."""
        return prod(self.counts)

    def at(self, tile: Index) -> tuple[Index, ...]:
        """Where a tile is along each loop of the frame.

        Tiles are taken in squares of them where those fit, so that the short lines that one tile
        reads or writes are soon followed by their neighbours.
        """
        *others, high, wide = self.counts
        if high % _SQUARE or wide % _SQUARE:
            turns = list(unravel(tile, self.counts))
        else:
            squares = (*others, high // _SQUARE, wide // _SQUARE, _SQUARE, _SQUARE)
            *turns, down, across, row, column = unravel(tile, squares)
            turns += [down * _SQUARE + row, across * _SQUARE + column]
        found = dict(zip(self.order, turns, strict=True))
        return tuple(found[n] for n in range(len(found)))

    @property
    def groups(self) -> int:
        """Number of groups."""
        return -(-self.tiles // self.per_group)

    def text(self) -> str:
        """The schedule in a few words."""
        return f"{self.tiles} tiles of {self.edge} x {self.edge}, {len(self.reads)} transposed"


def find_tiling(members: Members, frame: Frame, profile: DeviceProfile) -> Tiling | None:
    """The tiling of an elementwise group; None if no read runs along another axis than stores."""
    kept = frame.kept
    if len(kept) < 2 or kept[-1] < _SHORT:
        return None
    by_axis: dict[int, list[Read]] = {}
    for read in members.reads:
        axis = _contiguous_axis(frame.places[read], kept)
        if axis is not None and axis != len(kept) - 1:
            by_axis.setdefault(axis, []).append(read)
    if not by_axis:
        return None
    axis = max(by_axis, key=lambda n: len(by_axis[n]))
    edge = min(profile.tile, profile.lanes)
    room = profile.scratch_bytes
    chosen = []
    for read in by_axis[axis]:
        needed = edge * (edge + 1) * read[0].type.dtype.itemsize
        if needed <= room:
            room -= needed
            chosen.append(read)
    if not chosen:
        return None
    plain = Tiling(frame, axis, tuple(chosen), edge, 1)
    per_group = balanced(plain.tiles, max(1, profile.chunk // edge**2)).turns
    return Tiling(frame, axis, tuple(chosen), edge, per_group)


def _contiguous_axis(place: Place, kept: tuple[int, ...]) -> int | None:
    """The loop along which a value is contiguous, if it also varies along the last loop."""
    strides = place.strides
    if strides is None or abs(strides[-1]) < 2:
        return None
    for axis, stride in enumerate(strides):
        if stride == 1 and kept[axis] >= _SHORT:
            return axis
    return None


def write_tiles(body: Body, tiling: Tiling, profile: DeviceProfile) -> None:
    """Writes the loops over tiles."""
    writer = body.writer
    size = tiling.edge * (tiling.edge + 1)
    buffers = {
        read: writer.allocate(read[0].type.dtype, size, "group", "tile") for read in tiling.reads
    }
    with writer.loop(tiling.per_group, "tile") as turn:
        tile = writer.group * tiling.per_group + turn
        with writer.when(inside(tile, tiling.tiles)):
            _Tile(body, tiling, buffers, tiling.at(tile)).write(profile)
        if tiling.per_group > 1:
            writer.barrier()


class _Tile:
    """One tile: filled along the reads' axis, then computed and stored along the last one."""

    def __init__(
        self, body: Body, tiling: Tiling, buffers: dict[Read, Buffer], at: tuple[Index, ...]
    ) -> None:
        self.body = body
        self.writer = body.writer
        self.tiling = tiling
        self.buffers = buffers
        self.at = at
        self.last = len(at) - 1
        self.across = self.writer.lanes // tiling.edge
        """Lines of a tile that the lanes take at once."""

    def write(self, profile: DeviceProfile) -> None:
        if profile.realization == "items":
            self._write(whole=False)
            return
        extents, edge = self.tiling.frame.kept, self.tiling.edge
        bounds = [
            inside(self.at[axis], extents[axis] // edge) for axis in (self.tiling.axis, self.last)
        ]
        whole = both(*bounds)
        if extents[self.tiling.axis] >= edge and extents[self.last] >= edge:
            with self.writer.when(whole):
                self._write(whole=True)
        if whole is not None:
            with self.writer.when(negated(whole)):
                self._write(whole=False)

    def _write(self, *, whole: bool) -> None:
        edge = self.tiling.edge
        line, along = self.writer.lane // edge, self.writer.lane % edge
        with self.writer.loop(edge // self.across, "line", unroll=self.across == 1) as turn:
            number = turn * self.across + line
            index, where = self._place(along, number, whole)
            for read, buffer in self.buffers.items():
                memory = self.body.buffer_of(read[0])
                place = self.tiling.frame.at(self.tiling.frame.places[read], index)
                default = None if where is None else zero(memory.dtype)
                value = Load(memory, place, where, default)
                self.writer.store(buffer, number * (edge + 1) + along, value)
        self.writer.barrier()
        with self.writer.loop(edge // self.across, "line") as turn:
            number = turn * self.across + line
            index, where = self._place(number, along, whole)
            values: Values = {}
            for read, buffer in self.buffers.items():
                values[read] = self.writer.load(buffer, along * (edge + 1) + number)
            self._compute(index, values, where)

    def _place(
        self, first: Index, last: Index, whole: bool
    ) -> tuple[tuple[Index, ...], Expr | None]:
        """Turns of the loops for a place in the tile, and whether they are inside."""
        edge, axis, extents = self.tiling.edge, self.tiling.axis, self.tiling.frame.kept
        index = list(self.at)
        index[axis] = index[axis] * edge + first
        index[self.last] = index[self.last] * edge + last
        where = None
        if not whole:
            bounds = [inside(index[n], extents[n]) for n in (axis, self.last)]
            where = both(*bounds)
        return tuple(index), where

    def _compute(self, index: tuple[Index, ...], values: Values, where: Expr | None) -> None:
        frame, members = self.tiling.frame, self.body.members

        def at(place: Place) -> Index:
            return frame.at(place, index)

        self.body.compute(members.computing, values, at, where)
        for output, source in members.stores:
            self.body.store(output, source, values, at, where)
