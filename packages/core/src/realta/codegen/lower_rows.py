"""Rows: reductions whose terms lie along the lanes, one row per segment of lanes or per group.

The program of a row: for each walk its reductions in the order of the canonical tree, then what
is computed of their results; the last walk stores what is as long as the row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Buffer, Expr, compute_type
from realta.codegen.lower_loops import At, balanced
from realta.codegen.lower_maps import unravel
from realta.codegen.lower_members import Body, Values, zero
from realta.codegen.lower_passes import Passes
from realta.codegen.lower_reducer import Parts, Reducer
from realta.codegen.lower_tree import across_lanes, block_across_lanes
from realta.codegen.profile import DeviceProfile
from realta.codegen.writer import KernelWriter, both, inside
from realta.graph import Node

__all__ = ["Partials", "RowProgram", "RowShape", "partial_terms"]

Partials = Mapping[Node, tuple[Buffer, ...]]
"""Results of blocks that an earlier launch left, for each reduction and part."""


class RowShape:
    """How rows are shared out.

    Args:
        rows: number of rows.
        terms: terms of a row.
        profile: the device.
        walks: the reductions of each walk.

    Attributes:
        wide: whether all segments of a group work on one row.
        segments: segments of a group.
        turns: rows that a segment takes one after the other.
        groups: number of groups.
    """

    def __init__(
        self, rows: int, terms: int, profile: DeviceProfile, walks: Sequence[Sequence[Reducer]]
    ) -> None:
        self.rows = rows
        self.width = profile.tree.lanes
        self.segments = profile.lanes // self.width
        blocks = -(-terms // profile.tree.block)
        needed = blocks * sum(reducer.itemsize for walk in walks for reducer in walk)
        self.wide = self.segments > 1 and blocks > 1 and needed <= profile.scratch_bytes
        self.turns = 1
        if profile.realization != "items":
            self.turns = balanced(rows, profile.chunk // max(1, terms)).turns
        each = 1 if self.wide else self.segments
        self.groups = -(-rows // (each * self.turns))


def partial_terms(
    writer: KernelWriter,
    partials: Partials,
    reducers: Sequence[Reducer],
    index: Index,
    where: Expr | None,
) -> list[Parts]:
    """Results of a block, one for each reduction, as terms of the next level."""
    found = []
    for reducer in reducers:
        parts = []
        for buffer in partials[reducer.node]:
            default = None if where is None else zero(buffer.dtype)
            parts.append(writer.load(buffer, index, where, default, "part"))
        found.append(tuple(parts))
    return found


class RowProgram:
    """Writes a group of rows.

    Args:
        body: the kernel with the group's members.
        passes: the walks.
        shape: how rows are shared out.
        profile: the device.
        terms: number of terms of the reductions: those of the row, or blocks in `partials`.
        partials: results of blocks that an earlier launch left.
        over_nothing: whether the rows have no elements.
    """

    def __init__(
        self, body: Body, passes: Passes, shape: RowShape, profile: DeviceProfile, terms: int,
        partials: Partials | None = None, over_nothing: bool = False,
    ) -> None:  # fmt: skip
        self.body = body
        self.writer = body.writer
        self.members = body.members
        self.frame = body.frame
        self.passes = passes
        self.shape = shape
        self.profile = profile
        self.count = terms
        self.partials = partials
        self.over_nothing = over_nothing
        self.lane = self.writer.lane % shape.width
        self.segment = self.writer.lane // shape.width
        self.scratch: dict[Node, Buffer] = {}
        self.values: Values = {}
        self.row: Index = Number(0)
        self.where: Expr | None = None

    def write(self) -> None:
        """Writes the loop over rows."""
        for node in (n for nodes in self.passes.keeps for n in nodes):
            register = compute_type(node.type.dtype)
            self.scratch[node] = self.writer.allocate(register, self.count, "group", "kept")
        shape = self.shape
        with self.writer.loop(shape.turns, "row") as turn:
            number = self.writer.group * shape.turns + turn
            if shape.wide or shape.segments == 1:
                self.row = number
                with self.writer.when(inside(number, shape.rows)):
                    self._write_row()
            else:
                self.row = number * shape.segments + self.segment
                self.where = inside(self.row, shape.rows)
                self._write_row()

    def _write_row(self) -> None:
        self.values = {}
        self.kept = unravel(self.row, self.frame.kept)
        if self.partials is None:
            for read in self.members.reads:
                strides = self.frame.places[read].strides
                if strides is not None and not any(strides[len(self.kept) :]):
                    self.body.read(read, self.values, self._at_row(), self.where)
        for number in range(self.passes.count):
            self.body.compute(
                self.passes.row_nodes[number], self.values, self._at_row(), self.where
            )
            reductions = self.passes.reductions[number]
            if reductions:
                self._reduce(number, [Reducer(node) for node in reductions])
            elif self.passes.stores[number]:
                self._walk(number)
        first = inside(self.writer.lane if self.shape.wide else self.lane, 1)
        for output, source in self.passes.row_stores:
            where = both(self.where, first)
            self.body.store(output, source, self.values, self._at_row(), where)

    def _at_row(self) -> At:
        nothing = [Number(0)] * len(self.frame.reduced)
        return lambda place: self.frame.at(place, self.kept, nothing)

    def _at(self, term: Index) -> At:
        along = unravel(term, self.frame.reduced)
        return lambda place: self.frame.at(place, self.kept, along)

    # -- walks ------------------------------------------------------------------------------------

    def _reduce(self, number: int, reducers: Sequence[Reducer]) -> None:
        if self.over_nothing:
            self.values |= {r.node: r.over_nothing() for r in reducers}
            return

        def terms(term: Index, where: Expr | None) -> list[Parts]:
            return self._terms(number, reducers, term, where)

        tree = self.profile.tree
        if self.shape.wide and self.count > tree.block:
            found = self._reduce_wide(number, reducers)
        else:
            streams = 1 if self.shape.segments > 1 else 4
            found = across_lanes(
                self.writer, tree, reducers, self.count, self.lane, terms, streams=streams
            )
        for reducer, parts in zip(reducers, found, strict=True):
            self.values[reducer.node] = self.writer.let(reducer.result(parts), "result")

    def _terms(
        self, number: int, reducers: Sequence[Reducer], term: Index, where: Expr | None
    ) -> list[Parts]:
        """One term of each reduction of a walk."""
        if self.partials is not None:
            index = self.row * self.count + term
            where = both(self.where, where)
            return partial_terms(self.writer, self.partials, reducers, index, where)
        values, at = dict(self.values), self._at(term)
        predicate = both(self.where, where)
        self._elements(number, values, term, at, predicate)
        found = []
        for reducer in reducers:
            value = self.body.operand(reducer.node.operands[0], "full", values, at, predicate)
            found.append(reducer.term(value, term))
        return found

    def _elements(
        self, number: int, values: Values, term: Index, at: At, where: Expr | None
    ) -> None:
        """Computes the members of a walk at one term; keeps and stores what is to be."""
        for node in self.passes.reads_back[number]:
            buffer = self.scratch[node]
            default = None if where is None else zero(buffer.dtype)
            values[node] = self.writer.load(buffer, term, where, default, "back")
        self.body.compute(self.passes.full_nodes[number], values, at, where)
        for node in self.passes.keeps[number]:
            self.writer.store(self.scratch[node], term, values[node], where)
        for output, source in self.passes.stores[number]:
            self.body.store(output, source, values, at, where)

    def _walk(self, number: int) -> None:
        """A walk that only stores."""
        lanes = self.writer.lanes if self.shape.wide else self.shape.width
        lane = self.writer.lane if self.shape.wide else self.lane
        whole = self.count // lanes
        with self.writer.loop(whole, "turn") as turn:
            term = turn * lanes + lane
            self._elements(number, dict(self.values), term, self._at(term), self.where)
        if self.count % lanes:
            term = lane + whole * lanes
            where = both(self.where, inside(lane, self.count % lanes))
            self._elements(number, dict(self.values), term, self._at(term), where)

    def _reduce_wide(self, number: int, reducers: Sequence[Reducer]) -> list[Parts]:
        """The segments take blocks in turn; then each reduces the results of all blocks."""
        tree, writer = self.profile.tree, self.writer
        blocks = -(-self.count // tree.block)
        arrays = [
            [writer.allocate(d, blocks, "group", "blocks") for d in r.dtypes] for r in reducers
        ]
        whole = self.count // tree.block // self.shape.segments
        with writer.loop(whole, "block") as turn:
            self._wide_turn(number, reducers, turn, arrays, full=True)
        if blocks > whole * self.shape.segments:
            with writer.loop(-(-blocks // self.shape.segments) - whole, "block") as turn:
                self._wide_turn(number, reducers, turn + whole, arrays, full=False)
        writer.barrier()

        partials = {r.node: tuple(b) for r, b in zip(reducers, arrays, strict=True)}

        def terms(term: Index, where: Expr | None) -> list[Parts]:
            return partial_terms(writer, partials, reducers, term, where)

        found = across_lanes(writer, tree, reducers, blocks, self.lane, terms, streams=1)
        if self.shape.turns > 1:
            writer.barrier()
        return found

    def _wide_turn(
        self, number: int, reducers: Sequence[Reducer], turn: Index,
        arrays: Sequence[Sequence[Buffer]], *, full: bool,
    ) -> None:  # fmt: skip
        tree, writer = self.profile.tree, self.writer
        block = turn * self.shape.segments + self.segment

        def terms(term: Index, where: Expr | None) -> list[Parts]:
            where = None if full else inside(term, self.count)
            found = self._terms(number, reducers, term, where)
            return [r.chosen(where, parts) for r, parts in zip(reducers, found, strict=True)]

        results = block_across_lanes(
            writer, tree, reducers, [block * tree.block], tree.block, self.lane, terms
        )[0]
        where = both(inside(self.lane, 1), inside(block, -(-self.count // tree.block)))
        for buffers, parts in zip(arrays, results, strict=True):
            for buffer, part in zip(buffers, parts, strict=True):
                writer.store(buffer, block, part, where)
