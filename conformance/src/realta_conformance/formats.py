"""Float formats: exact rounding into any dtype, and the size of one unit in the last place.

NumPy and ml_dtypes convert float64 to the narrow types through float32, which rounds twice. What is
right must not, so the rounding here is our own and works on the numbers themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.types import DType, as_dtype

__all__ = ["FORMATS", "Array", "FloatFormat", "integer_bits", "native", "round_to", "ulp", "wide"]

Array = NDArray[Any]


@dataclass(frozen=True, slots=True)
class FloatFormat:
    """A binary floating-point format.

    Args:
        precision: bits of the significand with the hidden one.
        lowest: exponent of the smallest normal number.
        largest: the largest finite number.
        infinite: whether it has infinities; without them, overflow is NaN.
    """

    precision: int
    lowest: int
    largest: float
    infinite: bool = True

    @property
    def eps(self) -> float:
        """Distance from 1 to the next number."""
        return float(2.0 ** (1 - self.precision))

    @property
    def tiny(self) -> float:
        """The smallest normal number."""
        return float(2.0**self.lowest)

    @property
    def smallest(self) -> float:
        """The smallest subnormal number."""
        return float(2.0 ** (self.lowest - self.precision + 1))


FORMATS: Final[Mapping[DType, FloatFormat]] = {
    as_dtype(name): form
    for name, form in {
        "float16": FloatFormat(11, -14, 65504.0),
        "bfloat16": FloatFormat(8, -126, (2 - 2.0**-7) * 2.0**127),
        "float32": FloatFormat(24, -126, (2 - 2.0**-23) * 2.0**127),
        "float64": FloatFormat(53, -1022, (2 - 2.0**-52) * 2.0**1023),
        "float8_e4m3fn": FloatFormat(4, -6, 448.0, infinite=False),
        "float8_e5m2": FloatFormat(3, -14, 57344.0),
    }.items()
}


def wide(array: Array) -> Array:
    """The values of an array of any float dtype as float64, exactly; other dtypes as they are."""
    if array.dtype.kind in "biu":
        return array
    return array.astype(np.float64)


def integer_bits(dtype: DType) -> np.dtype[Any]:
    """The unsigned integer type as wide as a dtype."""
    return np.dtype(f"u{dtype.itemsize}")


def _to_odd(high: Array, low: Array) -> Array:
    """The sum of two doubles as one whose last bit says whether something was cut off."""
    inexact = (low != 0) & np.isfinite(high) & np.isfinite(low)
    inward = inexact & (np.signbit(low) != np.signbit(high))
    cut = np.where(inward, np.nextafter(high, 0.0), high)
    bits = np.ascontiguousarray(cut).view(np.uint64) | np.uint64(1)
    return np.where(inexact, bits.view(np.float64).reshape(high.shape), high)


def round_to(dtype: DType, high: Array, low: Array | None = None) -> Array:
    """The nearest number of a float dtype, ties to even, as float64.

    Args:
        dtype: the float type to round into.
        high: float64 values.
        low: what must be added to ``high`` for the exact values, if they are no doubles.
    """
    high = np.asarray(high, np.float64)
    form = FORMATS[dtype]
    if form.precision == 53:
        return high
    exact = high if low is None else _to_odd(high, np.asarray(low, np.float64))
    with np.errstate(all="ignore"):
        step = ulp(dtype, exact)
        rounded = np.rint(exact / step) * step
        over = np.abs(rounded) > form.largest
        rounded = np.where(np.isfinite(exact), rounded, exact)
        beyond = np.copysign(np.inf, exact) if form.infinite else np.full_like(exact, np.nan)
        rounded = np.where(over & ~np.isnan(exact), beyond, rounded)
    return np.asarray(np.copysign(rounded, exact))


def ulp(dtype: DType, values: Array) -> Array:
    """The unit in the last place of a float dtype at each value, as float64.

    Below the normal numbers it is the distance of the subnormal ones.
    """
    form = FORMATS[dtype]
    size = np.abs(np.asarray(values, np.float64))
    size = np.where(np.isfinite(size), size, form.largest)
    exponent = np.frexp(np.minimum(size, form.largest))[1] - 1
    exponent = np.maximum(np.where(size == 0, form.lowest, exponent), form.lowest)
    return np.asarray(np.ldexp(1.0, exponent - form.precision + 1))


def native(dtype: DType, values: Array) -> Array:
    """Exact values in the storage of a dtype; floats must already be rounded to it."""
    with np.errstate(all="ignore"):
        return np.asarray(values).astype(dtype.numpy)
