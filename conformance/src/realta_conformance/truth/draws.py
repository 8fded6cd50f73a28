"""Draw truth: uniform, normal and integer random values from Philox bits, by spec 6."""

from __future__ import annotations

import math
from typing import Any, Final

import mpmath
import numpy as np
from realta.types import DType, as_dtype

from realta_conformance.formats import FORMATS, Array
from realta_conformance.truth.floats import DIGITS
from realta_conformance.truth.philox import philox_bits

__all__ = ["DRAWS"]

_UINT32: Final = as_dtype("uint32")
_UINT64: Final = as_dtype("uint64")


def _lanes(state: Array, shape: tuple[int, ...], dtype: DType) -> list[int]:
    return [int(v) for v in philox_bits(state, shape=shape, dtype=dtype).ravel().tolist()]


def _uniform(state: Array, *, shape: tuple[int, ...], dtype: DType, device: str = "") -> Array:
    lane = _UINT64 if dtype.itemsize == 8 else _UINT32
    kept = FORMATS[dtype].precision
    values = [(v >> (lane.bits - kept)) / 2.0**kept for v in _lanes(state, shape, lane)]
    return np.array(values, np.float64).reshape(shape)


def _normal(state: Array, *, shape: tuple[int, ...], dtype: DType, device: str = "") -> Array:
    count = math.prod(shape)
    fine = dtype.itemsize == 8
    lanes = _lanes(state, (count + count % 2,), _UINT64 if fine else _UINT32)
    if fine:
        lanes = [v >> 11 for v in lanes]
    unit = 2.0**-53 if fine else 2.0**-32
    values: list[float] = []
    with mpmath.workdps(DIGITS):
        for first, second in zip(lanes[::2], lanes[1::2], strict=True):
            radius = mpmath.sqrt(-2 * mpmath.log(mpmath.mpf(first + 1) * unit))
            angle = 2 * mpmath.pi * second * unit
            values += [float(radius * mpmath.cos(angle)), float(radius * mpmath.sin(angle))]
    return np.array(values[:count], np.float64).reshape(shape)


def _integers(
    state: Array, *, shape: tuple[int, ...], low: int, high: int, dtype: DType, device: str = ""
) -> Array:
    span = high - low
    lane = _UINT32 if span <= 2**32 else _UINT64
    values = [low + (v * span >> lane.bits) for v in _lanes(state, shape, lane)]
    return np.array(values, dtype.numpy).reshape(shape)


DRAWS: Final[dict[str, Any]] = {
    "random_uniform": _uniform,
    "random_normal": _normal,
    "random_integers": _integers,
}
"""Random ops by name, on the state of the generator."""
