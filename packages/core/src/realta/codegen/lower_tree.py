"""The canonical tree of a reduction, written across lanes or down the columns of a lane.

`realta.codegen.ir.Tree` says what the tree is. Both functions here write the same tree: the same
bits come out whichever a schedule takes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Apply, Buffer, Const, Expr, FromIndex, Load, Tree, Var
from realta.codegen.lower_reducer import Parts, Reducer
from realta.codegen.writer import KernelWriter, inside
from realta.types import DType, bool_, int32

__all__ = [
    "LaneArrays", "Terms", "across_lanes", "block_across_lanes", "down_columns", "lane_bytes",
    "levels_of",
]  # fmt: skip

Terms = Callable[[Index, Expr | None], list[Parts]]
"""Writes one term of each reduction: given its number, and where there is one."""
_STREAMS = 4
"""Blocks that are accumulated at once, so that one addition need not wait for another."""
_HIGH = 4
"""Lanes of a tree that a lane of a group accumulates at once."""
_REGISTERS = 8
"""Accumulators that a lane of a group has at once."""


def levels_of(tree: Tree, count: int) -> int:
    """How often block results are reduced again until one is left."""
    levels = 0
    while tree.block ** (levels + 1) < count:
        levels += 1
    return levels


class _Lanes:
    """Writes a tree whose lanes are lanes of a segment."""

    def __init__(
        self, writer: KernelWriter, tree: Tree, reducers: Sequence[Reducer], lane: Index,
        terms: Terms, streams: int,
    ) -> None:  # fmt: skip
        self.writer = writer
        self.tree = tree
        self.reducers = reducers
        self.lane = lane
        self.terms = terms
        self.streams = streams

    def start(self, first: Index | None = None) -> list[list[Var]]:
        """Accumulators: of terms in order from the first on, or of whatever comes."""
        starts = [r.start() if first is None else r.start_at(first) for r in self.reducers]
        return [[self.writer.declare(part) for part in parts] for parts in starts]

    def add(
        self,
        accumulated: Sequence[Sequence[Var]],
        terms: Sequence[Parts],
        *,
        in_order: bool = False,
    ) -> None:
        for reducer, variables, parts in zip(self.reducers, accumulated, terms, strict=True):
            combine = reducer.next if in_order else reducer.both
            new = combine(self.writer, tuple(variables), parts)
            for variable, part in zip(variables, new, strict=True):
                self.writer.assign(variable, part)

    def fold(self, accumulated: Sequence[Sequence[Var]]) -> list[Parts]:
        width = self.tree.lanes
        return [
            reducer.fold(self.writer, tuple(parts), width)
            for reducer, parts in zip(self.reducers, accumulated, strict=True)
        ]

    def chosen(self, where: Expr | None, terms: Sequence[Parts]) -> list[Parts]:
        return [r.chosen(where, parts) for r, parts in zip(self.reducers, terms, strict=True)]

    def block(self, level: int, first: Index, count: int) -> list[Parts]:
        """The results over `count` terms from the first on, at most a block of this level."""
        if level == 0:
            return self.blocks([first], count)[0]
        accumulated = self.start()
        size = self.tree.block**level
        whole = count // size
        streams = min(self.streams, whole) if level == 1 else 1
        done = 0
        while streams:
            turns = (whole - done) // streams
            with self.writer.loop(turns, "block") as turn:
                number = turn * streams + done
                firsts = [first + (number + s) * size for s in range(streams)]
                if level == 1:
                    found = self.blocks(firsts, size)
                else:
                    found = [self.block(level - 1, firsts[0], size)]
                for s, results in enumerate(found):
                    self.push(accumulated, results, number + s)
            done += turns * streams
            streams = whole - done
        if count % size:
            results = self.block(level - 1, first + whole * size, count % size)
            self.push(accumulated, results, Number(whole))
        return self.fold(accumulated)

    def push(
        self, accumulated: Sequence[Sequence[Var]], results: Sequence[Parts], number: Index
    ) -> None:
        """Takes the results of a block as a term of the next level."""
        lane = number % self.tree.lanes
        own = Apply("equal", (_as_value(self.lane), _as_value(lane)), bool_)
        mine = self.writer.let(own, "mine") if self.tree.lanes > 1 else None
        self.add(accumulated, self.chosen(mine, results))

    def blocks(self, firsts: Sequence[Index], count: int) -> list[list[Parts]]:
        """Several blocks of as many terms each, at once."""
        width = self.tree.lanes
        accumulated = [self.start(first + self.lane) for first in firsts]
        whole = count // width
        with self.writer.loop(whole, "turn") as turn:
            for variables, first in zip(accumulated, firsts, strict=True):
                terms = self.terms(first + turn * width + self.lane, None)
                self.add(variables, terms, in_order=True)
        if count % width:
            for variables, first in zip(accumulated, firsts, strict=True):
                index = first + whole * width + self.lane
                where = inside(self.lane, count % width)
                terms = self.chosen(where, self.terms(index, where))
                self.add(variables, terms, in_order=True)
        return [self.fold(variables) for variables in accumulated]


def _as_value(index: Index) -> Expr:
    return Const(index.value, int32) if isinstance(index, Number) else FromIndex(index, int32)


def across_lanes(
    writer: KernelWriter, tree: Tree, reducers: Sequence[Reducer], count: int, lane: Index,
    terms: Terms, *, streams: int = _STREAMS,
) -> list[Parts]:  # fmt: skip
    """Reductions over `count` terms by segments of `tree.lanes` lanes.

    Args:
        writer: the kernel.
        tree: the order.
        reducers: reductions over the same terms.
        count: number of terms, at least 1.
        lane: number of the lane in its segment.
        terms: writes a term.
        streams: blocks that are accumulated at once.

    Returns:
        The results, in all lanes of each segment.
    """
    lanes = _Lanes(writer, tree, reducers, lane, terms, streams)
    return lanes.block(levels_of(tree, count), Number(0), count)


def block_across_lanes(
    writer: KernelWriter, tree: Tree, reducers: Sequence[Reducer], firsts: Sequence[Index],
    count: int, lane: Index, terms: Terms,
) -> list[list[Parts]]:  # fmt: skip
    """The first level only: blocks of `count` terms from each of some first terms on, at once."""
    return _Lanes(writer, tree, reducers, lane, terms, 1).blocks(firsts, count)


class LaneArrays:
    """Accumulators of each lane, the same ones for all reductions of a kernel.

    Args:
        writer: the kernel.
    """

    def __init__(self, writer: KernelWriter) -> None:
        self.writer = writer
        self._known: dict[tuple[int, DType, int], Buffer] = {}

    def of(self, level: int, reducers: Sequence[Reducer], size: int) -> list[list[Buffer]]:
        """Arrays of a level of the tree, for each reduction and part."""
        counts: dict[DType, int] = {}
        found = []
        for reducer in reducers:
            arrays = []
            for dtype in reducer.dtypes:
                number = counts[dtype] = counts.get(dtype, 0) + 1
                key = (level, dtype, number)
                if key not in self._known:
                    self._known[key] = self.writer.allocate(
                        dtype, size, "lane", "sums", outermost=True
                    )
                arrays.append(self._known[key])
            found.append(arrays)
        return found


def lane_bytes(tree: Tree, walks: Sequence[Sequence[Reducer]], terms: int) -> int:
    """Bytes of arrays that each lane needs for one column of the reductions of some walks."""
    if terms <= tree.lanes:
        return 0
    most: dict[DType, int] = {}
    for reducers in walks:
        counts: dict[DType, int] = {}
        for dtype in (dtype for reducer in reducers for dtype in reducer.dtypes):
            counts[dtype] = counts.get(dtype, 0) + 1
        most = {d: max(most.get(d, 0), counts.get(d, 0)) for d in (*most, *counts)}
    each = sum(dtype.itemsize * count for dtype, count in most.items())
    top = levels_of(tree, terms)
    return each * (top * tree.lanes + _lanes_of(tree, terms, top))


def _lanes_of(tree: Tree, count: int, level: int) -> int:
    """Lanes of a tree that have terms, if the level has `count` terms below it."""
    blocks: int = -(-count // tree.block**level)
    return min(tree.lanes, blocks)


class _Columns:
    """Writes a tree whose lanes are elements of arrays that each lane has for itself.

    `width` vectors of columns are walked side by side.
    """

    def __init__(
        self, writer: KernelWriter, tree: Tree, reducers: Sequence[Reducer], vectors: int,
        terms: Callable[[Index, Index], list[Parts]], arrays: LaneArrays, count: int,
    ) -> None:  # fmt: skip
        self.writer = writer
        self.tree = tree
        self.reducers = reducers
        self.vectors = vectors
        self.terms = terms
        self.arrays = arrays
        self.top = levels_of(tree, count)
        self.top_lanes = _lanes_of(tree, count, self.top)

    def room(self, level: int) -> int:
        """Elements of the arrays of a level."""
        return (self.top_lanes if level == self.top else self.tree.lanes) * self.vectors

    def start(self, arrays: Sequence[Sequence[Buffer]], lanes: int) -> None:
        """Fills arrays with what accumulation starts from."""
        with self.writer.loop(lanes * self.vectors, "slot", unroll=True) as slot:
            for reducer, buffers in zip(self.reducers, arrays, strict=True):
                for buffer, part in zip(buffers, reducer.start(), strict=True):
                    self.writer.store(buffer, slot, part)

    def add(self, arrays: Sequence[Sequence[Buffer]], slot: Index, terms: Sequence[Parts]) -> None:
        for reducer, buffers, parts in zip(self.reducers, arrays, terms, strict=True):
            new = reducer.both(self.writer, self.read(buffers, slot), parts)
            for buffer, part in zip(buffers, new, strict=True):
                self.writer.store(buffer, slot, part)

    def read(self, buffers: Sequence[Buffer], slot: Index) -> Parts:
        return tuple(self.writer.let(Load(buffer, slot), "sum") for buffer in buffers)

    def slot(self, lane: Index, vector: Index) -> Index:
        return lane * self.vectors + vector

    def halve(self, arrays: Sequence[Sequence[Buffer]], lanes: int) -> None:
        """Leaves the results in lane 0 of the tree; lanes without a term are left out."""
        half = self.tree.lanes // 2
        while half:
            with (
                self.writer.loop(min(half, max(lanes - half, 0)), "lane", unroll=True) as lane,
                self.writer.loop(self.vectors, "column", unroll=True) as vector,
            ):
                other = [self.read(b, self.slot(lane + half, vector)) for b in arrays]
                self.add(arrays, self.slot(lane, vector), other)
            lanes = min(lanes, half)
            half //= 2

    def block(self, level: int, first: Index, count: int) -> list[list[Buffer]]:
        """The results over `count` terms from the first on, in lane 0 of arrays."""
        lanes = _lanes_of(self.tree, count, level)
        arrays = self.arrays.of(level, self.reducers, self.room(level))
        size = self.tree.block**level
        if level == 0:
            self.fill(arrays, first, count, lanes)
        else:
            self.start(arrays, lanes)
            with self.writer.loop(count // size, "block") as number:
                self.push(arrays, self.block(level - 1, first + number * size, size), number)
            if count % size:
                whole = count // size
                results = self.block(level - 1, first + whole * size, count % size)
                self.push(arrays, results, Number(whole))
        self.halve(arrays, lanes)
        return arrays

    def push(
        self,
        arrays: Sequence[Sequence[Buffer]],
        results: Sequence[Sequence[Buffer]],
        number: Index,
    ) -> None:
        with self.writer.loop(self.vectors, "column", unroll=True) as vector:
            terms = [self.read(buffers, self.slot(Number(0), vector)) for buffers in results]
            self.add(arrays, self.slot(number % self.tree.lanes, vector), terms)

    def fill(
        self, arrays: Sequence[Sequence[Buffer]], first: Index, count: int, lanes: int
    ) -> None:
        """Leaves in arrays what a block's terms come to: a few of its lanes at a time."""
        width, wide = self.tree.lanes, self._wide()
        high = min(max(1, self._registers() // wide), _HIGH, lanes)
        with (
            self.writer.loop(-(-lanes // high), "lanes") as part,
            self.writer.loop(self.vectors // wide, "columns") as piece,
        ):
            cells = [(part * high + i, piece * wide + j) for i in range(high) for j in range(wide)]
            sums = [
                [[self.writer.declare(x) for x in r.start_at(first + lane)] for r in self.reducers]
                for lane, _ in cells
            ]
            with self.writer.loop(count // width, "turn") as turn:
                for accumulated, (lane, vector) in zip(sums, cells, strict=True):
                    self.take(accumulated, self.terms(first + turn * width + lane, vector))
            done = count // width * width
            for accumulated, (lane, vector) in zip(sums, cells, strict=True):
                if count > done:
                    with self.writer.when(inside(lane, count - done)):
                        self.take(accumulated, self.terms(first + done + lane, vector))
                with self.writer.when(inside(lane, lanes)):
                    self.keep(arrays, self.slot(lane, vector), accumulated)

    def _registers(self) -> int:
        """How many cells, a lane of a column each, have their accumulators in registers."""
        return max(1, _REGISTERS // sum(len(reducer.dtypes) for reducer in self.reducers))

    def _wide(self) -> int:
        """Columns that are accumulated at a time: the more, the longer a piece of memory is."""
        most = self._registers()
        return max(n for n in range(1, most + 1) if self.vectors % n == 0)

    def take(self, accumulated: Sequence[Sequence[Var]], terms: Sequence[Parts]) -> None:
        for reducer, variables, parts in zip(self.reducers, accumulated, terms, strict=True):
            new = reducer.next(self.writer, tuple(variables), parts)
            for variable, part in zip(variables, new, strict=True):
                self.writer.assign(variable, part)

    def keep(
        self,
        arrays: Sequence[Sequence[Buffer]],
        slot: Index,
        accumulated: Sequence[Sequence[Var]],
    ) -> None:
        for buffers, variables in zip(arrays, accumulated, strict=True):
            for buffer, variable in zip(buffers, variables, strict=True):
                self.writer.store(buffer, slot, variable)


def down_columns(
    writer: KernelWriter, tree: Tree, reducers: Sequence[Reducer], count: int, vectors: int,
    terms: Callable[[Index, Index], list[Parts]], arrays: LaneArrays,
) -> Callable[[Index], list[Parts]]:  # fmt: skip
    """Reductions over `count` terms by each lane on its own.

    Args:
        writer: the kernel.
        tree: the order.
        reducers: reductions over the same terms.
        count: number of terms, at least 1.
        vectors: columns of each lane.
        terms: writes a term: given its number, and which of the columns.
        arrays: the kernel's accumulators.

    Returns:
        What reads the results of a column.
    """
    if count <= tree.lanes and vectors == 1:
        found = _in_registers(writer, tree, reducers, count, terms)
        return lambda vector: found
    columns = _Columns(writer, tree, reducers, vectors, terms, arrays, count)
    results = columns.block(columns.top, Number(0), count)
    return lambda vector: [columns.read(buffers, vector) for buffers in results]


def _in_registers(
    writer: KernelWriter, tree: Tree, reducers: Sequence[Reducer], count: int,
    terms: Callable[[Index, Index], list[Parts]],
) -> list[Parts]:  # fmt: skip
    """A single turn of the tree: every lane of it is a value with a name."""
    found = [terms(Number(lane), Number(0)) for lane in range(count)]
    half = tree.lanes // 2
    while half:
        for lane in range(min(half, max(len(found) - half, 0))):
            new = [
                reducer.both(writer, own, other)
                for reducer, own, other in zip(
                    reducers, found[lane], found[lane + half], strict=True
                )
            ]
            found[lane] = [tuple(writer.let(part, "sum") for part in parts) for parts in new]
        found = found[:half]
        half //= 2
    return found[0]
