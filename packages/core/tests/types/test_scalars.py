import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from realta.errors import DTypeError, ScalarOverflowError
from realta.types import (
    BY_SHORT,
    FLOATS,
    INTEGERS,
    bfloat16,
    bool_,
    convert_scalar,
    float8_e4m3fn,
    float16,
    float32,
    float64,
    int8,
    int32,
    int64,
    is_weak,
    uint8,
    weak_dtype,
)


@pytest.mark.parametrize(
    ("dtype", "value", "result"),
    [
        ("i8", 1, "i8"),
        ("u8", 255, "u8"),
        ("i32", 2.0, "f32"),
        ("i32", True, "i32"),
        ("bool", True, "bool"),
        ("bool", 1, "i64"),
        ("bool", 1.5, "f32"),
        ("bf16", 0.5, "bf16"),
        ("f16", 7, "f16"),
        ("f64", 0.1, "f64"),
        ("f32", np.float64(0.1), "f32"),
        ("u64", 2**64 - 1, "u64"),
        ("f32", 2**70, "f32"),
    ],
)
def test_a_scalar_takes_the_tensors_dtype_if_its_kind_allows(dtype, value, result):
    assert weak_dtype(value, BY_SHORT[dtype]) is BY_SHORT[result]


def test_the_default_float_can_be_another():
    assert weak_dtype(2.0, int32, default_float=float64) is float64
    assert weak_dtype(2.0, bfloat16, default_float=float64) is bfloat16


def test_an_int_that_does_not_fit_is_an_overflow():
    with pytest.raises(OverflowError) as caught:
        weak_dtype(256, uint8)
    assert isinstance(caught.value, DTypeError)
    assert str(caught.value) == (
        "the integer 256 does not fit uint8 (0 to 255)\n"
        "  fix: cast the tensor to a wider dtype first"
    )
    for value, dtype in [(-1, uint8), (128, int8), (2**63, int64), (2**63, bool_)]:
        with pytest.raises(ScalarOverflowError):
            weak_dtype(value, dtype)
    with pytest.raises(ScalarOverflowError, match="does not fit any float dtype"):
        weak_dtype(10**400, float32)


def test_storage_types_take_no_scalars():
    with pytest.raises(DTypeError, match="storage only"):
        weak_dtype(1, float8_e4m3fn)


def test_which_values_are_weak():
    assert all(map(is_weak, [True, 1, 1.5, np.float64(2)]))
    assert not any(map(is_weak, [np.float32(1), np.int64(1), np.bool_(True), np.array(1.0), "1"]))


@pytest.mark.parametrize("dtype", sorted(INTEGERS, key=str), ids=str)
def test_integers_convert_exactly_up_to_their_ends(dtype):
    info = np.iinfo(dtype.numpy)
    for value in (info.min, 0, 1, info.max):
        found = convert_scalar(value, dtype)
        assert found.shape == ()
        assert found.dtype == dtype.numpy
        assert int(found) == value
        assert int(convert_scalar(True, dtype)) == 1
    assert int(convert_scalar(3.0, dtype)) == 3
    for value in (info.min - 1, info.max + 1, 1e300):
        with pytest.raises(ScalarOverflowError):
            convert_scalar(value, dtype)


@pytest.mark.parametrize("value", [0.5, math.nan, math.inf, -math.inf])
def test_floats_without_integer_value_do_not_become_integers(value):
    with pytest.raises(DTypeError, match=r"is not an integer, so int32 cannot hold it"):
        convert_scalar(value, int32)


def test_bool_holds_two_values():
    assert convert_scalar(1, bool_).dtype == np.bool_
    assert not convert_scalar(0.0, bool_)
    with pytest.raises(DTypeError, match="2 is neither True nor False"):
        convert_scalar(2, bool_)


def test_special_floats_survive():
    for dtype in FLOATS:
        assert np.isnan(convert_scalar(math.nan, dtype))
        assert float(convert_scalar(-math.inf, dtype)) == -math.inf
        assert np.signbit(convert_scalar(-0.0, dtype))
    assert float(convert_scalar(1e39, float32)) == math.inf


def nearest(value: Fraction, dtype) -> float:
    """Round to nearest even by exact arithmetic, among the neighbours of a first guess."""
    guess = np.array(float(value)).astype(dtype.numpy)
    bits = guess.view(f"i{dtype.itemsize}")
    near = [np.array(bits + d, f"i{dtype.itemsize}").view(dtype.numpy) for d in (-1, 0, 1)]
    finite = [n for n in near if np.isfinite(n)]
    even = [int(n.view(f"i{dtype.itemsize}")) % 2 for n in finite]
    ranked = zip(
        (abs(Fraction(float(n)) - value) for n in finite), even, map(float, finite), strict=True
    )
    return min(ranked)[2]


@given(st.integers(-(2**66), 2**66), st.sampled_from([float16, bfloat16, float32, float64]))
def test_ints_round_once(value, dtype):
    if dtype is float16:
        value %= 60000
    assert float(convert_scalar(value, dtype)) == nearest(Fraction(value), dtype)


@given(st.floats(1e-30, 1e30), st.sampled_from([bfloat16, float32]))
def test_floats_round_once(value, dtype):
    assert float(convert_scalar(value, dtype)) == nearest(Fraction(value), dtype)


def test_a_value_just_above_a_tie_is_not_rounded_twice():
    # Through float32 it would become the tie 1 + 2**-8, and then 1.
    assert float(convert_scalar(1 + 2**-8 + 2**-40, bfloat16)) == 1 + 2**-7
    # Through float64 it would become the tie 2**60 + 2**36, and then 2**60.
    assert float(convert_scalar(2**60 + 2**36 + 1, float32)) == 2**60 + 2**37
