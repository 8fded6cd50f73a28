"""Prefetching: rows that are walked over more than once are fetched while others are used.

The first walk over a row waits for memory, the others for the processor. A later walk asks for the
same element of the next row, which the first walk over that then finds in a cache.
"""

from __future__ import annotations

from typing import Final

from realta.codegen.indices import Axis, Index, Number, Product, Sum
from realta.codegen.ir import Load

__all__ = ["Rows"]

_LEAST: Final = 1 << 10
_MOST: Final = 1 << 16
"""Bytes of a row: shorter ones the processor fetches ahead itself, longer ones leave the cache."""


class Rows:
    """Notes which elements of rows were loaded before.

    Attributes:
        loops: the names of the loops that are open, outermost first.
    """

    def __init__(self) -> None:
        self.loops: list[str] = []
        self._seen: set[object] = set()

    def next_row(self, load: Load, index: Index) -> int:
        """Elements from one that is loaded again to the same one of the next row; 0 if it is new.

        Args:
            load: from an input.
            index: its index, known loop variables replaced.
        """
        factors, known = _factors(index)
        if factors is None:
            return 0
        open_loops = [name for name in self.loops if factors.get(name)]
        if len(open_loops) < 2:
            return 0
        distance = factors[open_loops[0]]
        if not _LEAST <= distance * load.buffer.dtype.itemsize <= _MOST:
            return 0
        inner = tuple(sorted(factors[name] for name in open_loops[1:]))
        key = (load.buffer.name, open_loops[0], inner, known)
        if key in self._seen:
            return distance
        self._seen.add(key)
        return 0


def _factors(index: Index) -> tuple[dict[str, int] | None, int]:
    """By how much each loop variable counts, and what is added; None if there is more to it."""
    found: dict[str, int] = {}
    known = 0
    for term in index.terms if isinstance(index, Sum) else (index,):
        of, factor = (term.of, term.factor) if isinstance(term, Product) else (term, 1)
        if isinstance(term, Number):
            known = term.value
        elif isinstance(of, Axis):
            found[of.name] = factor
        else:
            return None, 0
    return found, known
