"""Casts: one rounding to nearest even, saturation, wrapping; checked against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.ops import convert
from realta.ops.tolerances import ulp
from realta.types import (
    DTYPES,
    FLOATS,
    INTEGERS,
    STORAGE_ONLY,
    as_dtype,
    bfloat16,
    bool_,
    float8_e4m3fn,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    uint8,
    uint64,
)

BELOW_DOUBLE = sorted((FLOATS | STORAGE_ONLY) - {float64}, key=lambda d: d.name)


def rounded(value: Fraction, dtype) -> Fraction:
    """Nearest even by exact arithmetic, for values in the range of the dtype."""
    step = Fraction(float(ulp(np.array(float(value)), dtype)))
    return round(value / step) * step


def assert_rounds_once(found, value: Fraction, dtype) -> None:
    limit = Fraction(float(np.max(convert(np.array(found), float64))))
    assert limit == rounded(value, dtype), (float(value), dtype)


@pytest.mark.parametrize("dtype", BELOW_DOUBLE, ids=str)
@given(numerator=st.integers(-(2**50), 2**50), exponent=st.integers(-55, -42))
def test_float64_rounds_once(dtype, numerator, exponent):
    value = float(numerator) * 2.0**exponent
    if abs(value) <= 256:
        assert_rounds_once(convert(np.array(value), dtype), Fraction(value), dtype)


@pytest.mark.parametrize("dtype", [bfloat16, float8_e4m3fn, float16], ids=str)
def test_a_value_just_above_a_tie_does_not_become_the_tie(dtype):
    # Rounding first to float32 would lose the last bit and then break the tie to even.
    step = float(ulp(np.array(1.0), dtype))
    above = 1.0 + step / 2 + 2.0**-40
    assert float(convert(np.array(above), dtype)) == 1.0 + step
    assert float(convert(np.array(1.0 + step / 2), dtype)) == 1.0


@given(st.integers(-(2**63), 2**63 - 1))
@pytest.mark.parametrize("dtype", [bfloat16, float32, float64], ids=str)
def test_int64_rounds_once(dtype, value):
    if rounded_size := abs(value):
        assert rounded_size.bit_length() <= 64
    found = float(convert(np.array(value, np.int64), dtype))
    mantissa = {"bfloat16": 8, "float32": 24, "float64": 53}[dtype.name]
    step = max(1, 1 << max(abs(value).bit_length() - mantissa, 0))
    assert Fraction(found) == round(Fraction(value, step)) * step


@pytest.mark.parametrize("dtype", [bfloat16, float32, float64], ids=str)
def test_an_integer_just_above_a_tie_does_not_become_the_tie(dtype):
    mantissa = {"bfloat16": 8, "float32": 24, "float64": 53}[dtype.name]
    for signed in (np.int64, np.uint64):
        tie = (1 << 62) + (1 << (62 - mantissa))
        upper = (1 << 62) + (1 << (63 - mantissa))
        assert int(convert(np.array(tie, signed), dtype)) == 1 << 62
        assert int(convert(np.array(tie + 1, signed), dtype)) == upper


@pytest.mark.parametrize("source", [float32, float64], ids=str)
def test_floats_truncate_saturate_and_nan_is_zero(source):
    given = np.array([np.nan, np.inf, -np.inf, 2147483646, -1.9, 1.9, -129, 300], source.numpy)
    assert convert(given, int32).tolist()[:3] == [0, 2**31 - 1, -(2**31)]
    assert convert(given, int8).tolist() == [0, 127, -128, 127, -1, 1, -128, 127]
    assert convert(given, uint8).tolist() == [0, 255, 0, 255, 0, 1, 0, 255]


def test_saturation_at_the_ends_of_64_bits():
    given = np.array([2.0**63, np.nextafter(2.0**63, 0), -(2.0**63), -(2.0**64), 2.0**64])
    assert convert(given, int64).tolist() == [
        2**63 - 1, 2**63 - 1024, -(2**63), -(2**63), 2**63 - 1,
    ]  # fmt: skip
    assert convert(given, uint64).tolist() == [2**63, 2**63 - 1024, 0, 0, 2**64 - 1]


def test_float32_2147483646_to_int32_saturates():  # corpus I14: it rounds to 2**31
    assert convert(np.array(2147483646, np.float32), int32) == 2**31 - 1


def test_integers_wrap():
    assert convert(np.array([300, -1, 128]), int8).tolist() == [44, -1, -128]
    assert convert(np.array([300, -1]), uint8).tolist() == [44, 255]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_bool_is_what_is_not_zero(dtype):
    values = [0, 1, 1] if dtype is bool_ else [0, 1, 2]
    found = convert(convert(np.array(values), dtype), bool_)
    assert found.dtype == bool
    assert found.tolist() == [False, True, True]
    assert convert(np.array([True, False]), dtype).astype(float).tolist() == [1.0, 0.0]


def test_nan_and_halves_are_true_and_minus_zero_is_false():
    assert convert(np.array([np.nan, 0.5, -0.0]), bool_).tolist() == [True, True, False]


@pytest.mark.parametrize("source", sorted(FLOATS | STORAGE_ONLY, key=str), ids=str)
@pytest.mark.parametrize("target", sorted(FLOATS, key=str), ids=str)
def test_signs_of_zero_infinities_and_nan_survive(source, target):
    given = convert(np.array([0.0, -0.0, np.nan]), source)
    found = convert(convert(given, target), float64)
    assert np.signbit(found[:2]).tolist() == [False, True]
    assert np.isnan(found[2])


def test_overflow_becomes_infinity():
    for dtype in (float16, bfloat16, float32):
        found = convert(convert(np.array([1e300, -1e300]), dtype), float64)
        assert found.tolist() == [np.inf, -np.inf], dtype


def test_results_are_new_arrays_of_the_dtype():
    for source in sorted(INTEGERS | FLOATS, key=str):
        given = convert(np.arange(4), source)
        for target in DTYPES:
            found = convert(given, target)
            assert as_dtype(found.dtype) is target
            assert not np.shares_memory(found, given)
