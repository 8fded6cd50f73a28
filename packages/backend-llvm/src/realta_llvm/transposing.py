"""Transposing: tiles that are read down their columns are turned by shuffles, not gathered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from realta.codegen.indices import Index
from realta.codegen.ir import Buffer, Kernel, Load, Loop, Store
from realta.codegen.preamble_conversions import bits_type
from realta.codegen.render_indices import along_lanes
from realta.codegen.walking import all_expressions, statements

from realta_llvm.code import Coder, element_type
from realta_llvm.text import Value

__all__ = ["Tile", "find_tiles", "reads_only", "turn"]

_LANES: Final = 16
_STEPS: Final[dict[int, tuple[tuple[int, tuple[int, ...], tuple[int, ...]], ...]]] = {
    4: ((1, (0, 4, 1, 5), (2, 6, 3, 7)), (2, (0, 1, 4, 5), (2, 3, 6, 7))),
    8: (
        (1, (0, 8, 1, 9, 4, 12, 5, 13), (2, 10, 3, 11, 6, 14, 7, 15)),
        (2, (0, 1, 8, 9, 4, 5, 12, 13), (2, 3, 10, 11, 6, 7, 14, 15)),
        (4, (0, 1, 2, 3, 8, 9, 10, 11), (4, 5, 6, 7, 12, 13, 14, 15)),
    ),
}  # fmt: skip
"""By edge of a block: how far apart two rows are that are mixed, and both mixtures of them.

Each mixture is one instruction with vectors of 128 and of 256 bits: all steps but the last stay in
halves of 128 bits.
"""


class Tile(NamedTuple):
    """Group memory that is written along rows and read down columns.

    Args:
        buffer: the memory.
        pitch: elements from one row to the next.
    """

    buffer: Buffer
    pitch: int

    @property
    def turned(self) -> Buffer:
        """Memory for its columns as rows."""
        return Buffer(f"{self.buffer.name}.turned", self.buffer.dtype, _LANES**2, space="group")


def find_tiles(kernel: Kernel, varying: frozenset[str]) -> dict[str, Tile]:
    """The tiles of a kernel by the names of their buffers."""
    if kernel.lanes != _LANES:
        return {}
    pitches: dict[str, set[int]] = {}
    buffers: dict[str, Buffer] = {}
    for expr in all_expressions(kernel.body):
        if isinstance(expr, Load) and expr.buffer.space == "group":
            found = None if expr.where else _pitch(expr.index, kernel.lanes, varying)
            pitches.setdefault(expr.buffer.name, set()).add(found or 0)
            buffers[expr.buffer.name] = expr.buffer
    return {
        name: Tile(buffers[name], pitch)
        for name, (pitch, *others) in ((n, tuple(p)) for n, p in pitches.items())
        if pitch and not others and buffers[name].size >= pitch * (kernel.lanes - 1) + _LANES
    }


def _pitch(index: Index, lanes: int, varying: frozenset[str]) -> int | None:
    """The distance of the elements of neighbouring lanes, if they are a column of a tile."""
    along = along_lanes(index, lanes, varying)
    if along is None or along[0] < _LANES or along[1].low < 0 or along[1].high >= _LANES:
        return None
    return along[0]


def reads_only(loop: Loop, tile: Tile) -> bool:
    """Whether a loop reads a tile and does not write it."""
    reads = [e for e in all_expressions(loop.body) if isinstance(e, Load)]
    writes = [s for s in statements(loop.body) if isinstance(s, Store)]
    name = tile.buffer.name
    return any(r.buffer.name == name for r in reads) and all(w.buffer.name != name for w in writes)


def turn(coder: Coder, tile: Tile, pointer: str) -> None:
    """Writes the columns of a tile as rows of its turned copy."""
    dtype = bits_type(tile.buffer.dtype)
    edge = 4 if coder.width < 8 or dtype.itemsize == 8 else 8
    element = element_type(dtype)
    vector = f"<{edge} x {element}>"
    for row in range(0, _LANES, edge):
        for column in range(0, _LANES, edge):
            rows = []
            for n in range(edge):
                at = _place(coder, pointer, element, (row + n) * tile.pitch + column)
                load = f"load {vector}, ptr {at.text}, align {dtype.itemsize}"
                rows.append(coder.body.value(load, vector))
            for n, turned in enumerate(_turned(coder, rows, edge)):
                at = _place(coder, f"%{tile.turned.name}", element, (column + n) * _LANES + row)
                size = dtype.itemsize * edge
                coder.body.add(f"store {vector} {turned.text}, ptr {at.text}, align {size}")


def _place(coder: Coder, pointer: str, element: str, at: int) -> Value:
    return coder.body.value(f"getelementptr {element}, ptr {pointer}, i64 {at}", "ptr")


def _turned(coder: Coder, rows: Sequence[Value], edge: int) -> list[Value]:
    found = list(rows)
    for distance, low, high in _STEPS[edge]:
        mixed = list(found)
        for n in range(edge):
            if n & distance:
                continue
            x, y = found[n], found[n + distance]
            mixed[n] = coder.shuffle(x, y, low)
            mixed[n + distance] = coder.shuffle(x, y, high)
        found = mixed
    order = [_source(n, edge) for n in range(edge)]
    return [found[n] for n in order]


def _source(number: int, edge: int) -> int:
    """Where the steps leave a row: the bits that are mixed below 128 bits come out reversed."""
    if edge == 4:
        return (0, 2, 1, 3)[number]
    return (number & 4) | (0, 2, 1, 3)[number & 3]
