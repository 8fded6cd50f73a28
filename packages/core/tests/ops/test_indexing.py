"""Indexing and sorting: clamping, duplicates in order, stability; the rows of the bug corpus."""

import math

import numpy as np
import pytest
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.ops import convert, get_op
from realta.types import FLOATS, INTEGERS, TensorType, bfloat16, bool_, float32, float64, int64

NAN, INF = math.nan, math.inf


def test_gather_counts_negative_indices_once_and_clamps(call):  # M12
    x = np.arange(5) * 10
    indices = np.array([0, 4, -1, -5, 5, -6, 2**62, -(2**63)])
    assert call("gather", x, indices, axis=0).tolist() == [0, 40, 40, 0, 40, 0, 40, 0]


def test_gather_replaces_the_axis_by_those_of_the_indices(call):
    x = np.arange(24).reshape(2, 3, 4)
    indices = np.array([[2, 0], [1, 1]], np.int32)
    np.testing.assert_array_equal(call("gather", x, indices, axis=1), np.take(x, indices, axis=1))
    assert call("gather", np.zeros((3, 0)), np.array([], np.int64), axis=1).shape == (3, 0)


def test_gather_from_nothing_is_an_error(call):
    with pytest.raises(ShapeError, match="axis 1 of extent 0 has no elements to gather"):
        call("gather", np.zeros((3, 0)), np.array([0]), axis=1)


def test_scatter_set_keeps_the_last(call):  # M11
    found = call("scatter", np.zeros(3), np.array([0, 0, 2]), np.array([1.0, 2, 3]), axis=0)
    assert found.tolist() == [2, 0, 3]


def test_scatter_applies_every_update(call):  # M11
    x, indices = np.array([1.0, 1, 1]), np.array([0, 0, 2])
    updates = np.array([5.0, -2, 3])
    for reduce, expected in (
        ("add", [4, 1, 4]),
        ("mul", [-10, 1, 3]),
        ("max", [5, 1, 3]),
        ("min", [-2, 1, 1]),
    ):
        found = call("scatter", x, indices, updates, axis=0, reduce=reduce)
        assert found.tolist() == expected, reduce


@pytest.mark.parametrize("reduce", ["set", "add", "mul", "max", "min"])
def test_scatter_is_a_loop_in_row_major_order(call, reduce):
    random = np.random.default_rng(4)
    x = random.normal(size=(2, 5, 3))
    indices = random.integers(-7, 8, (4, 2))
    updates = random.normal(size=(2, 4, 2, 3))
    combine = {
        "set": lambda a, b: b, "add": np.add, "mul": np.multiply,
        "max": np.maximum, "min": np.minimum,
    }[reduce]  # fmt: skip
    for mode in ("clip", "drop"):
        expected = x.copy()
        for at in np.ndindex(updates.shape):
            row = int(indices[at[1:3]])
            row = row + 5 if row < 0 else row
            if mode == "drop" and not 0 <= row < 5:
                continue
            to = (at[0], min(max(row, 0), 4), at[3])
            expected[to] = combine(expected[to], updates[at])
        found = call("scatter", x, indices, updates, axis=1, reduce=reduce, mode=mode)
        np.testing.assert_array_equal(found, expected)


def test_scatter_add_of_halves_accumulates_wide(call):
    ones = convert(np.ones(1000), bfloat16)
    x, indices = convert(np.zeros(1), bfloat16), np.zeros(1000, np.int64)
    found = call("scatter", x, indices, ones, axis=0, reduce="add")
    assert float(found[0]) == 1000


def test_scatter_max_passes_nan_on(call):
    found = call(
        "scatter", np.zeros(2), np.array([0, 0]), np.array([NAN, 1.0]), axis=0, reduce="max"
    )
    np.testing.assert_array_equal(found, [NAN, 0])


def test_scatter_choices_are_checked(call):
    arrays = np.zeros(2), np.array([0]), np.zeros(1)
    with pytest.raises(ArgumentError, match=r"'reduce' is one of 'set', .* got 'sum'"):
        call("scatter", *arrays, axis=0, reduce="sum")
    with pytest.raises(ArgumentError, match="'mode' is one of 'clip', 'drop', got 'wrap'"):
        call("scatter", *arrays, axis=0, mode="wrap")
    with pytest.raises(ShapeError, match=r"the updates have the shape \(2,\), not \(1,\)"):
        call("scatter", np.zeros(2), np.array([0]), np.zeros(2), axis=0)


def test_update_slice_replaces_a_slice(call):
    x = np.arange(6)
    found = call("update_slice", x, np.array([7, 8, 9]), start=(5,), stop=(-1,), step=(-2,))
    assert found.tolist() == [0, 9, 2, 8, 4, 7]
    assert x.tolist() == [0, 1, 2, 3, 4, 5]


def test_check_bounds_reports_the_first_bad_index(call):
    def status(*indices: int) -> list[int]:
        return call("check_bounds", np.array(indices, np.int64), extent=5, axis=2).tolist()

    assert status(0, 4, -5) == [-1, -1, -1, -1]
    assert status() == [-1, -1, -1, -1]
    assert status(0, 5, 9) == [0, 2, 5, 0]
    assert status(-6) == [0, 2, -6, -1]
    assert status(2**40 + 3) == [0, 2, 3, 256]


def test_indices_are_int32_or_int64():
    op = get_op("gather")
    types = TensorType(float32, (3,)), TensorType("uint8", (2,))
    with pytest.raises(DTypeError, match="the indices must be int32 or int64, got uint8"):
        op.result_types(types, op.make_attrs({"axis": 0}))


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=str), ids=str)
def test_sort_puts_nan_last_both_ways(call, dtype):  # N7
    x = convert(np.array([0.75, NAN, 0, -INF, 0.5, INF]), dtype)
    up = convert(call("sort", x, axis=0), float64)
    down = convert(call("sort", x, axis=0, descending=True), float64)
    np.testing.assert_array_equal(up, [-INF, 0, 0.5, 0.75, INF, NAN])
    np.testing.assert_array_equal(down, [INF, 0.75, 0.5, 0, -INF, NAN])


@pytest.mark.parametrize("dtype", [bool_, *sorted(FLOATS | INTEGERS, key=str)], ids=str)
@pytest.mark.parametrize("descending", [False, True])
def test_sorts_are_stable(call, dtype, descending):
    keys = convert(np.random.default_rng(6).integers(0, 2 if dtype is bool_ else 4, 1025), dtype)
    order = call("argsort", keys, axis=0, descending=descending)
    plain = convert(keys, float64)
    expected = sorted(range(1025), key=lambda i: -plain[i] if descending else plain[i])
    assert order.tolist() == expected
    assert call("sort", keys, axis=0, descending=descending).tolist() == keys[expected].tolist()


def test_descending_sort_of_extreme_integers(call):
    low, high = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    x = np.array([0, low, high, low])
    assert call("argsort", x, axis=0, descending=True).tolist() == [2, 0, 1, 3]
    y = np.array([0, 255, 3], np.uint8)
    assert call("sort", y, axis=0, descending=True).tolist() == [255, 3, 0]


def test_top_k(call):
    x = np.array([[1.0, NAN, 3, 3], [4, 2, 0, 9]])
    values, indices = call("top_k", x, k=2, axis=1)
    assert (values.tolist(), indices.tolist()) == ([[3, 3], [9, 4]], [[2, 3], [3, 0]])
    values, indices = call("top_k", x, k=1, axis=1, largest=False)
    assert (values.tolist(), indices.tolist()) == ([[1], [0]], [[0], [2]])
    assert indices.dtype == np.int64
    with pytest.raises(ShapeError, match="k = 5 is not between 0 and the extent 4"):
        call("top_k", x, k=5, axis=1)


def test_one_hot(call):
    found = call("one_hot", np.array([1, -1, 3, 0]), depth=3, dtype=int64)
    assert found.tolist() == [[0, 1, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0]]


def test_one_hot_of_narrow_indices_does_not_wrap(call):
    op = get_op("one_hot")
    indices = np.array([0, 255], np.uint8)
    (found,) = call.decomposed(op, indices, depth=300, dtype=float32)
    assert found.sum(axis=1).tolist() == [1, 1]
    assert found[1].argmax() == 255
