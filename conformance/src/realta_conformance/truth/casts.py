"""Cast truth: floats round once, integers wrap, floats saturate on the way to integers."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from realta.types import DType

from realta_conformance.formats import Array, native, round_to, wide
from realta_conformance.truth.integers import exact_ints, limits, wrap

__all__ = ["bit_cast", "cast", "next_after"]


def cast(x: Array, source: DType, target: DType) -> Array:
    """Elements converted: floats as float64 holding numbers of the target, others in its dtype."""
    if target.kind == "bool":
        return np.asarray(x != 0)
    if source.is_float and target.is_float:
        return round_to(target, x)
    if source.is_float:
        low, high = limits(target)
        flat = [_to_int(v, low, high) for v in x.ravel().tolist()]
        return np.array(flat, target.numpy).reshape(x.shape)
    ints = exact_ints(x)
    if not target.is_float:
        return wrap(target, ints)
    pairs = [_two_doubles(v) for v in ints.ravel().tolist()]
    near = np.array([p[0] for p in pairs], np.float64).reshape(x.shape)
    rest = np.array([p[1] for p in pairs], np.float64).reshape(x.shape)
    return round_to(target, near, rest)


def _to_int(value: float, low: int, high: int) -> int:
    if math.isnan(value):
        return 0
    if math.isinf(value):
        return high if value > 0 else low
    return min(max(int(value), low), high)


def _two_doubles(value: int) -> tuple[float, float]:
    near = float(value)
    return near, float(Fraction(value) - Fraction(near))


def bit_cast(x: Array, source: DType, target: DType) -> Array:
    """The same bits as another dtype of equal width; ``x`` holds numbers of ``source``."""
    held = native(source, x)
    return wide(np.ascontiguousarray(held).view(target.numpy)).reshape(x.shape)


def next_after(x: Array, y: Array, dtype: DType) -> Array:
    """The neighbour of ``x`` towards ``y`` in a float dtype, by counting in its bit patterns."""
    bits = np.dtype(f"i{dtype.itemsize}")
    held = np.ascontiguousarray(native(dtype, x)).view(bits).astype(object)
    sign = 1 << (dtype.bits - 1)
    out = np.empty(x.shape, object)
    for n, (value, a, b) in enumerate(zip(held.ravel(), x.ravel(), y.ravel(), strict=True)):
        if math.isnan(a) or math.isnan(b) or a == b:
            out.flat[n] = None
            continue
        magnitude = value & (sign - 1)
        if magnitude == 0:
            out.flat[n] = 1 | (sign if b < 0 else 0)
            continue
        step = 1 if (b > a) == (a > 0) else -1
        out.flat[n] = (magnitude + step) | (sign if a < 0 else 0)
    known = np.array(
        [v if v is not None else 0 for v in out.ravel()], np.dtype(f"u{dtype.itemsize}")
    )
    moved = wide(known.view(dtype.numpy)).reshape(x.shape)
    unknown = np.array([v is None for v in out.ravel()], bool).reshape(x.shape)
    same = np.where(np.isnan(x) | np.isnan(y), np.nan, y)
    return np.where(unknown, same, moved)
