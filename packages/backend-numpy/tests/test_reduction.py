"""Reductions: the canonical tree, its accuracy, zeros in order, nothing reduced."""

import numpy as np
import pytest
from realta.graph import Builder
from realta.types import bfloat16, float16, float32, float64, tensor_type
from realta_numpy.reduction import CHUNK, reduce_array, reduce_tile

LENGTHS = (1, 2, 7, 8, 100, 127, 128, 129, 200, 256, 1025, CHUNK - 1, CHUNK, CHUNK + 1, CHUNK + 129,
           3 * CHUNK + 5)  # fmt: skip


def _by_definition(x, combine):
    """The four steps of the module's docstring, one scalar at a time but for the last row."""
    values = x
    while True:
        totals = []
        for start in range(0, len(values), CHUNK):
            chunk = values[start : start + CHUNK]
            lanes = chunk[:128].copy()
            for n in range(len(lanes), len(chunk)):
                lanes[n % 128] = combine(lanes[n % 128], chunk[n])
            totals.append(combine.reduce(lanes))
        values = np.array(totals, x.dtype)
        if len(values) == 1:
            return values[0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", ["sum", "prod"])
@pytest.mark.parametrize("n", LENGTHS)
def test_the_tree_depends_on_the_length_alone(n, name, dtype):
    x = np.random.default_rng(n).uniform(0.9, 1.1, n).astype(dtype)
    expected = _by_definition(x, np.add if name == "sum" else np.multiply)
    for outer, inner in ((1, 1), (3, 1), (1, 5), (2, 7), (33, 1), (1, 33)):
        block = np.empty((outer, n, inner), dtype)
        block[:] = x[None, :, None]
        before = block.copy()
        out = np.empty((outer, inner), dtype)
        reduce_tile(name, block, out)
        assert (out == expected).all(), (outer, inner)
        assert (reduce_array(name, block, (1,)) == expected).all()
        assert (reduce_array(name, np.moveaxis(block, 1, 0).copy(), (0,)) == expected).all()
        assert (reduce_array(name, np.moveaxis(block, 1, 2).copy(), (2,)) == expected).all()
        assert np.array_equal(block, before)


def test_several_axes_are_one_row_in_row_major_order():
    x = np.random.default_rng(0).standard_normal((5, 7, 11, 13)).astype(np.float32)
    for axes in ((0, 2), (1, 3), (0, 1, 3)):
        kept = [n for n in range(4) if n not in axes]
        rows = x.transpose(*kept, *axes).reshape(int(np.prod([x.shape[n] for n in kept])), -1)
        expected = np.array([_by_definition(row, np.add) for row in rows])
        assert np.array_equal(reduce_array("sum", x, axes), expected)


@pytest.mark.parametrize("n", LENGTHS)
def test_a_sum_of_negative_zeros_is_zero(n):
    # As the sum over nothing; NumPy's reductions start from 0.
    for shape in ((1, n, 1), (3, n, 1), (1, n, 5)):
        out = np.empty((shape[0], shape[2]), np.float32)
        reduce_tile("sum", np.full(shape, -0.0, np.float32), out)
        assert not np.signbit(out).any()


def _sum(runner, x, dtype, axes=(0,)):
    builder = Builder()
    operand = builder.input(tensor_type(dtype, x.shape))
    return runner.run(builder.finish(builder.sum(operand, axes=axes)), [x])[0]


def test_a_million_tenths(runner):
    x = np.full(1_000_000, 0.1, np.float32)
    exact = 1_000_000 * float(np.float32(0.1))
    bound = (8 + 2 * np.log2(x.size)) * np.finfo(np.float32).eps * exact
    assert abs(float(_sum(runner, x, float32)) - exact) <= bound
    assert abs(float(_sum(runner, np.stack([x, x], 1), float32)[1]) - exact) <= bound


def test_ones_beyond_what_float32_can_count(runner):
    x = np.ones((1 << 24) + 4096, np.float32)
    assert float(_sum(runner, x, float32)) == x.size


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_half_types_accumulate_in_float32(dtype, runner):
    assert float(_sum(runner, np.ones(5000, dtype.numpy), dtype)) == float(
        np.array(5000).astype(dtype.numpy)
    )


def test_random_sums_stay_within_the_bound(runner):
    rng = np.random.default_rng(3)
    for n in (3, 100, 4095, 100_001):
        x = (rng.standard_normal(n) * np.exp(rng.uniform(-10, 10, n))).astype(np.float32)
        wide = x.astype(np.float64)
        bound = (8 + 2 * np.log2(n)) * np.finfo(np.float32).eps * np.abs(wide).sum()
        assert abs(float(_sum(runner, x, float32)) - wide.sum()) <= bound


@pytest.mark.parametrize("dtype", [float32, float64, float16, bfloat16], ids=str)
@pytest.mark.parametrize("length", [2, 3, 17, 100])
def test_extremes_order_zeros_and_carry_nan(length, dtype, runner):
    rng = np.random.default_rng(length)
    x = np.where(rng.random((50, length)) < 0.5, 0.0, -0.0)
    x[40:, 0] = -1.0
    x[45:, 0] = 1.0
    x[0, -1] = np.nan
    builder = Builder()
    operand = builder.input(tensor_type(dtype, x.shape))
    graph = builder.finish(builder.max(operand, axes=(1,)), builder.min(operand, axes=(1,)))
    largest, smallest = runner.run(graph, [x.astype(dtype.numpy)])
    assert np.isnan([largest[0], smallest[0]]).all()
    positive, negative = ((x == 0) & ~np.signbit(x)).any(1), ((x == 0) & np.signbit(x)).any(1)
    for n in range(1, 50):
        if largest[n] == 0:
            assert np.signbit(largest[n]) == (not positive[n])
        if smallest[n] == 0:
            assert np.signbit(smallest[n]) == negative[n]


def test_over_nothing(runner):
    builder = Builder()
    x = builder.input(tensor_type(float32, (3, 0)))
    total, product = builder.sum(x, axes=(1,)), builder.prod(x, axes=(1,))
    found = runner.run(builder.finish(total, product), [np.empty((3, 0), np.float32)])
    assert [a.tolist() for a in found] == [[0, 0, 0], [1, 1, 1]]
    assert not np.signbit(found[0]).any()
