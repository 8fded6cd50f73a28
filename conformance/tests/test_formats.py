"""Formats: rounding once, and units in the last place."""

from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.types import bfloat16, float8_e4m3fn, float16, float32, float64
from realta_conformance.formats import FORMATS, native, round_to, ulp


def nearest(dtype, value):
    """The nearest number of a dtype by exact arithmetic on neighbours."""
    guess = np.float64(value).astype(dtype.numpy)
    with np.errstate(all="ignore"):
        around = [guess, np.nextafter(guess, dtype.numpy.type(np.inf)),
                  np.nextafter(guess, dtype.numpy.type(-np.inf))]  # fmt: skip
    finite = [v for v in around if np.isfinite(v)]
    distances = [abs(Fraction(float(v)) - Fraction(value)) for v in finite]
    best = [v for v, d in zip(finite, distances, strict=True) if d == min(distances)]
    even = [v for v in best if v.view(f"u{dtype.itemsize}") % 2 == 0]
    return float((even or best)[0])


@pytest.mark.parametrize("dtype", [float16, bfloat16, float32])
@given(st.floats(-6e4, 6e4))
def test_rounds_to_the_nearest_number(dtype, value):
    assert float(round_to(dtype, np.float64(value))) == nearest(dtype, value)


def test_rounds_once_where_going_through_float32_rounds_twice():
    value = 1 + 2.0**-8 + 2.0**-30  # beyond the middle of two neighbours in bfloat16
    assert float(np.float32(value).astype(ml_dtypes.bfloat16)) == 1.0
    assert float(round_to(bfloat16, np.float64(value))) == 1 + 2.0**-7


def test_the_second_double_decides_ties():
    tie = np.float64(1 + 2.0**-24)
    assert float(round_to(float32, tie, np.float64(1e-30))) == 1 + 2.0**-23
    assert float(round_to(float32, tie, np.float64(-1e-30))) == 1.0
    assert float(round_to(float32, tie)) == 1.0


def test_overflow_is_infinite_or_nan_by_format():
    assert np.isinf(round_to(float16, np.float64(65520)))
    assert float(round_to(float16, np.float64(65519))) == 65504
    assert np.isnan(round_to(float8_e4m3fn, np.float64(1e6)))


def test_signs_of_zero_stay():
    assert np.signbit(round_to(float16, np.float64(-1e-30)))
    assert np.signbit(round_to(bfloat16, np.float64(-0.0)))


@pytest.mark.parametrize("dtype", [float16, float32, float64])
def test_ulp_is_the_distance_of_neighbours(dtype):
    for value in (1.0, 1.5, 1000.25, FORMATS[dtype].tiny, FORMATS[dtype].smallest):
        here = dtype.numpy.type(value)
        gap = float(np.nextafter(here, dtype.numpy.type(np.inf))) - float(here)
        assert float(ulp(dtype, np.float64(value))) == gap


def test_native_keeps_rounded_values():
    values = round_to(bfloat16, np.linspace(-3, 3, 50))
    assert (native(bfloat16, values).astype(np.float64) == values).all()
