"""Reductions and scans: accumulation, NaN, empty axes; the rows of the bug corpus."""

import math

import ml_dtypes
import numpy as np
import pytest
from realta.errors import ShapeError
from realta.ops import convert
from realta.types import FLOATS, INTEGERS, bfloat16, float16, float32, float64, int64

NAN, INF = math.nan, math.inf


def test_sum_of_a_million_tenths(call):  # P4
    total = call("sum", np.full(10**6, 0.1, np.float32), axes=(0,))
    assert abs(float(total) - 100000) < 0.01


@pytest.mark.parametrize("axis", [0, 1])
def test_sum_is_accurate_along_either_axis(call, axis):  # P3: NumPy stalls along axis 0
    shape = (2**22, 4) if axis == 0 else (4, 2**22)
    ones = np.full(shape, np.float32(0.1))
    found = call("sum", ones, axes=(axis,))
    assert np.abs(found - 0.1 * 2**22).max() < 0.1


def test_mean_of_many_ones(call):  # P3
    assert call("mean", np.ones((2**21, 2), np.float32), axes=(0,)).tolist() == [1.0, 1.0]


def test_float64_sum_does_not_drift(call):
    found = float(call("sum", np.full((10**6, 2), 0.1), axes=(0,))[0])
    assert abs(found - math.fsum([0.1] * 10**6)) <= (8 + 40) * 2.2e-16 * 1e5


def test_half_sums_do_not_stall(call):  # P1
    assert call("sum", np.ones(20000, np.float16), axes=(0,)) == 20000
    ones = np.ones(70000, ml_dtypes.bfloat16)
    assert float(call("sum", ones, axes=(0,))) == 70144
    assert float(call("mean", ones, axes=(0,))) == 1.0


def test_half_cumsum_does_not_stall(call):  # P2: NumPy gives 2048
    assert call("cumsum", np.ones(5000, np.float16), axis=0)[-1] == 5000
    assert float(call("cumsum", np.ones(5000, ml_dtypes.bfloat16), axis=0)[-1]) == 4992


def test_integers_wrap(call):
    assert call("sum", np.full(3, 100, np.int8), axes=(0,)) == 44
    assert call("prod", np.full(9, 2, np.uint8), axes=(0,)) == 0


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=str), ids=str)
def test_max_and_min_pass_nan_on_and_order_zeros(call, dtype):  # N2, N13
    x = convert(np.array([[1, NAN, 2], [NAN, 1, 2], [-0.0, 0.0, -1], [0.0, -0.0, 5]]), dtype)
    largest = convert(call("max", x, axes=(1,)), float64)
    smallest = convert(call("min", x, axes=(1,)), float64)
    np.testing.assert_array_equal(largest, [NAN, NAN, 0, 5])
    np.testing.assert_array_equal(smallest, [NAN, NAN, -1, -0.0])
    assert np.signbit([largest[2], smallest[3]]).tolist() == [False, True]


@pytest.mark.parametrize("length", [3, 33, 1000, 5000])
def test_argmax_and_argmin_find_the_first_nan(call, length):  # N1
    x = np.arange(length, dtype=np.float32)
    x[length // 2] = x[length - 1] = NAN
    assert call("argmax", x, axis=0) == length // 2
    assert call("argmin", x, axis=0) == length // 2
    assert call("argmax", x, axis=0).dtype == np.int64


def test_argmax_takes_the_first_of_equals(call):
    assert call("argmax", np.array([[1, 3, 3], [2, 2, 2]]), axis=1).tolist() == [1, 0]
    assert call("argmin", np.array([True, False, False]), axis=0) == 1


def test_empty_axes(call):  # S1, S4
    empty, kept = np.zeros((2, 0), np.float32), np.zeros((0, 2), np.float32)
    assert call("sum", empty, axes=(1,)).tolist() == [0, 0]
    assert call("prod", empty, axes=(1,)).tolist() == [1, 1]
    assert np.isnan(call("mean", empty, axes=(1,))).all()
    assert np.isnan(call("var", empty, axes=(1,), correction=0.0)).all()
    assert call("any", empty > 0, axes=(1,)).tolist() == [False, False]
    assert call("all", empty > 0, axes=(1,)).tolist() == [True, True]
    for name in ("sum", "prod", "max", "min", "mean"):
        assert call(name, kept, axes=(1,)).shape == (0,), name
    assert call("argmax", kept, axis=1).shape == (0,)
    assert call("sum", np.array(1.0), axes=()) == 1


@pytest.mark.parametrize("name", ["max", "min"])
def test_extremes_of_nothing_are_an_error(call, name):  # S1, S3
    with pytest.raises(ShapeError, match=f"{name} over axis 1 of extent 0 has no value"):
        call(name, np.ones((2, 0, 4)), axes=(1,))
    with pytest.raises(ShapeError, match=f"arg{name} over axis 1 of extent 0"):
        call(f"arg{name}", np.ones((2, 0, 4)), axis=1)


def test_the_order_of_a_sum_depends_on_the_extent_alone(call):
    x = np.random.default_rng(5).normal(size=(7, 1025)) * 1e3
    rows = call("sum", x, axes=(1,))
    np.testing.assert_array_equal(rows, call("sum", np.asfortranarray(x), axes=(1,)))
    np.testing.assert_array_equal(rows, call("sum", x.T.copy(), axes=(0,)))
    np.testing.assert_array_equal(rows[3], call("sum", x[3], axes=(0,)))
    np.testing.assert_array_equal(rows, call("sum", x.reshape(7, 5, 205), axes=(1, 2)))


def test_several_axes_at_once(call):
    x = np.arange(24).reshape(2, 3, 4)
    assert call("sum", x, axes=(0, 2)).tolist() == x.sum(axis=(0, 2)).tolist()
    assert call("max", x, axes=(0, 1, 2)) == 23


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize(
    ("name", "function", "unit"),
    [
        ("cumsum", np.add, 0),
        ("cumprod", np.multiply, 1),
        ("cummax", np.maximum, np.iinfo(np.int64).min),
        ("cummin", np.minimum, np.iinfo(np.int64).max),
    ],
)
def test_scans(call, name, function, unit, exclusive, reverse):
    x = np.random.default_rng(2).integers(-5, 6, (3, 17))
    expected = function.accumulate(np.flip(x, 1) if reverse else x, axis=1)
    if exclusive:
        expected = np.concatenate([np.full((3, 1), unit), expected[:, :-1]], axis=1)
    expected = np.flip(expected, 1) if reverse else expected
    found = call(name, x, axis=1, exclusive=exclusive, reverse=reverse)
    assert found.tolist() == expected.tolist()


def test_exclusive_scan_of_floats_starts_with_the_identity(call):
    x = np.array([NAN, 2.0])
    assert call("cummax", x, axis=0, exclusive=True)[0] == -INF
    assert call("cummin", x, axis=0, exclusive=True)[0] == INF
    assert call("cumsum", x, axis=0, exclusive=True)[0] == 0


def test_scan_of_extremes_keeps_nan_and_orders_zeros(call):
    found = call("cummax", np.array([-0.0, 0.0, NAN, 5.0]), axis=0)
    np.testing.assert_array_equal(found, [-0.0, 0.0, NAN, NAN])
    assert np.signbit(found[:2]).tolist() == [True, False]


def test_float64_cumsum_does_not_drift(call):
    found = call("cumsum", np.full(2**18, 0.1), axis=0)
    exact = np.arange(1, 2**18 + 1) * np.longdouble(0.1)
    assert (np.abs(found - exact) <= (8 + 36) * 2.2e-16 * exact).all()


@pytest.mark.parametrize("dtype", [*sorted(INTEGERS, key=str), float16, bfloat16, float32], ids=str)
def test_scan_and_reduction_agree(call, dtype):
    x = convert(np.random.default_rng(1).integers(0, 3, 33), dtype)
    assert call("cumsum", x, axis=0)[-1] == call("sum", x, axes=(0,))
    assert call("cumsum", x, axis=0).dtype == dtype.numpy


def test_argmax_is_int64(call):
    assert call("argmin", np.ones((2, 3)), axis=1).dtype == int64.numpy
