"""Windows: reduce_window one axis after the other, each by whole arrays that start elsewhere.

The last axis goes first. Along an axis the elements of a window are combined in an order that its
extent alone decides, so sums have the same bits for any layout, tile and number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.runtime import workers
from realta.types import DType

from realta_numpy.pairwise import pairwise
from realta_numpy.registers import register_dtype

__all__ = ["Windows", "reduce_windows"]

Array = NDArray[Any]
_TILE: Final = 1 << 16
"""Elements of a result that one thread computes at a time."""
_UFUNCS: Final[dict[str, np.ufunc]] = {
    "add": np.add, "mul": np.multiply, "max": np.maximum, "min": np.minimum,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Windows:
    """Where windows lie: one entry for each axis.

    Args:
        extents: of one window.
        strides: how far apart windows start.
        low: padding before the axis.
        high: padding after the axis.
        dilation: how far apart the elements of a window are.
    """

    extents: Sequence[int]
    strides: Sequence[int]
    low: Sequence[int]
    high: Sequence[int]
    dilation: Sequence[int]

    def reach(self, axis: int) -> int:
        """How many places a window covers."""
        return (self.extents[axis] - 1) * self.dilation[axis] + 1


def _unit(reduce: str, dtype: np.dtype[Any]) -> Any:
    if reduce in ("add", "mul"):
        return int(reduce == "mul")
    if dtype.kind == "f":
        return -np.inf if reduce == "max" else np.inf
    info = np.iinfo(dtype)
    return info.min if reduce == "max" else info.max


def reduce_windows(reduce: str, x: Array, dtype: DType, windows: Windows, out: Array) -> None:
    """Writes each window of stored values reduced to one element.

    Args:
        reduce: ``add mul max min``.
        x: the elements, in any layout.
        dtype: their dtype.
        windows: where the windows lie.
        out: the result in the storage of the same dtype.
    """
    if not out.size:
        return
    if not out.ndim:
        out[...] = x
        return
    # Tiles change no bit: they only say which windows a thread takes.
    axis = next((n for n, d in enumerate(out.shape) if d > 1), 0)
    step = max(1, _TILE * out.shape[axis] // out.size)
    before = (slice(None),) * axis

    def share(number: int) -> None:
        first, last = number * step, min((number + 1) * step, out.shape[axis])
        part = _padded(reduce, x, dtype, windows, axis, first, last)
        counts = list(out.shape)
        counts[axis] = last - first
        found = _reduced(reduce, part, windows, counts)
        np.copyto(out[(*before, slice(first, last))], found, casting="unsafe")

    workers().run(share, -(-out.shape[axis] // step))


def _padded(
    reduce: str, x: Array, dtype: DType, windows: Windows, axis: int, first: int, last: int
) -> Array:
    """What windows ``first`` to ``last`` of an axis read, as a register, padding included."""
    low, high, inside = list(windows.low), list(windows.high), [slice(None)] * x.ndim
    start = first * windows.strides[axis] - windows.low[axis]
    stop = (last - 1) * windows.strides[axis] - windows.low[axis] + windows.reach(axis)
    extent = x.shape[axis]
    low[axis], high[axis] = max(-start, 0), max(stop - extent, 0)
    inside[axis] = slice(min(max(start, 0), extent), max(min(stop, extent), 0))
    if start >= extent or stop <= 0:  # nothing but padding
        inside[axis] = slice(0, 0)
        low[axis], high[axis] = stop - start, 0
    part = x[tuple(inside)]
    register = register_dtype(dtype)
    if not any(low) and not any(high):
        return part.astype(register, copy=False)
    shape = tuple(a + d + b for a, d, b in zip(low, part.shape, high, strict=True))
    result = np.full(shape, _unit(reduce, register), register)
    result[tuple(slice(a, a + d) for a, d in zip(low, part.shape, strict=True))] = part
    return result


def _reduced(reduce: str, x: Array, windows: Windows, counts: Sequence[int]) -> Array:
    found = _separately(_UFUNCS[reduce], x, windows, counts)
    if reduce in ("max", "min") and x.dtype.kind == "f" and not found.all():
        return _ordered_zeros(reduce, x, windows, counts, found)
    return found


def _ordered_zeros(
    reduce: str, x: Array, windows: Windows, counts: Sequence[int], found: Array
) -> Array:
    """The result with the sign of zeros that -0 < 0 asks for; NumPy leaves it to chance."""
    zero = x == 0
    negative = zero & np.signbit(x)
    if not negative.any():
        return found
    wins = zero & ~negative if reduce == "max" else negative
    has = _separately(np.logical_or, wins, windows, counts)
    minus = ~has if reduce == "max" else has
    return np.where(found == 0, np.where(minus, -0.0, 0.0).astype(found.dtype), found)


def _separately(ufunc: np.ufunc, x: Array, windows: Windows, counts: Sequence[int]) -> Array:
    for axis in reversed(range(x.ndim)):
        x = _along(ufunc, x, windows, axis, counts[axis])
    return x


def _along(ufunc: np.ufunc, x: Array, windows: Windows, axis: int, count: int) -> Array:
    before, stride = (slice(None),) * axis, windows.strides[axis]

    def term(number: int) -> Array:
        start = number * windows.dilation[axis]
        return x[(*before, slice(start, start + (count - 1) * stride + 1, stride))]

    extent = windows.extents[axis]
    if extent == 1:
        return term(0)
    return pairwise(ufunc, lambda number: np.array(term(number)), term, extent)
