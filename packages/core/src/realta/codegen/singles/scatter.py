"""Scatter: updates in row-major order, without atomics.

Every element of the result belongs to one lane, which goes through all indices in order and
applies the updates that are its own. Lanes share out what lies beside the indexed axis; where that
is little, the axis is cut into ranges as well. A session that may write over the operand leaves out
the first launch.
"""

from __future__ import annotations

from math import prod
from typing import Final

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Apply, Buffer, Expr, FromIndex
from realta.codegen.lower_loops import vectors_of
from realta.codegen.lower_members import zero
from realta.codegen.lowered import Argument, Launch, Lowered, Temporary
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import apply_scalar, cast
from realta.codegen.singles.dense import copy_launch
from realta.codegen.singles.indexing import counted, is_inside, position
from realta.codegen.writer import KernelWriter, both, inside, not_below
from realta.fusion import Limits
from realta.graph import Node
from realta.types import bool_, float32, int64

__all__ = ["lower_scatter"]

_SCALARS: Final = {"add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}
_RANGES: Final = 4
"""Most ranges of the axis for each group that the device runs at once."""


def lower_scatter(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernels of ``scatter``."""
    x, indices, _ = node.operands
    wide = node.attrs["reduce"] in ("add", "mul") and node.type.dtype.is_half
    count = int(indices.type.size)
    if count == 0:
        return Lowered((copy_launch(x, node, profile),), "a copy")
    # Updates of a half type are applied in float32 and rounded once.
    target: Argument = Temporary(0, float32, int(node.type.size)) if wide else node
    launches = [copy_launch(x, target, profile), _Scatter(node, profile, target).launch()]
    if wide:
        launches.append(copy_launch(target, node, profile))
    return Lowered(tuple(launches), f"a copy, then {count} updates in order")


class _Scatter:
    """The launch that applies the updates."""

    def __init__(self, node: Node, profile: DeviceProfile, target: Argument) -> None:
        self.node = node
        x, self.indices, self.updates = node.operands
        shape, axis = x.type.static_shape, node.attrs["axis"]
        self.extent = shape[axis]
        self.inner = prod(shape[axis + 1 :])
        self.beside = prod(shape[:axis]) * self.inner
        self.count = int(self.indices.type.size)
        self.predicated = profile.realization == "items"
        lanes = profile.lanes
        self.by_lane = self.beside < lanes
        each = self.beside if self.by_lane else vectors_of(self.beside, lanes)
        room = _RANGES * profile.workers * (lanes if self.by_lane else 1)
        self.ranges = max(1, min(self.extent, room // each))
        self.length = -(-self.extent // self.ranges)
        self.ranges = -(-self.extent // self.length)
        total = self.ranges * each
        self.writer = KernelWriter(vectors_of(total, lanes) if self.by_lane else total, lanes)
        self.each = each
        self.target = self.writer.argument(target, "temporary", "out")

    def launch(self) -> Launch:
        """The kernel."""
        writer = self.writer
        given = writer.argument(self.indices, "input", "indices")
        updates = writer.argument(self.updates, "input", "updates")
        if self.by_lane:
            number = writer.group * writer.lanes + writer.lane
            where = inside(number, self.ranges * self.beside)
            part, beside = number // self.beside, number % self.beside
            self._updates(given, updates, part, beside, where)
            return writer.launch("scatter")
        part, piece = writer.group // self.each, writer.group % self.each
        beside = piece * writer.lanes + writer.lane
        whole = self.beside // writer.lanes
        if self.predicated or whole == self.each:
            self._updates(given, updates, part, beside, inside(beside, self.beside))
            return writer.launch("scatter")
        with writer.when(inside(piece, whole)):
            self._updates(given, updates, part, beside, None)
        with writer.when(not_below(piece, whole)):
            beside = writer.lane + whole * writer.lanes
            self._updates(given, updates, part, beside, inside(beside, self.beside))
        return writer.launch("scatter")

    def _updates(
        self, given: Buffer, updates: Buffer, part: Index, beside: Index, where: Expr | None
    ) -> None:
        """All updates in order."""
        with self.writer.loop(self.count, "update") as turn:
            self._update(given, updates, part, beside, turn, where)

    def _update(
        self, given: Buffer, updates: Buffer, part: Index, beside: Index, turn: Index,
        where: Expr | None,
    ) -> None:  # fmt: skip
        """One update, by the lane that has its element."""
        writer, node = self.writer, self.node
        found = writer.load(given, turn, name="given")
        index = writer.let(counted(found, self.indices.type.dtype, self.extent), "index")
        at = position(writer, index, self.extent)
        mine = where
        if node.attrs["mode"] == "drop":
            mine = both(mine, is_inside(index, self.extent))
        if self.ranges > 1:
            mine = both(mine, self._in_range(at.value, part))
        mine = None if mine is None else writer.let(mine, "mine")
        outer: Index = Number(0)
        inner = beside
        if self.inner < self.beside:
            outer, inner = beside // self.inner, beside % self.inner
        element = outer * (self.extent * self.inner) + at * self.inner + inner
        source = (outer * self.count + turn) * self.inner + inner
        default = None if mine is None else zero(updates.dtype)
        value = writer.load(updates, source, mine, default, "new")
        if node.attrs["reduce"] != "set":
            old = writer.load(
                self.target, element, mine, None if mine is None else zero(self.target.dtype), "old"
            )
            dtype = self.target.dtype
            value = apply_scalar(_SCALARS[node.attrs["reduce"]], (old, value), dtype, dtype)
        writer.store(self.target, element, value, mine)

    def _in_range(self, at: Expr, part: Index) -> Expr:
        """Whether a position lies in a part of the axis."""
        wide = cast(at, at.dtype, int64)
        low = Apply("greater_equal", (wide, FromIndex(part * self.length, int64)), bool_)
        high = Apply("less", (wide, FromIndex(part * self.length + self.length, int64)), bool_)
        return Apply("bitwise_and", (low, high), bool_)
