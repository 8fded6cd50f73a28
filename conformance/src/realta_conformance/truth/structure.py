"""Structure truth: movement, indexing and sorting; they move elements and never change one."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from realta_conformance.formats import Array

__all__ = ["STRUCTURE_OPS", "clamp_indices", "scatter", "slice_index"]

Combine = Callable[[Any, Any], Any]


def slice_index(
    start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]
) -> tuple[Any, ...]:
    """Positions along each axis, as NumPy takes them."""
    ranges = [list(range(a, b, c)) for a, b, c in zip(start, stop, step, strict=True)]
    return np.ix_(*[np.array(r, np.intp) for r in ranges]) if ranges else ()


def _slice(x: Array, *, start: Any, stop: Any, step: Any) -> Array:
    return np.asarray(x[slice_index(start, stop, step)])


def _update_slice(x: Array, value: Array, *, start: Any, stop: Any, step: Any) -> Array:
    out = x.copy()
    out[slice_index(start, stop, step)] = value
    return out


def _dynamic_update_slice(x: Array, value: Array, *starts: Array) -> Array:
    """Each element of the window written where it lands, after the start was clamped."""
    out = x.copy()
    first = [
        max(0, min(int(start), extent - length))
        for start, extent, length in zip(starts, x.shape, value.shape, strict=True)
    ]
    for place in itertools.product(*map(range, value.shape)):
        out[tuple(a + b for a, b in zip(first, place, strict=True))] = value[place]
    return out


def _pad(x: Array, fill: Array, *, low: Any, high: Any) -> Array:
    shape = [a + n + b for a, n, b in zip(low, x.shape, high, strict=True)]
    out = np.full(shape, fill[()], x.dtype)
    out[tuple(slice(a, a + n) for a, n in zip(low, x.shape, strict=True))] = x
    return out


def clamp_indices(indices: Array, extent: int) -> Array:
    """Negative indices count from the end once; what is still outside goes to the nearest end."""
    flat = [int(v) for v in indices.ravel().tolist()]
    moved = [min(max(v + extent if v < 0 else v, 0), extent - 1) for v in flat]
    return np.array(moved, np.intp).reshape(indices.shape)


def _gather(x: Array, indices: Array, *, axis: int) -> Array:
    return np.take(x, clamp_indices(indices, x.shape[axis]), axis=axis)


_COMBINE: Final[Mapping[str, Combine]] = {
    "set": lambda old, new: new,
    "add": lambda old, new: old + new,
    "mul": lambda old, new: old * new,
    "max": lambda old, new: new if new != new or new > old else old,
    "min": lambda old, new: new if new != new or new < old else old,
}


def scatter(
    x: Array, indices: Array, updates: Array, *, axis: int, reduce: str = "set", mode: str = "clip"
) -> Array:
    """Updates applied one by one in row-major order; floats add up in float64."""
    out = np.moveaxis(x.copy(), axis, 0)
    extent = x.shape[axis]
    front = tuple(range(axis, axis + indices.ndim))
    rows = np.moveaxis(updates, front, tuple(range(indices.ndim)))
    rows = rows.reshape((indices.size, *out.shape[1:]))
    combine = _COMBINE[reduce]
    for n, index in enumerate(int(v) for v in indices.ravel().tolist()):
        place = index + extent if index < 0 else index
        if not 0 <= place < extent:
            if mode == "drop":
                continue
            place = min(max(place, 0), extent - 1)
        for at in itertools.product(*map(range, out.shape[1:])):
            old = out[(place, *at)]
            out[(place, *at)] = (
                combine(old, rows[(n, *at)]) if old == old else _keep(old, reduce, rows[(n, *at)])
            )
    return np.moveaxis(out, 0, axis)


def _keep(old: Any, reduce: str, new: Any) -> Any:
    return new if reduce == "set" else old


def _order(column: Array, descending: bool) -> list[int]:
    """Positions of a stable sort of one row with NaN last."""
    values = column.tolist()

    def before(a: int, b: int) -> int:
        x, y = values[a], values[b]
        if x != x or y != y:
            return int(x != x) - int(y != y)
        ahead = int(x > y) - int(x < y)
        return -ahead if descending else ahead

    return sorted(range(len(values)), key=functools.cmp_to_key(before))


def _argsort(x: Array, *, axis: int, descending: bool = False) -> Array:
    rows = np.moveaxis(x, axis, -1)
    flat = rows.reshape((math.prod(rows.shape[:-1]), rows.shape[-1]))
    order = np.array([_order(row, descending) for row in flat], np.int64)
    return np.moveaxis(order.reshape(rows.shape), -1, axis)


def _sort(x: Array, *, axis: int, descending: bool = False) -> Array:
    return np.take_along_axis(x, _argsort(x, axis=axis, descending=descending), axis)


def _top_k(x: Array, *, k: int, axis: int, largest: bool = True) -> tuple[Array, Array]:
    order = _argsort(x, axis=axis, descending=largest)
    order = np.take(order, np.arange(k), axis=axis)
    return np.take_along_axis(x, order, axis), order


def _searchsorted(row: Array, values: Array, *, right: bool) -> Array:
    line = row.astype(object) if row.dtype.kind in "biu" else row.astype(np.float64)
    found = [
        sum(_precedes(element, value, right) for element in line.tolist())
        for value in values.reshape(-1).tolist()
    ]
    return np.array(found, np.int64).reshape(values.shape)


def _precedes(x: Any, y: Any, equal: bool) -> bool:
    """Whether x comes before y in a sorted row, or may be equal to it; NaN comes last."""
    if x != x or y != y:
        return bool(y != y and (x == x or equal))
    return bool(x < y or (equal and x == y))


def _one_hot(indices: Array, *, depth: int, dtype: Any) -> Array:
    return np.asarray(indices[..., None] == np.arange(depth)).astype(np.int64)


def _check_bounds(indices: Array, *, extent: int, axis: int) -> Array:
    for index in (int(v) for v in indices.ravel().tolist()):
        if not -extent <= index < extent:
            words = index & 0xFFFFFFFF, (index >> 32) & 0xFFFFFFFF
            return np.array([0, axis, *[w - 2**32 if w >= 2**31 else w for w in words]])
    return np.full(4, -1)


STRUCTURE_OPS: Final[Mapping[str, Callable[..., Any]]] = {
    "reshape": lambda x, *, shape: x.reshape(shape),
    "permute": lambda x, *, axes: x.transpose(axes),
    "broadcast": lambda x, *, shape: np.broadcast_to(x, shape),
    "slice": _slice,
    "pad": _pad,
    "concat": lambda *xs, axis: np.concatenate(xs, axis=axis),
    "barrier": lambda x: x,
    "rebind": lambda x, **attrs: x,
    "guard": lambda x, *statuses, **attrs: x,
    "update_slice": _update_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "gather": _gather,
    "scatter": scatter,
    "sort": _sort,
    "argsort": _argsort,
    "top_k": _top_k,
    "one_hot": _one_hot,
    "searchsorted": _searchsorted,
    "check_bounds": _check_bounds,
}
"""Ops by name on arrays of any dtype; elements keep their bits, positions come as int64."""
