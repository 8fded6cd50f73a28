"""Conversion: arrays cast from one element type to another by the rules of spec 5.

Float to integer truncates, saturates and takes NaN to 0; integer to integer wraps; everything to a
float rounds once, to nearest even; anything but zero is True (NaN too).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from realta.types import DType, as_dtype, float16, float32, float64

__all__ = ["Array", "convert", "in_float64", "in_single", "quiet", "widened"]

Array = np.ndarray[Any, np.dtype[Any]]
Function = Callable[..., Any]


def quiet(function: Function) -> Function:
    """A reference that never warns: infinities and NaNs are results, not accidents."""

    @wraps(function)
    def run(*arrays: Any, **attrs: Any) -> Any:
        with np.errstate(all="ignore"):
            found = function(*arrays, **attrs)
        return found if isinstance(found, tuple) else np.asarray(found)

    return run


def convert(x: Array, dtype: DType) -> Array:
    """The array in another element type."""
    source = as_dtype(x.dtype)
    if source is dtype:
        return x.copy()
    with np.errstate(all="ignore"):
        if dtype.kind == "bool":
            return np.not_equal(widened(x), 0)
        if source.is_float:
            return _to_integer(x, dtype) if dtype.is_integer else _round(x, dtype)
        if dtype.is_integer or dtype in (float32, float64):
            return x.astype(dtype.numpy)
        return _round(_odd_from_integer(x), dtype)


def widened(x: Array) -> Array:
    """A float array as float32, if it is narrower; others as they are."""
    return x.astype(np.float32) if as_dtype(x.dtype).is_half else x


def _to_integer(x: Array, dtype: DType) -> Array:
    info = np.iinfo(dtype.numpy)
    whole = np.trunc(widened(x).astype(np.float64))
    # max + 1 is a power of two, hence a float64; max itself is none for 64 bits.
    over, under = whole >= float(info.max + 1), whole < float(info.min)
    inside = np.where(over | under | np.isnan(whole), 0.0, whole)
    result = inside.astype(dtype.numpy)
    return np.where(over, info.max, np.where(under, info.min, result)).astype(dtype.numpy)


def _round(x: Array, dtype: DType) -> Array:
    if dtype in (float16, float32, float64) and x.dtype.kind == "f":
        return x.astype(dtype.numpy)  # NumPy rounds once
    narrow = _odd_single(x) if x.dtype == np.float64 else widened(x)
    return narrow.astype(dtype.numpy)


def _odd_single(x: Array) -> Array:
    """Float64 to float32, rounded to odd: a later rounding to fewer bits is then as good as one."""
    single = x.astype(np.float32)
    back = single.astype(np.float64)
    away = np.abs(back) > np.abs(x)
    toward_zero = np.where(away, np.nextafter(single, np.float32(0)), single)
    inexact = (back != x) & ~np.isnan(x)
    bits = np.asarray(toward_zero, np.float32).view(np.uint32)
    return np.asarray(bits | inexact.astype(np.uint32)).view(np.float32)


def _odd_from_integer(x: Array) -> Array:
    """Integers (or bools) as float64, rounded to odd where 53 bits do not hold them."""
    if x.dtype.itemsize < 8:
        return x.astype(np.float64)
    high = (x >> 12) | ((x & 0xFFF) != 0).astype(x.dtype)
    large = (x > 1 << 52) if x.dtype.kind == "u" else (x > 1 << 52) | (x < -(1 << 52))
    return np.where(large, high.astype(np.float64) * 4096.0, x.astype(np.float64))


def in_single(function: Function) -> Function:
    """A reference in the operands' own type; half types compute in float32 and round once.

    For correctly rounded functions that rounds as if once: float32 has more than twice their bits.
    """

    @quiet
    @wraps(function)
    def run(*arrays: Array, **attrs: Any) -> Any:
        dtype = as_dtype(arrays[0].dtype)
        if not dtype.is_half:
            return function(*arrays, **attrs)
        found = np.asarray(function(*map(widened, arrays), **attrs))
        return convert(found, dtype) if found.dtype == np.float32 else found

    return run


def in_float64(function: Function) -> Function:
    """A reference that computes all float operands in float64 and rounds once at the end."""

    @quiet
    @wraps(function)
    def run(*arrays: Array, **attrs: Any) -> Any:
        dtype = as_dtype(arrays[0].dtype)
        wide = [widened(a).astype(np.float64) if as_dtype(a.dtype).is_float else a for a in arrays]
        return convert(np.asarray(function(*wide, **attrs)), dtype)

    return run
