"""Attention: softmax of scaled products of queries and keys, times the values, in one kernel.

A group has a few queries and walks over all keys twice, so that no score is stored: once for the
greatest score of each query, once for the powers, whose sum and whose products with the values are
added up. Lanes have a key each while scores are computed, and a column of the values each while
those are weighed; powers go from one to the other through group memory.

Sums have one order for each number of terms: in order within blocks of 32, block results likewise;
the sum of powers in each lane, whose sums are then halved.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, prod

from realta.codegen.indices import Index, Number, least
from realta.codegen.ir import Apply, Buffer, Compare, Const, Expr, Load, Var, compute_type
from realta.codegen.lower_contraction import BLOCK
from realta.codegen.lower_members import zero
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import combined, constant, identity, rounded, select
from realta.codegen.writer import KernelWriter, both, inside
from realta.fusion import Limits
from realta.graph import Node, Value

__all__ = ["lower_attention"]

Terms = Callable[[Index, int, Sequence[Var]], None]
"""Adds so many terms from the first on to some sums, in order."""


def lower_attention(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernel of ``attention``."""
    sizes = _Sizes(node, profile)
    program = _Program(node, sizes, profile)
    program.write()
    text = (
        f"{sizes.batches} x {sizes.queries} queries, {sizes.keys} keys of {sizes.head}, "
        f"{sizes.rows} queries and {sizes.width} columns a group"
    )
    return Lowered((program.writer.launch("attention"),), text)


def _levels(count: int) -> int:
    """Levels of sums over so many terms."""
    levels = 1
    while BLOCK**levels < count:
        levels += 1
    return levels


class _Sizes:
    """How the result is cut.

    A lane has the queries ``lane_row + i * lane_rows`` of its group for i below `high`, one of
    `lanes` keys at a time, and the columns ``lane_column + j * lanes`` for j below `wide`.
    """

    def __init__(self, node: Node, profile: DeviceProfile) -> None:
        q, k, v = (operand.type.static_shape for operand in node.operands)
        self.batches = prod(q[:-2])
        self.queries, self.head = q[-2:]
        self.keys, self.columns = k[-2], v[-1]
        self.lanes = min(BLOCK, profile.lanes)
        self.lane_rows = profile.lanes // self.lanes
        self.high, self.wide, self.panel = 4, 4, BLOCK
        while self.wide > 1 and (self.wide // 2) * self.lanes >= self.columns:
            self.wide //= 2
        while self.high > 1 and (self.high // 2) * self.lane_rows >= self.queries:
            self.high //= 2
        while self.panel > 1 and self.panel // 2 >= self.head:
            self.panel //= 2
        itemsize = compute_type(node.type.dtype).itemsize
        each = _levels(self.keys) * itemsize
        while self.sums > 2 and self.sums * each > profile.lane_bytes:
            self._halve()
        # Folds of work-items need an element each.
        room = profile.scratch_bytes // itemsize - profile.lanes
        while self.pitch * self.panel + self.scores > room:
            if self.panel > 1:
                self.panel //= 2
            elif self.high > 1:
                self.high //= 2
            else:
                break

    def _halve(self) -> None:
        if self.high >= self.wide:
            self.high //= 2
        else:
            self.wide //= 2

    @property
    def sums(self) -> int:
        """Sums that a lane has: of powers, and of weighed values."""
        return self.high * (self.wide + 1)

    @property
    def rows(self) -> int:
        """Queries of a group."""
        return self.high * self.lane_rows

    @property
    def width(self) -> int:
        """Columns of a group."""
        return self.wide * self.lanes

    @property
    def pitch(self) -> int:
        """Elements from one line of a panel of keys to the next; odd, so that banks differ."""
        return self.lanes + 1 if self.lane_rows > 1 else self.lanes

    @property
    def scores(self) -> int:
        """Powers in group memory."""
        return self.rows * self.lanes


class _Program:
    """Writes the kernel."""

    def __init__(self, node: Node, sizes: _Sizes, profile: DeviceProfile) -> None:
        self.node = node
        self.sizes = sizes
        self.dtype = node.type.dtype
        self.register = compute_type(self.dtype)
        tiles = -(-sizes.queries // sizes.rows)
        column_tiles = -(-sizes.columns // sizes.width)
        self.writer = KernelWriter(sizes.batches * tiles * column_tiles, profile.lanes)
        known: dict[Value, Buffer] = {}
        for name, operand in zip("qkv", node.operands, strict=True):
            if operand not in known and operand.type.size:
                known[operand] = self.writer.argument(operand, "input", name)
        self.q, self.k, self.v = (known.get(operand) for operand in node.operands)
        self.out = self.writer.argument(node, "output", "out")
        group, lane = self.writer.group, self.writer.lane
        self.first_column = group % column_tiles * sizes.width
        self.first_query = group // column_tiles % tiles * sizes.rows
        self.batch = group // (column_tiles * tiles)
        self.lane_row, self.lane_column = lane // sizes.lanes, lane % sizes.lanes
        self.zero = zero(self.dtype)

    def write(self) -> None:
        """Two walks over the keys, then the results."""
        sizes = self.sizes
        if sizes.keys:
            size = sizes.pitch * sizes.panel
            self.panel = self.writer.allocate(self.register, size, "group", "keys")
            self.powers = self.writer.allocate(self.register, sizes.scores, "group", "powers")
            tops = self._tops()
            sums = self._sums(
                sizes.keys,
                sizes.sums,
                lambda first, count, sums: self._weigh(first, count, sums, tops),
            )
            totals = [self.writer.fold([sums[i]], "add", sizes.lanes)[0] for i in range(sizes.high)]
        for i in range(sizes.high):
            for j in range(sizes.wide):
                value: Expr = self.zero
                if sizes.keys:
                    value = combined("div", sums[sizes.high + i * sizes.wide + j], totals[i])
                query, column = self._query(i), self._column(j)
                where = both(inside(query, sizes.queries), inside(column, sizes.columns))
                index = (self.batch * sizes.queries + query) * sizes.columns + column
                self.writer.store(self.out, index, rounded(value, self.dtype), where)

    def _row(self, i: int) -> Index:
        return self.lane_row + i * self.sizes.lane_rows

    def _query(self, i: int) -> Index:
        return self.first_query + self._row(i)

    def _column(self, j: int) -> Index:
        return self.first_column + j * self.sizes.lanes + self.lane_column

    # -- sums -------------------------------------------------------------------------------------

    def _sums(self, count: int, sums: int, terms: Terms) -> list[Var]:
        """Sums over so many terms, block by block."""
        return self._level(_levels(count) - 1, Number(0), count, sums, terms)

    def _level(self, level: int, first: Index, count: int, sums: int, terms: Terms) -> list[Var]:
        totals = [self.writer.declare(identity("add", self.register)) for _ in range(sums)]
        if level == 0:
            terms(first, count, totals)
            return totals
        size = BLOCK**level
        with self.writer.loop(count // size, "block") as turn:
            self._add(totals, self._level(level - 1, first + turn * size, size, sums, terms))
        if count % size:
            rest = first + count // size * size
            self._add(totals, self._level(level - 1, rest, count % size, sums, terms))
        return totals

    def _add(self, totals: Sequence[Var], terms: Sequence[Expr]) -> None:
        for total, term in zip(totals, terms, strict=True):
            self.writer.assign(total, combined("add", total, term))

    def _panels(
        self, first: Index, count: int, size: int, emit: Callable[[Index, int], None]
    ) -> None:
        """Terms in order, at most `size` at once."""
        with self.writer.loop(count // size, "panel") as turn:
            emit(first + turn * size, size)
        if count % size:
            emit(first + count // size * size, count % size)

    # -- scores -----------------------------------------------------------------------------------

    def _tops(self) -> list[Expr]:
        """The greatest score of each query."""
        sizes, lowest = self.sizes, identity("maximum", self.register)
        tops = [self.writer.declare(lowest, "top") for _ in range(sizes.high)]
        with self.writer.loop(-(-sizes.keys // sizes.lanes), "panel") as turn:
            first = turn * sizes.lanes
            exists = inside(first + self.lane_column, sizes.keys)
            for top, score in zip(tops, self._scores(first), strict=True):
                known = score if exists is None else select(exists, score, lowest)
                self.writer.assign(top, combined("maximum", top, known))
        return [self.writer.fold([top], "maximum", sizes.lanes, "top")[0] for top in tops]

    def _scores(self, first: Index) -> list[Expr]:
        """The scores of the key of each lane, the first lane's being given."""
        sizes, key = self.sizes, first + self.lane_column
        sums: Sequence[Expr] = [self.zero] * sizes.high
        if sizes.head:
            sums = self._sums(
                sizes.head,
                sizes.high,
                lambda start, count, sums: self._panels(
                    start, count, sizes.panel, lambda at, n: self._products(first, at, n, sums)
                ),
            )
        scale = constant(self.node.attrs["scale"], self.register)
        found = []
        for i, total in enumerate(sums):
            score = combined("mul", total, scale)
            if self.node.attrs["causal"]:
                seen = Compare(key - self._query(i), 1)
                score = select(seen, score, Const(-inf, self.register))
            found.append(self.writer.let(score, "score"))
        return found

    def _products(self, first: Index, start: Index, count: int, sums: Sequence[Var]) -> None:
        """Adds products of some elements of the queries and keys."""
        assert self.q is not None  # noqa: S101 (heads have elements)
        sizes = self.sizes
        self._stage(first, start, count)
        with self.writer.loop(count, "term") as term:
            key = self.writer.load(self.panel, term * sizes.pitch + self.lane_column, name="k")
            for i, total in enumerate(sums):
                query = least(self._query(i), sizes.queries - 1)
                index = (self.batch * sizes.queries + query) * sizes.head + start + term
                value = self.writer.load(self.q, index, name="q")
                self._add([total], [combined("mul", value, key)])

    def _stage(self, first: Index, start: Index, count: int) -> None:
        """Brings some elements of the keys of all lanes to group memory, zeros where none are."""
        assert self.k is not None  # noqa: S101 (heads have elements)
        sizes, lanes = self.sizes, self.writer.lanes
        self.writer.barrier()
        total = count * sizes.lanes
        with self.writer.loop(-(-total // lanes), "piece") as turn:
            element = turn * lanes + self.writer.lane
            own, term = element // count, element % count
            mine = inside(element, total)
            where = both(mine, inside(first + own, sizes.keys))
            index = (self.batch * sizes.keys + first + own) * sizes.head + start + term
            value = self.writer.load(self.k, index, where, where and self.zero, "k")
            self.writer.store(self.panel, term * sizes.pitch + own, value, mine)
        self.writer.barrier()

    # -- values -----------------------------------------------------------------------------------

    def _weigh(self, first: Index, count: int, sums: Sequence[Var], tops: Sequence[Expr]) -> None:
        """Adds powers, and the values that they weigh."""
        self._panels(
            first, count, self.sizes.lanes, lambda at, n: self._weigh_panel(at, n, sums, tops)
        )

    def _weigh_panel(
        self, first: Index, count: int, sums: Sequence[Var], tops: Sequence[Expr]
    ) -> None:
        sizes = self.sizes
        exists = inside(first + self.lane_column, sizes.keys)
        # By a power of two, so that no sum is greater than its greatest value.
        shrink = Const(2.0 ** -(sizes.keys - 1).bit_length(), self.register)
        scores = self._scores(first)
        if not sizes.head:
            self.writer.barrier()
        for i, (score, top) in enumerate(zip(scores, tops, strict=True)):
            power: Expr = Apply("exp", (combined("sub", score, top),), self.register)
            power = combined("mul", power, shrink)
            power = power if exists is None else select(exists, power, self.zero)
            power = self.writer.let(power, "power")
            slot = self._row(i) * sizes.lanes + self.lane_column
            self.writer.store(self.powers, slot, power)
            self._add([sums[i]], [power])
        self.writer.barrier()
        with self.writer.loop(count, "term") as term:
            values = [self._value(first + term, self._column(j)) for j in range(sizes.wide)]
            for i in range(sizes.high):
                slot = self._row(i) * sizes.lanes + term
                power = self.writer.let(Load(self.powers, slot), "power")
                products = [combined("mul", power, value) for value in values]
                start = sizes.high + i * sizes.wide
                self._add(sums[start : start + sizes.wide], products)

    def _value(self, key: Index, column: Index) -> Expr:
        assert self.v is not None  # noqa: S101 (the result has elements)
        sizes = self.sizes
        where = inside(column, sizes.columns)
        index = (self.batch * sizes.keys + key) * sizes.columns + column
        return self.writer.load(self.v, index, where, where and self.zero, "v")
