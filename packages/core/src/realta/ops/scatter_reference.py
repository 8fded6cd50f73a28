"""Scatter in NumPy: updates applied one after the other in row-major order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from realta.ops.accumulation import accumulator
from realta.ops.conversion import Array, convert
from realta.ops.elementwise_binary import maximum, minimum
from realta.types import as_dtype

__all__ = ["MODES", "REDUCTIONS", "scatter"]

_COMBINE: Final[Mapping[str, Callable[[Array, Array], Array]]] = {
    "set": lambda have, update: update,
    "add": np.add,
    "mul": np.multiply,
    "max": maximum,
    "min": minimum,
}
REDUCTIONS: Final = tuple(_COMBINE)
MODES: Final = ("clip", "drop")


def scatter(
    x: Array, indices: Array, updates: Array, *, axis: int, reduce: str, mode: str
) -> Array:
    """The operand with the updates applied; see the op `scatter`."""
    extent = x.shape[axis]
    wide = accumulator if reduce != "set" else np.asarray
    total = np.moveaxis(wide(x), axis, 0).copy()
    # One line of updates for each index; inside a line no two updates meet the same element.
    last = tuple(range(axis, axis + indices.ndim))
    lines = np.moveaxis(wide(updates), last, range(indices.ndim))
    lines = lines.reshape((indices.size, *total.shape[1:]))
    counted = np.where(indices < 0, indices + extent, indices).reshape(-1)
    inside = (counted >= 0) & (counted < extent)
    if mode == "drop":
        lines, counted = lines[inside], counted[inside]
    counted = np.clip(counted, 0, max(extent - 1, 0))
    for chosen in _rounds(counted):
        rows = counted[chosen]
        total[rows] = _COMBINE[reduce](total[rows], lines[chosen])
    return convert(np.moveaxis(total, 0, axis), as_dtype(x.dtype))


def _rounds(rows: Array) -> list[Array]:
    """Positions in rounds: round n has the n-th occurrence of each row, so order is kept."""
    if not rows.size:
        return []
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=rows[order[0]] - 1))
    occurrence = np.arange(rows.size) - np.repeat(starts, np.diff(starts, append=rows.size))
    by_round = order[np.argsort(occurrence, kind="stable")]
    return np.split(by_round, np.cumsum(np.bincount(occurrence))[:-1])
