"""Scans: accuracy in every dtype, directions, NaN and zeros."""

import numpy as np
import pytest
from realta.graph import Builder
from realta.types import bfloat16, float16, float32, float64, int8, tensor_type


def _scan(runner, name, x, dtype, axis=0, exclusive=False, reverse=False):
    builder = Builder()
    operand = builder.input(tensor_type(dtype, x.shape))
    node = getattr(builder, name)(operand, axis=axis, exclusive=exclusive, reverse=reverse)
    return runner.run(builder.finish(node), [x])[0]


@pytest.mark.parametrize("dtype", [float16, bfloat16, float32, float64], ids=str)
def test_counting_ones(dtype, runner):
    found = _scan(runner, "cumsum", np.ones(5000, dtype.numpy), dtype)
    assert np.array_equal(found, np.arange(1, 5001).astype(dtype.numpy))


@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
@pytest.mark.parametrize("n", [1, 31, 32, 33, 1025, 40_000])
def test_running_sums_stay_within_the_bound(n, dtype, runner):
    rng = np.random.default_rng(n)
    x = (rng.standard_normal(n) * np.exp(rng.uniform(-5, 5, n))).astype(dtype.numpy)
    wide = x.astype(np.longdouble)
    expected, size = np.cumsum(wide), np.cumsum(np.abs(wide))
    bound = (8 + 2 * np.log2(np.arange(1, n + 1))) * np.finfo(dtype.numpy).eps * size
    assert (np.abs(_scan(runner, "cumsum", x, dtype) - expected) <= bound).all()


@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
def test_a_million_tenths(dtype, runner):
    n = 1_000_000
    found = _scan(runner, "cumsum", np.full(n, 0.1, dtype.numpy), dtype)
    expected = np.arange(1, n + 1) * np.longdouble(np.array(0.1, dtype.numpy))
    bound = (8 + 2 * np.log2(np.arange(1, n + 1))) * np.finfo(dtype.numpy).eps * expected
    assert (np.abs(found - expected) <= bound).all()


def test_ones_beyond_what_float32_can_count(runner):
    n = (1 << 24) + 3
    assert _scan(runner, "cumsum", np.ones(n, np.float32), float32)[-1] == np.float32(n)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_directions(axis, exclusive, reverse, runner):
    x = np.random.default_rng(0).integers(-4, 5, (5, 33, 7)).astype(np.int8)
    turned = np.flip(x, axis) if reverse else x
    for name, function, unit in (("cumsum", np.cumsum, 0), ("cumprod", np.cumprod, 1)):
        total = function(turned, axis=axis, dtype=np.int8)
        if exclusive:
            total = np.roll(total, 1, axis)
            np.moveaxis(total, axis, 0)[0] = unit
        expected = np.flip(total, axis) if reverse else total
        found = _scan(runner, name, x, int8, axis, exclusive, reverse)
        assert np.array_equal(found, expected)


def test_blocks_do_not_depend_on_other_axes(runner, equal_bits):
    x = np.random.default_rng(1).standard_normal((3, 1025))
    whole = _scan(runner, "cumsum", x, float64, axis=1)
    for n in range(3):
        assert equal_bits(_scan(runner, "cumsum", x[n], float64), whole[n])
    assert equal_bits(_scan(runner, "cumsum", x.T.copy(), float64, axis=0), whole.T.copy())


@pytest.mark.parametrize("dtype", [float16, float32, float64], ids=str)
def test_extremes_order_zeros_and_carry_nan(dtype, runner):
    x = np.array([-1.0, -0.0, 0.0, -0.0, np.nan, 5.0, np.inf]).astype(dtype.numpy)
    largest = _scan(runner, "cummax", x, dtype)
    assert np.signbit(largest[:4]).tolist() == [True, True, False, False]
    assert np.isnan(largest[4:]).all()
    smallest = _scan(runner, "cummin", x[1:4], dtype)
    assert np.signbit(smallest).tolist() == [True, True, True]
    first = _scan(runner, "cummin", x[2:4], dtype)
    assert np.signbit(first).tolist() == [False, True]
    assert _scan(runner, "cummax", x, dtype, exclusive=True)[0] == -np.inf
