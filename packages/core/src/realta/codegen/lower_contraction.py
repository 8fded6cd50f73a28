"""Contractions: products of tiles in registers, with the elementwise work that follows.

A group computes a tile of the result, each lane a block of it. What all lanes need goes through
group memory in panels of a few terms. The order of a sum depends on the number of its terms alone:
terms in order within blocks of 32, block results in order within 32 blocks, and so on; so no sum
of equal terms is further off than spec 5a allows.
"""

from __future__ import annotations

from typing import Final

from realta.codegen.indices import Index, Number, least
from realta.codegen.ir import Apply, Buffer, Expr, Load, compute_type
from realta.codegen.lower_frame import Place, Read
from realta.codegen.lower_loops import At, element_loops, write_element_loops
from realta.codegen.lower_maps import unravel
from realta.codegen.lower_members import Body, zero
from realta.codegen.lower_problem import Problem, problem_of
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import constant, identity, rounded, select
from realta.codegen.writer import KernelWriter, both, inside
from realta.fusion import Group
from realta.graph import Node, Value

__all__ = ["BLOCK", "lower_contraction"]

BLOCK: Final = 32
"""Terms that are added one after the other, and block results likewise."""


def lower_contraction(group: Group, profile: DeviceProfile) -> Lowered | None:
    """The kernel of a ``contraction`` group; None if there is none for its contraction."""
    problem = problem_of(group)
    if problem is None:
        return None
    if problem.k == 0:
        return _lower_nothing(problem, group, profile)
    tile = _Tile(problem, profile)
    writer = KernelWriter(problem.batches * tile.rows * tile.columns, profile.lanes)
    body = Body(writer, problem.members, problem.frame)
    epilogue = problem.members.reads_of(problem.epilogue)
    operands: list[Read] = [(v, "full") for v in (problem.x, problem.y) if v.type.size]
    body.bind([*operands, *epilogue], group.outputs)
    _Program(problem, tile, body).write()
    text = (
        f"{problem.batches} x {problem.m} x {problem.n} x {problem.k}, tiles of "
        f"{tile.height} x {tile.width}"
    )
    return Lowered((writer.launch("contraction"),), text)


def _lower_nothing(problem: Problem, group: Group, profile: DeviceProfile) -> Lowered:
    """A contraction over no terms: zeros, and what follows."""
    members, node = problem.members, problem.node
    members.reads = members.reads_of(problem.epilogue)
    frame = members.frame()
    loops = element_loops(frame, profile)
    writer = KernelWriter(loops.groups, profile.lanes)
    body = Body(writer, members, frame)
    body.bind(members.reads, group.outputs)

    def emit(at: At, where: Expr | None) -> None:
        values = {node: constant(0, node.type.dtype)}
        body.compute(problem.epilogue, values, at, where)
        for output, source in members.stores:
            body.store(output, source, values, at, where)

    write_element_loops(writer, frame, loops, profile, lambda at: None, emit)
    return Lowered((writer.launch("contraction"),), f"{frame.rows} sums of nothing")


def _power(count: int, most: int) -> int:
    """The least power of two that is not below a count, or the greatest allowed."""
    found = 1
    while found < count and found < most:
        found *= 2
    return found


class _Tile:
    """How the result is cut.

    A lane has the rows ``lane_row + i * lane_rows`` and the columns ``lane_column + j *
    lane_columns`` of a tile, for i below `high` and j below `wide`; on a CPU, where a group has one
    line of lanes, `strips` such blocks lie below each other.
    """

    def __init__(self, problem: Problem, profile: DeviceProfile) -> None:
        lanes, m, n = profile.lanes, problem.m, problem.n
        self.staged_x = profile.realization == "items"
        itemsize = compute_type(problem.dtype).itemsize
        self.levels = 1 if self.staged_x else 2  # strips keep their sums on the second
        while BLOCK**self.levels < problem.k:
            self.levels += 1
        self.lane_rows, self.lane_columns = 1, lanes
        if self.staged_x:
            self.lane_rows = _power(m, 1 << (lanes.bit_length() // 2))
            self.lane_columns = _power(n, lanes // self.lane_rows)
            self.lane_rows = lanes // self.lane_columns
        self.high = _power(-(-m // self.lane_rows), 4)
        self.wide = _power(-(-n // self.lane_columns), 4 if self.staged_x else 2)
        while self.cells > 1 and self.cells * self.levels * itemsize > profile.lane_bytes:
            if self.high > self.wide:
                self.high //= 2
            else:
                self.wide //= 2
        self.width = self.lane_columns * self.wide
        self.pitch = 1 if self.staged_x else 0
        self.strips, self.height = 1, self.lane_rows * self.high
        self.panel = BLOCK
        while self.panel > 1 and self.bytes(self.panel, itemsize) > profile.scratch_bytes:
            self.panel //= 2
        if not self.staged_x and self.panel == BLOCK:
            most = profile.lane_bytes // (self.cells * itemsize) - 1
            self.strips = max(1, min(16, most // (self.levels - 1), -(-m // self.high)))
            self.height *= self.strips
        self.rows, self.columns = -(-m // self.height), -(-n // self.width)

    @property
    def cells(self) -> int:
        """Elements that a lane sums up at once."""
        return self.high * self.wide

    def bytes(self, panel: int, itemsize: int) -> int:
        """Bytes of group memory of panels of so many terms."""
        width = self.width + self.pitch
        height = self.height + self.pitch if self.staged_x else 0
        return panel * (width + height) * itemsize


class _Program:
    """Writes the kernel."""

    def __init__(self, problem: Problem, tile: _Tile, body: Body) -> None:
        self.problem = problem
        self.tile = tile
        self.body = body
        self.writer = body.writer
        self.register = compute_type(problem.dtype)
        group, lane = self.writer.group, self.writer.lane
        self.column_tile = group % tile.columns
        self.row_tile = group // tile.columns % tile.rows
        self.batch = group // (tile.columns * tile.rows)
        self.lane_row = lane // tile.lane_columns
        self.lane_column = lane % tile.lane_columns
        self.panels: dict[str, Buffer] = {}
        cells = tile.cells
        self.sums = [
            self.writer.allocate(
                self.register, cells * (1 if level == 0 else tile.strips), "lane", "sums"
            )
            for level in range(tile.levels)
        ]

    def write(self) -> None:
        """Stages panels and adds their products, then stores."""
        tile = self.tile
        size = tile.panel * (tile.width + tile.pitch)
        self.panels["y"] = self.writer.allocate(self.register, size, "group", "columns")
        if tile.staged_x:
            size = tile.panel * (tile.height + tile.pitch)
            self.panels["x"] = self.writer.allocate(self.register, size, "group", "rows")
        self._level(tile.levels - 1, Number(0), self.problem.k)
        with self.writer.loop(tile.strips, "strip") as strip:
            self._store(strip)

    # -- sums -------------------------------------------------------------------------------------

    def _level(self, level: int, first: Index, count: int) -> None:
        """Leaves the sums over `count` terms in the arrays of a level."""
        if level == 0:
            self._block(first, count)
            return
        self._clear(level, self.tile.strips)
        size = BLOCK**level
        with self.writer.loop(count // size, "block") as turn:
            self._level(level - 1, first + turn * size, size)
            self._add_level(level)
        if count % size:
            self._level(level - 1, first + count // size * size, count % size)
            self._add_level(level)

    def _clear(self, level: int, strips: int) -> None:
        cells = self.tile.cells * strips
        with self.writer.loop(cells, "cell", unroll=strips == 1) as cell:
            self.writer.store(self.sums[level], cell, identity("add", self.register))

    def _add_level(self, level: int) -> None:
        """Adds the sums of the level below; blocks of one strip are added where they are made."""
        if level == 1:
            return
        cells = self.tile.cells * self.tile.strips
        with self.writer.loop(cells, "cell", unroll=self.tile.strips == 1) as cell:
            self._add(self.sums[level], cell, Load(self.sums[level - 1], cell))

    def _add(self, buffer: Buffer, slot: Index, term: Expr) -> None:
        total = Apply("add", (Load(buffer, slot), term), self.register)
        self.writer.store(buffer, slot, total)

    def _block(self, first: Index, count: int) -> None:
        """One block of terms, panel by panel."""
        tile = self.tile
        if tile.strips == 1:
            self._clear(0, 1)
        done = 0
        while done < count:
            panel = min(tile.panel, count - done)
            turns = (count - done) // panel
            with self.writer.loop(turns, "panel") as turn:
                start = first + turn * panel + done
                self._stage(start, panel)
                with self.writer.loop(tile.strips, "strip") as strip:
                    self._strip(strip, start, panel)
            done += turns * panel
        if tile.strips == 1:
            self._flush(Number(0))

    def _strip(self, strip: Index, first: Index, count: int) -> None:
        """Adds the products of a panel, if the strip has rows."""
        row = (self.row_tile * self.tile.strips + strip) * self.tile.high
        with self.writer.when(None if self.tile.staged_x else inside(row, self.problem.m)):
            self._products(strip, first, count)

    def _products(self, strip: Index, first: Index, count: int) -> None:
        tile = self.tile
        if tile.strips > 1:
            self._clear(0, 1)
        with self.writer.loop(count, "term") as term:
            pitch = tile.width + tile.pitch
            columns = []
            for j in range(tile.wide):
                slot = term * pitch + j * tile.lane_columns + self.lane_column
                columns.append(self.writer.load(self.panels["y"], slot, name="y"))
            for i in range(tile.high):
                x = self._row_value(strip, i, term, first)
                for j, y in enumerate(columns):
                    product = Apply("mul", (x, y), self.register)
                    self._add(self.sums[0], Number(i * tile.wide + j), product)
        if tile.strips > 1:
            self._flush(strip)

    def _flush(self, strip: Index) -> None:
        """Adds a block's sums to those of the next level."""
        tile = self.tile
        if tile.levels == 1:
            return
        cells = tile.cells
        with self.writer.loop(cells, "cell", unroll=True) as cell:
            self._add(self.sums[1], strip * cells + cell, Load(self.sums[0], cell))

    def _row_value(self, strip: Index, number: int, term: Index, first: Index) -> Expr:
        tile = self.tile
        if tile.staged_x:
            slot = term * (tile.height + tile.pitch) + number * tile.lane_rows + self.lane_row
            return self.writer.load(self.panels["x"], slot)
        row = (self.row_tile * tile.strips + strip) * tile.high + number
        return self._operand("x", least(row, self.problem.m - 1), Number(0), first + term, None)

    # -- operands ---------------------------------------------------------------------------------

    def _operand(
        self, name: str, row: Index, column: Index, term: Index, where: Expr | None
    ) -> Expr:
        problem = self.problem
        value: Value = problem.x if name == "x" else problem.y
        kept = problem.kept(self.batch, row, column)
        terms = unravel(term, problem.frame.reduced)
        number = problem.members.number(value)
        if name == "x":
            exists = problem.x_where(kept, terms)
            if exists is not None and number is not None:
                number = select(exists, number, zero(problem.dtype))
            where = both(where, exists)
        if number is not None:
            return number
        if value.type.size == 0:  # all is padding
            return zero(problem.dtype)
        buffer = self.body.buffer_of(value)
        index = problem.frame.at(problem.frame.places[name], kept, terms)
        default = None if where is None else zero(buffer.dtype)
        return self.writer.load(buffer, index, where, default, name)

    def _stage(self, first: Index, count: int) -> None:
        """Copies a panel of each operand to group memory, zeros where there is nothing."""
        self.writer.barrier()
        self._copy("y", first, count, self.tile.width, self.problem.n, self.column_tile)
        if self.tile.staged_x:
            self._copy("x", first, count, self.tile.height, self.problem.m, self.row_tile)
        self.writer.barrier()

    def _copy(
        self, name: str, first: Index, count: int, width: int, extent: int, tile: Index
    ) -> None:
        place = self.problem.frame.places[name]
        terms_first = bool(self.problem.frame.reduced) and (place.strides or (0,))[-1] == 1
        total, lanes = count * width, self.writer.lanes
        with self.writer.loop(-(-total // lanes), "piece") as turn:
            element = turn * lanes + self.writer.lane
            if terms_first:
                across, term = element // count, element % count
            else:
                term, across = element // width, element % width
            at = tile * width + across
            mine = inside(element, total)
            where = both(mine, inside(at, extent))
            row, column = (at, Number(0)) if name == "x" else (Number(0), at)
            value = self._operand(name, row, column, first + term, where)
            slot = term * (width + self.tile.pitch) + across
            self.writer.store(self.panels[name], slot, value, mine)

    # -- results ----------------------------------------------------------------------------------

    def _store(self, strip: Index) -> None:
        tile, top = self.tile, self.sums[-1]
        cells = tile.cells
        offset = strip * cells if tile.levels > 1 else Number(0)
        for i in range(tile.high):
            for j in range(tile.wide):
                value = self.writer.load(top, offset + (i * tile.wide + j), name="sum")
                self._finish(strip, i, j, value)

    def _finish(self, strip: Index, i: int, j: int, value: Expr) -> None:
        """Computes what follows of one element, and stores it."""
        tile, problem = self.tile, self.problem
        strips = self.row_tile * tile.strips + strip
        row = (strips * tile.high + i) * tile.lane_rows + self.lane_row
        if tile.staged_x:
            row = self.row_tile * tile.height + i * tile.lane_rows + self.lane_row
        column = self.column_tile * tile.width + j * tile.lane_columns + self.lane_column
        where = both(inside(row, problem.m), inside(column, problem.n))
        kept = problem.kept(self.batch, row, column)
        nothing = [Number(0)] * len(problem.frame.reduced)

        def at(place: Place) -> Index:
            return problem.frame.at(place, kept, nothing)

        node: Node = problem.node
        values = {node: self.writer.let(rounded(value, node.type.dtype), "product")}
        self.body.compute(problem.epilogue, values, at, where)
        for output, source in problem.members.stores:
            self.body.store(output, source, values, at, where)
