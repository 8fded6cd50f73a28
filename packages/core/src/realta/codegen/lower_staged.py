"""Staged reductions: few long rows are reduced by many groups, in two launches.

The first leaves the results of blocks in temporaries, the second reduces those. As the canonical
tree has just these blocks, it gives the bits that one launch would.
"""

from __future__ import annotations

from collections.abc import Sequence

from realta.codegen.indices import Index, Number, greatest, least
from realta.codegen.ir import Expr, Role
from realta.codegen.lower_columns import ColumnProgram, ColumnShape, column_shape, write_pieces
from realta.codegen.lower_loops import At, Cut, balanced
from realta.codegen.lower_maps import unravel
from realta.codegen.lower_members import Body, Members, Values
from realta.codegen.lower_passes import Passes
from realta.codegen.lower_reducer import Parts, Reducer
from realta.codegen.lower_rows import Partials, RowProgram, RowShape
from realta.codegen.lower_tree import block_across_lanes, down_columns
from realta.codegen.lowered import Launch, Lowered, Temporary
from realta.codegen.profile import DeviceProfile
from realta.codegen.writer import KernelWriter, both, inside, not_below
from realta.fusion import Group, Limits
from realta.graph import Node, Value

__all__ = ["Staged", "may_stage"]


def may_stage(members: Members, passes: Passes, limits: Limits) -> bool:
    """Whether a group can be reduced in two launches: only results are stored, one walk is made.

    Both launches keep to the device's number of arguments.
    """
    walks = [nodes for nodes in passes.reductions if nodes]
    if len(walks) != 1 or any(passes.stores):
        return False
    if limits.arguments is None:
        return True
    parts = sum(len(Reducer(node).dtypes) for node in walks[0])
    first = _sources(members, _first_nodes(passes)) + parts
    second = _sources(members, _row_nodes(passes)) + parts + len(members.stores)
    return max(first, second) <= limits.arguments


def _first_nodes(passes: Passes) -> list[Node]:
    return [*passes.row_nodes[0], *passes.full_nodes[0], *passes.reductions[0]]


def _row_nodes(passes: Passes) -> list[Node]:
    return [node for nodes in passes.row_nodes for node in nodes]


def _sources(members: Members, nodes: Sequence[Node]) -> int:
    return len(members.sources_of(nodes))


class Staged:
    """Writes both launches.

    Args:
        group: the group.
        members: its members.
        passes: its walks; only the first has reductions.
        profile: the device.
    """

    def __init__(
        self, group: Group, members: Members, passes: Passes, profile: DeviceProfile
    ) -> None:
        self.group = group
        self.members = members
        self.passes = passes
        self.profile = profile
        self.frame = members.frame()
        self.reducers = [Reducer(node) for node in passes.reductions[0]]
        self.blocks = -(-self.frame.terms // profile.tree.block)
        self.full = self.frame.terms // profile.tree.block
        self.tail = self.frame.terms % profile.tree.block
        size = self.frame.rows * self.blocks
        self.temporaries: dict[Node, tuple[Temporary, ...]] = {}
        number = 0
        for reducer in self.reducers:
            parts = []
            for dtype in reducer.dtypes:
                parts.append(Temporary(number, dtype, size))
                number += 1
            self.temporaries[reducer.node] = tuple(parts)

    def lower(self, *, columns: bool) -> Lowered:
        """The kernels."""
        launches = (
            (self._column_blocks(), self._columns())
            if columns
            else (self._row_blocks(), self._rows())
        )
        kind = "columns" if columns else "rows"
        frame = self.frame
        text = f"{frame.rows} {kind} of {frame.terms}, {self.blocks} blocks each in two launches"
        return Lowered(launches, text)

    def _bound(self, writer: KernelWriter, *, output: bool) -> Partials:
        role: Role = "output" if output else "input"
        return {
            node: tuple(writer.argument(t, role, "blocks") for t in parts)
            for node, parts in self.temporaries.items()
        }

    def _body(self, writer: KernelWriter, nodes: Sequence[Node], outputs: Sequence[Value]) -> Body:
        body = Body(writer, self.members, self.frame)
        body.bind(self.members.reads_of(nodes), outputs)
        return body

    # -- second launch ----------------------------------------------------------------------------

    def _rows(self) -> Launch:
        shape = RowShape(self.frame.rows, self.blocks, self.profile, [self.reducers])
        writer = KernelWriter(shape.groups, self.profile.lanes)
        body = self._body(writer, _row_nodes(self.passes), self.group.outputs)
        partials = self._bound(writer, output=False)
        RowProgram(body, self.passes, shape, self.profile, self.blocks, partials).write()
        return writer.launch("rows")

    def _columns(self) -> Launch:
        shape = column_shape(self.frame, self.profile, side_by_side=1, terms=self.blocks)
        writer = KernelWriter(shape.groups, self.profile.lanes)
        body = self._body(writer, _row_nodes(self.passes), self.group.outputs)
        partials = self._bound(writer, output=False)
        ColumnProgram(body, self.passes, shape, self.profile, self.blocks, partials).write()
        return writer.launch("columns")

    # -- first launch -----------------------------------------------------------------------------

    def _row_blocks(self) -> Launch:
        segments = self.profile.lanes // self.profile.tree.lanes
        whole = -(-self.frame.rows * self.full // segments)
        rest = -(-self.frame.rows // segments) if self.tail else 0
        most = max(1, self.profile.chunk // self.profile.tree.block // segments)
        cuts = [balanced(whole, most), balanced(rest, most) if rest else Cut(0, 0)]
        writer = KernelWriter(cuts[0].groups + cuts[1].groups, self.profile.lanes)
        body = self._body(writer, _first_nodes(self.passes), ())
        program = _RowBlocks(self, body, self._bound(writer, output=True))
        group = writer.group
        with writer.when(inside(group, cuts[0].groups)):
            number = least(group, cuts[0].groups - 1)
            program.write(number, cuts[0].turns, self.full, Number(0))
        if rest:
            with writer.when(not_below(group, cuts[0].groups)):
                number = greatest(group - cuts[0].groups, 0)
                program.write(number, cuts[1].turns, 1, Number(self.full), self.tail)
        return writer.launch("row_blocks")

    def _column_blocks(self) -> Launch:
        needed = self.profile.tree.lanes * sum(r.itemsize for r in self.reducers)
        side_by_side = max(1, self.profile.lane_bytes // needed)
        shape = column_shape(
            self.frame, self.profile, side_by_side=side_by_side, terms=self.profile.tree.block
        )
        shape = ColumnShape(shape.outer, shape.columns, shape.vectors, 1, shape.lanes)
        writer = KernelWriter(shape.groups * self.blocks, self.profile.lanes)
        body = self._body(writer, _first_nodes(self.passes), ())
        partials = self._bound(writer, output=True)
        program = _ColumnBlocks(body, self.passes, shape, self.profile, partials, self.reducers)
        block, number = writer.group // shape.groups, writer.group % shape.groups
        with writer.when(inside(block, self.full)):
            program.write_block(number, least(block, self.full - 1), self.profile.tree.block)
        if self.tail:
            with writer.when(not_below(block, self.full)):
                program.write_block(number, Number(self.full), self.tail)
        return writer.launch("column_blocks")


class _RowBlocks:
    """Blocks of rows, each reduced by a segment of lanes."""

    def __init__(self, staged: Staged, body: Body, partials: Partials) -> None:
        self.staged = staged
        self.body = body
        self.writer = body.writer
        self.frame = body.frame
        self.partials = partials
        width = staged.profile.tree.lanes
        self.segments = staged.profile.lanes // width
        self.lane, self.segment = self.writer.lane % width, self.writer.lane // width

    def write(
        self, group: Index, turns: int, per_row: int, first: Index, count: int | None = None
    ) -> None:
        """Blocks of all rows.

        Args:
            group: number of the group among those that do this.
            turns: blocks that a segment takes one after the other.
            per_row: blocks of a row.
            first: the first of them.
            count: terms of a block, if it is not a full one.
        """
        total = self.frame.rows * per_row
        each = turns * self.segments
        done = 0
        while done < turns:
            streams = self._streams(turns - done, per_row, exact=total % each == 0)
            if count is not None:
                streams = 1
            rounds = (turns - done) // streams
            with self.writer.loop(rounds, "block") as turn:
                at = group * turns + (turn * streams + done)
                number = at * self.segments + self.segment
                uniform = self.segments == 1
                with self.writer.when(inside(number, total) if uniform else None):
                    where = None if uniform else inside(number, total)
                    block = first + number % per_row
                    self._blocks(number // per_row, block, streams, where, count)
            done += rounds * streams

    def _streams(self, turns: int, per_row: int, *, exact: bool) -> int:
        """Blocks of one row that are reduced at once."""
        if self.segments > 1 or not exact:
            return 1
        one_row = self.frame.rows == 1
        return next(n for n in (4, 3, 2, 1) if n <= turns and (one_row or per_row % n == 0))

    def _blocks(
        self, row: Index, block: Index, streams: int, where: Expr | None, count: int | None
    ) -> None:
        staged = self.staged
        size = staged.profile.tree.block
        scope = _Scope(self.body, staged.passes, unravel(row, self.frame.kept), where)

        def terms(term: Index, inner: Expr | None) -> list[Parts]:
            return scope.terms(staged.reducers, term, both(where, inner))

        found = block_across_lanes(
            self.writer, staged.profile.tree, staged.reducers,
            [(block + s) * size for s in range(streams)], count or size, self.lane, terms,
        )  # fmt: skip
        first = both(where, inside(self.lane, 1))
        for s, results in enumerate(found):
            index = row * staged.blocks + block + s
            for reducer, parts in zip(staged.reducers, results, strict=True):
                for buffer, part in zip(self.partials[reducer.node], parts, strict=True):
                    self.writer.store(buffer, index, part, first)


class _Scope:
    """What is known of one row, and the terms of its reductions."""

    def __init__(
        self, body: Body, passes: Passes, kept: Sequence[Index], where: Expr | None
    ) -> None:
        self.body = body
        self.passes = passes
        self.kept = kept
        self.values: Values = {}
        at = self._at(Number(0))
        for read in body.members.reads_of([*passes.full_nodes[0], *passes.reductions[0]]):
            strides = body.frame.places[read].strides
            if strides is not None and not any(strides[len(kept) :]):
                body.read(read, self.values, at, where)
        body.compute(passes.row_nodes[0], self.values, at, where)

    def _at(self, term: Index) -> At:
        along = unravel(term, self.body.frame.reduced)
        return lambda place: self.body.frame.at(place, self.kept, along)

    def terms(self, reducers: Sequence[Reducer], term: Index, where: Expr | None) -> list[Parts]:
        """One term of each reduction."""
        values, at = dict(self.values), self._at(term)
        self.body.compute(self.passes.full_nodes[0], values, at, where)
        found = []
        for reducer in reducers:
            operand = reducer.node.operands[0]
            found.append(reducer.term(self.body.operand(operand, "full", values, at, where), term))
        return found


class _ColumnBlocks(ColumnProgram):
    """One block of each column, reduced by the lane of the column."""

    def __init__(
        self, body: Body, passes: Passes, shape: ColumnShape, profile: DeviceProfile,
        results: Partials, reducers: Sequence[Reducer],
    ) -> None:  # fmt: skip
        super().__init__(body, passes, shape, profile, profile.tree.block)
        self.results = results
        self.reducers = reducers

    def write_block(self, number: Index, block: Index, count: int) -> None:
        """One block of a piece of columns."""
        self.block, self.count = block, count
        write_pieces(self.writer, self.shape, self.profile, number, self._write_piece)

    def _write_piece(self, outer: Index, piece: Index, whole: bool) -> None:
        self.outer, self.piece, self.whole = outer, piece, whole

        def terms(term: Index, vector: Index) -> list[Parts]:
            self._at_column(vector)
            first = self.block * self.profile.tree.block
            scope = _Scope(self.body, self.passes, self.kept, self.where)
            return scope.terms(self.reducers, first + term, self.where)

        read = down_columns(
            self.writer, self.profile.tree, self.reducers, self.count, self.shape.vectors, terms,
            self.arrays,
        )  # fmt: skip
        with self.writer.loop(self.shape.vectors, "column") as vector:
            self._at_column(vector)
            row = self.outer * self.shape.columns + self.column
            index = self.block * self.frame.rows + row
            for reducer, parts in zip(self.reducers, read(vector), strict=True):
                for buffer, part in zip(self.results[reducer.node], parts, strict=True):
                    self.writer.store(buffer, index, part, self.where)
