"""Loops: how a kernel's frame is cut into tiles that stay in the cache."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any, Final

from realta_numpy.frame import Frame
from realta_numpy.strides import Extents

__all__ = ["TILE", "Loop", "Loops", "choose_loops"]

TILE: Final = 1 << 17
"""Elements of a tile. NumPy takes the interpreter's lock again for every call, so smaller tiles are
slower on two threads than on one."""


@dataclass(frozen=True, slots=True)
class Loop:
    """One axis that is cut.

    Args:
        axis: axis of the frame.
        extent: its extent.
        step: indices of one tile.
    """

    axis: int
    extent: Any
    step: Any

    @property
    def count(self) -> Any:
        """Tiles along the axis."""
        return -(-self.extent // self.step)


@dataclass(frozen=True, slots=True)
class Loops:
    """The cut axes, the outermost first; all but the last one step by 1.

    Args:
        loops: what is cut; empty if one tile is everything.
        tile: extents of a whole tile.
    """

    loops: tuple[Loop, ...]
    tile: Extents

    @property
    def whole_rows(self) -> bool:
        """Whether a tile of a dense array is dense: only outermost axes are cut."""
        if not self.loops:
            return True
        return all(n == 1 for n in self.tile[: self.loops[-1].axis])

    @property
    def count(self) -> Any:
        """Tiles in all."""
        return prod(loop.count for loop in self.loops)


def choose_loops(frame: Frame, most: int = TILE) -> Loops:
    """Cuts axes from the outermost inwards until a tile has at most ``most`` elements.

    Reduced axes are never cut, so a tile may be larger if its rows are long.
    """
    tile = list(frame.extents)
    loops: list[Loop] = []
    for axis, (extent, reduced) in enumerate(zip(frame.extents, frame.reduced, strict=True)):
        size = prod(tile)
        if size <= most:
            break
        if reduced:
            continue
        per = prod(tile[:axis] + tile[axis + 1 :])
        step = max(1, most // per)
        if step > 64:
            step -= step % 64
        tile[axis] = step
        loops.append(Loop(axis, extent, step))
        if step > 1:
            break
    return Loops(tuple(loops), tuple(tile))
