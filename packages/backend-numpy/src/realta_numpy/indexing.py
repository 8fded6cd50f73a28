"""Indexing: gather, scatter and update of slices, with indices that count from the end once."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta_numpy.scan import from_order, to_order

__all__ = ["check_bounds", "gather", "scatter"]

Array = NDArray[Any]
_AT: Final[dict[str, np.ufunc]] = {
    "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip


def _wrapped(indices: Array, extent: int) -> Array:
    """Negative indices counted from the end, once."""
    wide = indices.astype(np.int64, copy=False)
    if not wide.size or wide.min() >= 0:
        return wide
    return np.asarray(np.where(wide < 0, wide + extent, wide))


def gather(x: Array, indices: Array, axis: int, out: Array) -> None:
    """``out = x.take(indices, axis)``; indices outside are clamped."""
    if not out.size:
        return
    if not x.shape[axis]:
        out[...] = 0  # nothing to take: the bounds check before this op reports it
        return
    np.take(x, _wrapped(indices, x.shape[axis]), axis=axis, out=out, mode="clip")


def scatter(
    x: Array, indices: Array, updates: Array, axis: int, reduce: str, mode: str, out: Array
) -> None:
    """Writes updates along an axis, in row-major order: the last one wins for ``set``.

    Args:
        x: base values in a register dtype.
        indices: places along the axis, of any shape.
        updates: shape ``x.shape[:axis] + indices.shape + x.shape[axis + 1:]``.
        axis: axis of x.
        reduce: ``set add mul max min``.
        mode: what becomes of indices outside: ``clip`` clamps them, ``drop`` skips them.
        out: result like x; may be x itself.
    """
    if out is not x:
        np.copyto(out, x)
    extent = x.shape[axis]
    places = _wrapped(indices.reshape(-1), extent)
    lines = updates.reshape(*x.shape[:axis], places.size, *x.shape[axis + 1 :])
    if mode == "drop":
        kept = (places >= 0) & (places < extent)
        places, lines = places[kept], np.compress(kept, lines, axis=axis)
    elif extent:
        places = places.clip(0, extent - 1)
    if not places.size or not out.size:
        return
    if reduce == "set":
        _set_last(out, places, lines, axis)
        return
    # NumPy is fast, and goes in order, where both arrays are one row.
    where = _positions(out.shape, places, axis)
    if reduce in ("max", "min") and out.dtype.kind == "f":
        keys = to_order(out, reduce).reshape(-1)
        _AT[reduce].at(keys, where, to_order(lines, reduce).reshape(-1))
        np.copyto(out, from_order(keys, out.dtype).reshape(out.shape))
    else:
        _AT[reduce].at(out.reshape(-1), where, lines.reshape(-1))


def _positions(shape: tuple[int, ...], places: Array, axis: int) -> Array:
    """Row-major positions of the elements at places of an axis, in row-major order."""
    if len(shape) == 1:
        return places
    behind = prod(shape[axis + 1 :])
    first = np.arange(prod(shape[:axis])) * (shape[axis] * behind)
    lines = np.add.outer(first, places * behind)
    return np.asarray(np.add.outer(lines, np.arange(behind))).reshape(-1)


def _set_last(out: Array, places: Array, lines: Array, axis: int) -> None:
    """Of several updates of one place the last is kept, which plain assignment does not promise."""
    if places.size == 1:  # a row, at the price of a row
        np.moveaxis(out, axis, 0)[int(places[0])] = np.moveaxis(lines, axis, 0)[0]
        return
    last = np.full(out.shape[axis], -1)
    np.maximum.at(last, places, np.arange(places.size))
    chosen = np.flatnonzero(last >= 0)
    np.moveaxis(out, axis, 0)[chosen] = np.moveaxis(lines, axis, 0)[last[chosen]]


def check_bounds(indices: Array, extent: int, axis: int, node: int, out: Array) -> None:
    """Writes the status (node, axis, bad index low word, high word); -1 first if all is well.

    An index is fine from ``-extent`` to ``extent - 1``; the first one that is not is reported.
    """
    out[...] = -1
    wide = indices.reshape(-1)
    bad = (wide < -extent) | (wide >= extent)
    if bad.any():
        index = int(wide[int(np.argmax(bad))])
        words = np.array([index & 0xFFFFFFFF, (index >> 32) & 0xFFFFFFFF], np.uint32)
        out[...] = [node, axis, *words.view(np.int32).tolist()]
