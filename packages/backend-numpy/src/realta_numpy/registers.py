"""Registers: the dtypes that kernels compute in, and exact conversion between those and storage.

Half types (16 bits and narrower) are computed in float32: every float32 operation followed by one
rounding is then as good as the operation in half precision. A register of a half type holds values
that the half type has, as float32.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.types import DType

__all__ = ["cast", "narrow", "register_dtype", "round_half", "truncation", "widen"]

Array = NDArray[Any]
_SINGLE = np.dtype(np.float32)
_DOUBLE = np.dtype(np.float64)
_FEW = 4096


def register_dtype(dtype: DType) -> np.dtype[Any]:
    """The NumPy dtype in which values of a dtype are computed."""
    return _SINGLE if dtype.is_half else dtype.numpy


def widen(stored: Array, dtype: DType) -> Array:
    """Stored values as a register; the array itself unless the dtype is a half type."""
    return stored.astype(_SINGLE) if dtype.is_half else stored


def narrow(register: Array, dtype: DType) -> Array:
    """A register as stored values, rounded to nearest even; the array itself unless a half type."""
    return register.astype(dtype.numpy) if dtype.is_half else register


def round_half(x: Array, dtype: DType, out: Array) -> None:
    """Rounds float32 to the values of a half type."""
    np.copyto(out, x.astype(dtype.numpy))


def cast(x: Array, source: DType, target: DType, out: Array) -> None:
    """Casts a register: float to integer truncates, saturates and takes NaN to 0; integers wrap.

    Whatever goes to a float rounds once, to nearest even. Anything but zero is True.
    """
    if target.kind == "bool":
        np.not_equal(x, 0, out=out)
    elif target.is_integer:
        if source.is_float:
            truncation(x.dtype, out.dtype)(x, out)
        else:
            np.copyto(out, x, casting="unsafe")
    elif not target.is_half:
        np.copyto(out, x, casting="unsafe")
    elif source.is_half or source.numpy == _SINGLE:
        round_half(x, target, out)
    else:
        round_half(_odd_single(x if source.is_float else _odd_double(x)), target, out)


@cache
def truncation(source: np.dtype[Any], target: np.dtype[Any]) -> Callable[[Array, Array], None]:
    """A function of floats and where to put the integers: truncates, saturates, takes NaN to 0."""
    info = np.iinfo(target)
    least, greatest = int(info.min), int(info.max)
    # The highest integer plus one is a power of two, so it is exact in every float type.
    low, high = np.asarray(least, source), np.asarray(float(greatest + 1), source)
    magnitude = np.absolute if least else np.positive
    less, not_less, both = np.less, np.greater_equal, np.logical_and

    # Where the squares of all together are less than the square of the end, each one is inside.
    enough = float(greatest + 1) ** 2

    def truncate(x: Array, out: Array) -> None:
        if least and x.ndim == 1 and x.size <= _FEW and x.dot(x) < enough:
            out[...] = x
            return
        inside = less(magnitude(x), high)
        if not least:
            inside &= not_less(x, low)
        # For a few elements looking at bytes is faster than a reduction.
        if 0 not in inside.tobytes() if inside.size <= _FEW else both.reduce(inside, axis=None):
            out[...] = x
            return
        inside = (x >= low) & (x < high)
        np.copyto(out, np.where(inside, x, x.dtype.type(0)), casting="unsafe")
        np.copyto(out, greatest, where=x >= high)
        np.copyto(out, least, where=x < low)

    return truncate


def _odd_single(x: Array) -> Array:
    """Float64 to float32 rounded to odd: a later rounding to fewer bits is then as good as one."""
    single = x.astype(_SINGLE)
    back = single.astype(_DOUBLE)
    away = np.abs(back) > np.abs(x)
    toward_zero = np.asarray(np.where(away, np.nextafter(single, np.float32(0)), single))
    inexact = (back != x) & ~np.isnan(x)
    return np.asarray(toward_zero.view(np.uint32) | inexact).view(_SINGLE)


def _odd_double(x: Array) -> Array:
    """Integers and bools as float64, rounded to odd where 53 bits do not hold them."""
    if x.dtype.itemsize < 8:
        return x.astype(_DOUBLE)
    kept = x >> 11 << 11
    odd = kept | ((x != kept).astype(x.dtype) << 11)
    near = (x < (1 << 53)) & (x > -(1 << 53)) if x.dtype.kind == "i" else x < (1 << 53)
    return np.asarray(np.where(near, x, odd)).astype(_DOUBLE)
