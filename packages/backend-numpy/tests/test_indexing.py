"""Indexing: clamping, counting from the end, duplicates in order, statuses of bounds checks."""

import numpy as np
import pytest
from realta.graph import Builder
from realta.types import bfloat16, float16, float32, int32, int64, tensor_type


def _scatter(runner, x, indices, updates, dtype, reduce="set", mode="clip"):
    builder = Builder()
    base, update = (builder.input(tensor_type(dtype, a.shape)) for a in (x, updates))
    places = builder.input(tensor_type(int64, indices.shape))
    node = builder.scatter(base, places, update, axis=0, reduce=reduce, mode=mode)
    graph = builder.finish(node)
    return runner.run(graph, [x, updates, indices])[0]


def test_gather_counts_from_the_end_once_and_clamps(runner):
    builder = Builder()
    x, places = builder.input(tensor_type(float32, (4,))), builder.input(tensor_type(int32, (7,)))
    graph = builder.finish(builder.gather(x, places, axis=0))
    indices = np.array([0, 3, -1, -4, -5, 4, 100], np.int32)
    found = runner.run(graph, [np.arange(4, dtype=np.float32), indices])[0]
    assert found.tolist() == [0, 3, 3, 0, 0, 3, 3]


def test_the_last_of_several_updates_wins(runner):
    rng = np.random.default_rng(0)
    indices = rng.integers(0, 10, 5000)
    updates = rng.standard_normal((5000, 3)).astype(np.float32)
    expected = np.zeros((10, 3), np.float32)
    for place, line in zip(indices, updates, strict=True):
        expected[place] = line
    found = _scatter(runner, np.zeros((10, 3), np.float32), indices, updates, float32)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("reduce", ["add", "mul", "max", "min"])
def test_all_updates_count_in_row_major_order(reduce, runner, equal_bits):
    rng = np.random.default_rng(1)
    indices = rng.integers(-6, 6, 400)
    updates = rng.choice([0.0, -0.0, 0.1, -1.5, 1e8, -1e8], 400).astype(np.float32)
    updates[17] = np.nan
    base = np.array([1.0, -0.0, 0.0, 2.0, -3.0, 5.0], np.float32)
    expected = base.copy()
    for place, value in zip(indices, updates, strict=True):
        old = expected[place]
        if reduce == "add":
            expected[place] = old + value
        elif reduce == "mul":
            expected[place] = old * value
        elif np.isnan(old) or np.isnan(value):
            expected[place] = np.nan
        else:
            pick = max if reduce == "max" else min
            expected[place] = pick((old, not np.signbit(old)), (value, not np.signbit(value)))[0]
    assert equal_bits(_scatter(runner, base, indices, updates, float32, reduce), expected)


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_half_types_accumulate_in_float32(dtype, runner):
    updates = np.ones(5000, dtype.numpy)
    found = _scatter(
        runner, np.zeros(1, dtype.numpy), np.zeros(5000, np.int64), updates, dtype, "add"
    )
    assert found[0] == np.array(5000).astype(dtype.numpy)


def test_drop_leaves_out_what_is_outside(runner):
    indices = np.array([0, 5, -6, 2, -1])
    updates = np.array([10.0, 20.0, 30.0, 40.0, 50.0], np.float32)
    x = np.zeros(3, np.float32)
    assert _scatter(runner, x, indices, updates, float32, mode="drop").tolist() == [10, 0, 50]
    assert _scatter(runner, x, indices, updates, float32, mode="clip").tolist() == [30, 0, 50]


@pytest.mark.parametrize("dtype", [int32, int64], ids=str)
def test_a_bounds_check_reports_the_first_bad_index(dtype, runner):
    builder = Builder()
    places = builder.input(tensor_type(dtype, (2, 3)))
    executable = runner.compile(builder.finish(builder.check_bounds(places, extent=5, axis=1)))
    graph = builder.finish(builder.check_bounds(places, extent=5, axis=1))
    good = np.array([[0, 4, -1], [-5, 2, 3]], dtype.numpy)
    assert runner.run(graph, [good])[0].tolist() == [-1, -1, -1, -1]
    bad = good.copy()
    bad[1] = 7, -6, 99
    assert runner.run(graph, [bad])[0].tolist() == [0, 1, 7, 0]
    bad[0, 2] = -6
    assert runner.run(graph, [bad])[0].tolist() == [0, 1, -6, -1]
    assert executable.kernels


def test_a_bounds_check_reports_64_bits(runner):
    builder = Builder()
    places = builder.input(tensor_type(int64, (1,)))
    graph = builder.finish(builder.check_bounds(places, extent=5, axis=0))
    status = runner.run(graph, [np.array([(3 << 32) + (1 << 31)])])[0]
    low, high = int(status[2]) & 0xFFFFFFFF, int(status[3])
    assert (high << 32) + low == (3 << 32) + (1 << 31)
