"""Windows: each lane reduces the window of one element of the result.

Terms are combined in order within blocks of 32, block results likewise: what `reduce_window` adds
has one order for each number of terms.
"""

from __future__ import annotations

from collections.abc import Hashable
from math import prod
from typing import Final

from realta.codegen.indices import Index, Number
from realta.codegen.ir import Expr, Var, compute_type
from realta.codegen.lower_contraction import BLOCK
from realta.codegen.lower_frame import IndexMap
from realta.codegen.lower_loops import At
from realta.codegen.lower_maps import Coordinates, flat_of, unravel
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.scalar import combined, constant, identity, rounded
from realta.codegen.singles.dense import DenseKernel
from realta.codegen.writer import both, inside, not_below
from realta.fusion import Limits
from realta.graph import Node
from realta.ops.window import window_unit

__all__ = ["lower_reduce_window"]

_COMBINE: Final = {"add": "add", "mul": "mul", "max": "maximum", "min": "minimum"}


def lower_reduce_window(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernel of ``reduce_window``."""
    window = _Window(node, profile)
    window.kernel.write(lambda at: None, window.emit)
    text = f"{node.type.size} windows of {window.count}"
    return Lowered((window.kernel.writer.launch("reduce_window"),), text)


class _Window:
    """Writes the kernel."""

    def __init__(self, node: Node, profile: DeviceProfile) -> None:
        self.node = node
        self.sizes: tuple[int, ...] = node.attrs["window"]
        self.count = prod(self.sizes)
        self.combine = _COMBINE[node.attrs["reduce"]]
        self.register = compute_type(node.type.dtype)
        shape = node.type.static_shape
        maps: dict[Hashable, IndexMap] = {"dense": lambda full: flat_of(full, shape)}
        maps |= {axis: self._start(axis) for axis in range(len(shape))}
        self.kernel = DenseKernel(shape, maps, profile)
        self.writer = self.kernel.writer
        self.out = self.writer.argument(node, "output", "out")
        if node.operands[0].type.size:
            self.source = self.writer.argument(node.operands[0], "input", "x")

    def _start(self, axis: int) -> IndexMap:
        """The first place of a window along an axis."""
        stride, low = self.node.attrs["strides"][axis], self.node.attrs["low"][axis]

        def start(full: Coordinates) -> Index:
            found: Index = full[axis] * stride - low
            return found

        return start

    def emit(self, at: At, where: Expr | None) -> None:
        """One vector of results."""
        starts = [at(self.kernel.place(axis)) for axis in range(len(self.sizes))]
        levels = 0
        while BLOCK ** (levels + 1) < self.count:
            levels += 1
        total = self._level(levels, Number(0), self.count, starts, where)
        value = total
        if self.combine in ("add", "mul"):
            value = rounded(total, self.node.type.dtype)
        self.writer.store(self.out, at(self.kernel.place("dense")), value, where)

    def _level(
        self, level: int, first: Index, count: int, starts: list[Index], where: Expr | None
    ) -> Expr:
        """What terms from the first on combine to: at most a block of this level."""
        total = self.writer.declare(identity(self.combine, self.register))
        size = BLOCK**level
        with self.writer.loop(count // size, "term") as turn:
            self._take(total, level, first + turn * size, size, starts, where)
        if count % size:
            done = count // size * size
            self._take(total, level, first + done, count % size, starts, where)
        return total

    def _take(
        self, total: Var, level: int, first: Index, count: int, starts: list[Index],
        where: Expr | None,
    ) -> None:  # fmt: skip
        if level:
            term = self._level(level - 1, first, count, starts, where)
        else:
            term = self._term(first, starts, where)
        self.writer.assign(total, combined(self.combine, total, term))

    def _term(self, number: Index, starts: list[Index], where: Expr | None) -> Expr:
        """One element of the window; what it is outside of the operand."""
        dtype = self.node.type.dtype
        unit = constant(window_unit(self.node.attrs["reduce"], dtype), dtype)
        shape = self.node.operands[0].type.static_shape
        if 0 in shape:
            return unit
        places = []
        bounds: list[Expr | None] = []
        for axis, turn in enumerate(unravel(number, self.sizes)):
            place = starts[axis] + turn * self.node.attrs["dilation"][axis]
            bounds += [not_below(place, 0), inside(place, shape[axis])]
            places.append(place)
        predicate = both(where, *bounds)
        default = None if predicate is None else unit
        return self.writer.load(self.source, flat_of(places, shape), predicate, default)
