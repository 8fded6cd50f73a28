"""Casts round once and saturate, checked against exact arithmetic on Python's numbers."""

from fractions import Fraction

import numpy as np
import pytest
from realta.types import DTYPES, as_dtype, bfloat16, float16, float32, float64, int64, uint64
from realta_numpy.registers import cast, narrow, register_dtype, widen


def _cast(x, source, target):
    out = np.empty(x.shape, register_dtype(target))
    with np.errstate(all="ignore"):
        cast(widen(x, source), source, target, out)
        return narrow(out, target)


@pytest.mark.parametrize("source", [float32, float64, float16, bfloat16], ids=str)
@pytest.mark.parametrize("target", [d for d in DTYPES if d.is_integer], ids=str)
def test_float_to_integer(source, target):
    info = np.iinfo(target.numpy)
    ends = [float(info.min), float(info.max), float(info.max) + 1, float(info.min) - 1, 2.0**63]
    x = np.array([0.0, -0.0, 0.9, -0.9, 2.5, -2.5, 1e30, -1e30, np.inf, -np.inf, np.nan,
                  127.5, 128.0, -128.9, *ends, *(0.5 * e for e in ends)])  # fmt: skip
    with np.errstate(over="ignore"):
        x = x.astype(source.numpy)
    found = _cast(x, source, target)
    for given, result in zip(x.astype(np.float64), found, strict=True):
        if np.isnan(given):
            assert result == 0
        else:
            whole = given if np.isinf(given) else int(given)
            assert int(result) == min(max(whole, int(info.min)), int(info.max))


def _nearest_bfloat16(value):
    """Correctly rounded by exact comparison of the two neighbours."""
    low = np.array([float(value)], np.float32).view(np.uint32) & 0xFFFF0000
    candidates = [np.uint32(int(low[0]) + d * 0x10000) for d in (-1, 0, 1)]

    def key(bits):
        number = np.array([bits], np.uint32).view(np.float32)[0]
        return abs(Fraction(float(number)) - Fraction(value)), int(bits) >> 16 & 1

    return np.array([min(candidates, key=key)], np.uint32).view(np.float32)[0]


def test_to_bfloat16_rounds_once():
    tie = 1.0 + 2.0**-8
    cases = [tie, tie + 2.0**-40, tie - 2.0**-40, 1.0 + 3 * 2.0**-8, 3.0 + 2.0**-30, 0.1]
    found = _cast(np.array(cases), float64, bfloat16)
    for value, result in zip(cases, found, strict=True):
        assert float(result) == _nearest_bfloat16(value)


@pytest.mark.parametrize("source", [int64, uint64], ids=str)
def test_large_integers_to_bfloat16_round_once(source):
    base = (1 << 62) + (1 << 54)  # half way between two neighbours
    cases = np.array(
        [base, base + 1, base - 1, base + (1 << 54), 1 << 53, (1 << 53) + 1], source.numpy
    )
    for value, result in zip(cases, _cast(cases, source, bfloat16), strict=True):
        assert float(result) == _nearest_bfloat16(int(value))
    if source is int64:
        for value, result in zip(-cases, _cast(-cases, source, bfloat16), strict=True):
            assert float(result) == _nearest_bfloat16(int(value))


def test_to_float16_rounds_once():
    tie = 1.0 + 2.0**-11
    found = _cast(
        np.array([tie, tie + 2.0**-40, tie - 2.0**-40, 65519.99, 65520.0]), float64, float16
    )
    assert found.tolist() == [1.0, 1.0 + 2.0**-10, 1.0, 65504.0, np.inf]


@pytest.mark.parametrize("source", DTYPES, ids=str)
def test_to_bool_is_anything_but_zero(source):
    x = np.array([0, 1, 2]).astype(source.numpy)
    assert _cast(x, source, as_dtype("bool")).tolist() == [False, True, True]
    if source.is_float and source.itemsize > 1:
        special = np.array([np.nan, -0.0, 2.0**-20]).astype(source.numpy)
        assert _cast(special, source, as_dtype("bool")).tolist() == [True, False, True]
