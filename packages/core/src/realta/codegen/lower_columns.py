"""Columns: reductions whose results lie along the lanes; each lane goes through its own terms.

For reductions over leading or middle axes: neighbouring lanes read neighbouring elements. Where
only results are stored, several vectors of columns are walked side by side, so that memory is read
in long pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Final

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Buffer, Expr, compute_type
from realta.codegen.lower_frame import Frame
from realta.codegen.lower_loops import At, balanced, vectors_of
from realta.codegen.lower_maps import unravel
from realta.codegen.lower_members import Body, Values, zero
from realta.codegen.lower_passes import Passes
from realta.codegen.lower_reducer import Parts, Reducer
from realta.codegen.lower_rows import Partials, partial_terms
from realta.codegen.lower_tree import LaneArrays, down_columns
from realta.codegen.profile import DeviceProfile
from realta.codegen.writer import KernelWriter, inside, not_below
from realta.graph import Node
from realta.records import Record

__all__ = ["ColumnProgram", "ColumnShape", "column_shape", "write_pieces"]

_FEW: Final = 8
_MANY: Final = 32
"""Most vectors of columns that are walked side by side, where groups are few and where many."""
_SHARES: Final = 4
"""Groups that each worker should find."""


class ColumnShape(Record):
    """How columns are shared out.

    Args:
        outer: turns of the loops around the columns; 1 if all kept loops are one.
        columns: columns next to each other.
        vectors: vectors of columns that are walked side by side.
        turns: pieces of so many vectors that a group takes one after the other.
        lanes: lanes of a group.
    """

    __slots__ = ("columns", "lanes", "outer", "turns", "vectors")

    outer: int
    columns: int
    vectors: int
    turns: int
    lanes: int

    def __init__(self, outer: int, columns: int, vectors: int, turns: int, lanes: int) -> None:
        self._set(columns, lanes, outer, turns, vectors)

    @property
    def width(self) -> int:
        """Columns of a piece."""
        return self.vectors * self.lanes

    @property
    def pieces(self) -> int:
        """Pieces next to each other."""
        return vectors_of(self.columns, self.width)

    @property
    def groups(self) -> int:
        """Number of groups."""
        return -(-self.outer * self.pieces // self.turns)


def column_shape(
    frame: Frame, profile: DeviceProfile, *, side_by_side: int, terms: int
) -> ColumnShape:
    """How the columns of a frame are shared out.

    Args:
        frame: the loops.
        profile: the device.
        side_by_side: most vectors that may be walked at once.
        terms: terms of a column.
    """
    inner = frame.kept[-1] if frame.kept else 1
    whole = inner < profile.lanes or len(frame.kept) < 2
    columns, outer = (frame.rows, 1) if whole else (inner, prod(frame.kept[:-1]))
    count = vectors_of(columns, profile.lanes)
    shared = outer * count // (_SHARES * profile.workers)
    vectors = min(side_by_side, count, max(_FEW, min(_MANY, shared)))
    exact = [n for n in range(vectors, vectors // 2, -1) if count % n == 0]
    vectors = exact[0] if exact else vectors
    plain = ColumnShape(outer, columns, vectors, 1, profile.lanes)
    turns = 1
    if profile.realization != "items":
        most = profile.chunk // max(1, plain.width * terms)
        turns = balanced(outer * plain.pieces, most).turns
    return ColumnShape(outer, columns, vectors, turns, profile.lanes)


class ColumnProgram:
    """Writes a group of columns.

    Args:
        body: the kernel with the group's members.
        passes: the walks.
        shape: how columns are shared out.
        profile: the device.
        terms: number of terms of the reductions: those of the column, or blocks in `partials`.
        partials: results of blocks that an earlier launch left: block by block, all columns.
    """

    def __init__(
        self, body: Body, passes: Passes, shape: ColumnShape, profile: DeviceProfile, terms: int,
        partials: Partials | None = None,
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
        self.arrays = LaneArrays(self.writer)
        self.scratch: dict[Node, Buffer] = {}
        self.values: Values = {}
        self.where: Expr | None = None

    def write(self) -> None:
        """Writes the loop over pieces of columns."""
        for node in (n for nodes in self.passes.keeps for n in nodes):
            register = compute_type(node.type.dtype)
            size = self.count * self.writer.lanes
            self.scratch[node] = self.writer.allocate(register, size, "group", "kept")
        shape = self.shape
        with self.writer.loop(shape.turns, "piece") as turn:
            number = self.writer.group * shape.turns + turn
            with self.writer.when(inside(number, shape.outer * shape.pieces)):
                write_pieces(self.writer, shape, self.profile, number, self._write_piece)

    def _write_piece(self, outer: Index, piece: Index, whole: bool) -> None:
        self.outer, self.piece, self.whole = outer, piece, whole
        if self.shape.vectors == 1:
            self._start(Number(0))
            for number in range(self.passes.count):
                self._row_nodes(number)
                if self.passes.reductions[number]:
                    reducers, read = self._reduce(number)
                    self._take(reducers, read(Number(0)))
                elif self.passes.stores[number]:
                    self._walk(number)
            self._store()
            return
        reducers, read = self._reduce(0)
        with self.writer.loop(self.shape.vectors, "column") as vector:
            self._start(vector)
            self._row_nodes(0)
            self._take(reducers, read(vector))
            self._row_nodes(1)
            self._store()

    def _start(self, vector: Index) -> None:
        """Goes to one of the columns."""
        self.values = {}
        self._at_column(vector)
        if self.partials is None and self.shape.vectors == 1:
            for read in self.members.reads:
                strides = self.frame.places[read].strides
                if strides is not None and not any(strides[len(self.kept) :]):
                    self.body.read(read, self.values, self._at_row(), self.where)

    def _at_column(self, vector: Index) -> None:
        shape = self.shape
        self.column = (self.piece * shape.vectors + vector) * shape.lanes + self.writer.lane
        self.where = None if self.whole else inside(self.column, shape.columns)
        if shape.outer == 1:
            self.kept = unravel(self.column, self.frame.kept)
        else:
            self.kept = (*unravel(self.outer, self.frame.kept[:-1]), self.column)

    def _row_nodes(self, number: int) -> None:
        nodes = self.passes.row_nodes[number]
        self.body.compute(nodes, self.values, self._at_row(), self.where)

    def _take(self, reducers: Sequence[Reducer], results: Sequence[Parts]) -> None:
        for reducer, parts in zip(reducers, results, strict=True):
            self.values[reducer.node] = self.writer.let(reducer.result(parts), "result")

    def _store(self) -> None:
        for output, source in self.passes.row_stores:
            self.body.store(output, source, self.values, self._at_row(), self.where)

    def _at_row(self) -> At:
        kept, nothing = self.kept, [Number(0)] * len(self.frame.reduced)
        return lambda place: self.frame.at(place, kept, nothing)

    def _at(self, term: Index) -> At:
        kept, along = self.kept, unravel(term, self.frame.reduced)
        return lambda place: self.frame.at(place, kept, along)

    def _reduce(self, number: int) -> tuple[list[Reducer], Callable[[Index], list[Parts]]]:
        reducers = [Reducer(node) for node in self.passes.reductions[number]]

        def terms(term: Index, vector: Index) -> list[Parts]:
            if self.shape.vectors > 1:
                self._at_column(vector)
            return self._terms(number, reducers, term)

        tree = self.profile.tree
        read = down_columns(
            self.writer, tree, reducers, self.count, self.shape.vectors, terms, self.arrays
        )
        return reducers, read

    def _terms(self, number: int, reducers: Sequence[Reducer], term: Index) -> list[Parts]:
        """One term of each reduction of a walk."""
        if self.partials is not None:
            index = self.outer * self.shape.columns + self.column + term * self.frame.rows
            return partial_terms(self.writer, self.partials, reducers, index, self.where)
        values, at = dict(self.values), self._at(term)
        self._elements(number, values, term, at)
        found = []
        for reducer in reducers:
            operand = reducer.node.operands[0]
            value = self.body.operand(operand, "full", values, at, self.where)
            found.append(reducer.term(value, term))
        return found

    def _elements(self, number: int, values: Values, term: Index, at: At) -> None:
        """Computes the members of a walk at one term; keeps and stores what is to be."""
        slot = term * self.writer.lanes + self.writer.lane
        for node in self.passes.reads_back[number]:
            buffer = self.scratch[node]
            default = None if self.where is None else zero(buffer.dtype)
            values[node] = self.writer.load(buffer, slot, self.where, default, "back")
        self.body.compute(self.passes.full_nodes[number], values, at, self.where)
        for node in self.passes.keeps[number]:
            self.writer.store(self.scratch[node], slot, values[node], self.where)
        for output, source in self.passes.stores[number]:
            self.body.store(output, source, values, at, self.where)

    def _walk(self, number: int) -> None:
        """A walk that only stores."""
        with self.writer.loop(self.count, "term") as term:
            self._elements(number, dict(self.values), term, self._at(term))


def write_pieces(
    writer: KernelWriter,
    shape: ColumnShape,
    profile: DeviceProfile,
    number: Index,
    write: Callable[[Index, Index, bool], None],
) -> None:
    """Writes a piece of columns: without predicates where it is full.

    Args:
        writer: the kernel.
        shape: how columns are shared out.
        profile: the device.
        number: which of all pieces.
        write: writes a piece, given the turn of the outer loops, its number among those next to
            each other, and whether it is full.
    """
    outer, piece = number // shape.pieces, number % shape.pieces
    full = shape.columns // shape.width
    if profile.realization == "items" or full == shape.pieces:
        write(outer, piece, full == shape.pieces)
        return
    if full:
        with writer.when(inside(piece, full)):
            write(outer, piece, True)
    with writer.when(not_below(piece, full)):
        write(outer, Number(full), False)
