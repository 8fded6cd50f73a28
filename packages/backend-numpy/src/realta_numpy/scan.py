"""Scan: running sums, products, maxima and minima along an axis.

Float sums and products are scanned in blocks by extent alone: each block of 32 in order, then the
totals of the blocks in the same way, then every block shifted by the total before it. Float32 and
half types accumulate in float64 in order, which is more accurate than any tree in float32.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["scan"]

Array = NDArray[Any]
_BLOCK: Final = 32
_UFUNCS: Final[dict[str, np.ufunc]] = {
    "cumsum": np.add, "cumprod": np.multiply, "cummax": np.maximum, "cummin": np.minimum,
}  # fmt: skip


def scan(name: str, x: Array, out: Array, axis: int, exclusive: bool, reverse: bool) -> None:
    """Writes the scan of a register along an axis.

    Args:
        name: ``cumsum cumprod cummax cummin``.
        x: the elements.
        out: result of the same shape and dtype.
        axis: axis to scan.
        exclusive: leave each element out of its own result; the first one is the unit.
        reverse: from the end.
    """
    if not x.size:
        return
    lines = np.moveaxis(x, axis, -1)
    target = np.moveaxis(out, axis, -1)
    if reverse:
        lines, target = lines[..., ::-1], target[..., ::-1]
    running = _inclusive(name, np.ascontiguousarray(lines))
    if exclusive:
        target[..., 1:] = running[..., :-1]
        target[..., 0] = _unit(name, out.dtype)
    else:
        target[...] = running


def _inclusive(name: str, x: Array) -> Array:
    ufunc = _UFUNCS[name]
    if x.dtype.kind != "f":
        return np.asarray(ufunc.accumulate(x, axis=-1, dtype=x.dtype))
    if name in ("cummax", "cummin"):
        return from_order(ufunc.accumulate(to_order(x, name), axis=-1), x.dtype)
    if x.dtype.itemsize < 8:
        return np.asarray(ufunc.accumulate(x, axis=-1, dtype=np.float64))
    return _blocked(ufunc, x)


def _blocked(ufunc: np.ufunc, x: Array) -> Array:
    n = x.shape[-1]
    if n <= _BLOCK:
        return np.asarray(ufunc.accumulate(x, axis=-1))
    whole = n // _BLOCK * _BLOCK
    inside = ufunc.accumulate(x[..., :whole].reshape(*x.shape[:-1], -1, _BLOCK), axis=-1)
    before = _blocked(ufunc, np.ascontiguousarray(inside[..., -1]))
    ufunc(inside[..., 1:, :], before[..., :-1, None], out=inside[..., 1:, :])
    result = np.empty_like(x)
    result[..., :whole] = inside.reshape(*x.shape[:-1], whole)
    if whole < n:
        tail = ufunc.accumulate(x[..., whole:], axis=-1)
        ufunc(tail, before[..., -1:], out=result[..., whole:])
    return result


def _unit(name: str, dtype: np.dtype[Any]) -> Any:
    if name in ("cumsum", "cumprod"):
        return dtype.type(name == "cumprod")
    if dtype.kind == "f":
        return dtype.type(-np.inf if name == "cummax" else np.inf)
    if dtype.kind == "b":
        return name == "cummin"
    info = np.iinfo(dtype)
    return info.min if name == "cummax" else info.max


def to_order(x: Array, name: str) -> Array:
    """Floats as integers in the order -inf ... -0 < 0 ... inf; NaN wins what is asked for."""
    integer = np.dtype(f"i{x.itemsize}")
    bits = x.view(integer)
    info = np.iinfo(integer)
    keys = np.where(bits < 0, bits ^ integer.type(info.max), bits)
    winner = info.max if name in ("cummax", "max") else info.min
    return np.asarray(np.where(np.isnan(x), integer.type(winner), keys))


def from_order(keys: Array, dtype: np.dtype[Any]) -> Array:
    """The floats of `to_order`; its extremes are NaNs."""
    bits = np.where(keys < 0, keys ^ np.iinfo(keys.dtype).max, keys)
    return np.asarray(bits).view(dtype)
