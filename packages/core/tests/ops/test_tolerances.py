"""Tolerances: the rows of spec 5a, and bounds that neither let errors pass nor refuse rounding."""

import ml_dtypes
import numpy as np
import pytest
from realta.errors import ArgumentError
from realta.ops import all_ops, get_op
from realta.ops.tolerances import TOLERANCES, allowance, tolerance, ulp
from realta.types import FLOATS, STORAGE_ONLY, float16, float32, float64, int32


def test_ulp_is_the_spacing_of_numbers():
    x = np.array([1.0, 1.5, 2.0, 3.9, 1e-3, 1e30])
    np.testing.assert_array_equal(ulp(x, float32), np.spacing(x.astype(np.float32)))
    np.testing.assert_array_equal(ulp(x, float64), np.spacing(x))


@pytest.mark.parametrize("dtype", sorted(FLOATS | STORAGE_ONLY, key=str), ids=str)
def test_ulp_of_zero_and_subnormals_is_the_smallest_number(dtype):
    smallest = float(ml_dtypes.finfo(dtype.numpy).smallest_subnormal)
    assert ulp(np.array(1.0), dtype) == float(ml_dtypes.finfo(dtype.numpy).eps)
    assert ulp(np.array([0.0, smallest, 3 * smallest]), dtype).tolist() == [smallest] * 3


@pytest.mark.parametrize(
    ("name", "single", "double", "half"),
    [
        ("exact", "correctly rounded", "correctly rounded", "correctly rounded"),
        ("exp", "3 ulp", "2 ulp", "1 ulp"),
        ("sin", "4 ulp", "2 ulp", "1 ulp"),
        ("tan", "5 ulp", "4 ulp", "1 ulp"),
        ("atan2", "6 ulp", "3 ulp", "1 ulp"),
        ("erf", "8 ulp", "4 ulp", "1 ulp"),
        ("pow", "16 ulp", "8 ulp", "1 ulp"),
        ("sum", *["(8 + 2 log2 n) eps sum |x| + 0.5 ulp"] * 3),
        ("contraction", *["(8 + sqrt(K)/2) eps sum |a||b| + 0.5 ulp"] * 3),
    ],
)
def test_rows_of_the_specification(name, single, double, half):
    row = tolerance(name)
    assert [row.describe(d) for d in (float32, float64, float16)] == [single, double, half]
    assert row.describe(int32) == "exact"


def test_unknown_rows_are_named():
    with pytest.raises(ArgumentError, match="no tolerance named 'loose'"):
        tolerance("loose")


def test_every_row_is_used():
    assert set(TOLERANCES) == {op.tolerance for op in all_ops()} | {"exact"}


def test_integers_are_exact():
    op = get_op("sum")
    assert allowance(op, [np.ones(4)], {"axes": (0,)}, np.array(4), int32) == 0


def test_sum_bound_grows_with_terms_and_magnitudes():
    op = get_op("sum")
    x = np.full(1024, -2.0)
    found = allowance(op, [x], {"axes": (0,)}, np.array(-2048.0), float32)
    assert float(found) == pytest.approx((8 + 20) * 2.0**-23 * 2048 + 0.5 * 2.0**-12)
    half = allowance(op, [x], {"axes": (0,)}, np.array(-2048.0), float16)
    assert float(half) == pytest.approx((8 + 20) * 2.0**-23 * 2048 + 0.5 * 2.0)


def test_a_naive_float32_sum_is_found():  # P4
    x = np.full(10**6, np.float32(0.1))
    exact = x.astype(np.float64).sum()
    naive = float(np.cumsum(x)[-1])
    allowed = allowance(get_op("sum"), [x.astype(np.float64)], {"axes": (0,)}, exact, float32)
    assert abs(naive - exact) > allowed


def test_half_accumulation_of_half_is_found():  # P1
    x = np.ones(4096)
    allowed = allowance(get_op("sum"), [x], {"axes": (0,)}, np.array(4096.0), float16)
    assert abs(2048 - 4096) > allowed


def test_contraction_bound_is_of_the_magnitudes():
    op = get_op("dot_general")
    attrs = {"x_batch": (), "y_batch": (), "x_contract": (0,), "y_contract": (0,)}
    x, y = np.array([1.0, -1.0, 2.0, 0.0]), np.array([3.0, 3.0, 0.5, 1.0])
    found = allowance(op, [x, y], attrs, np.array(1.0), float64)
    assert float(found) == pytest.approx((8 + 1) * 2.0**-52 * 7 + 0.5 * 2.0**-52)


def test_one_pass_variance_is_found():  # P6
    x = np.array([40000.0, 40001, 40002, 40003], np.float32)
    one_pass = np.mean(x * x, dtype=np.float32) - np.mean(x, dtype=np.float32) ** 2
    allowed = allowance(
        get_op("var"), [x.astype(np.float64)], {"axes": (0,), "correction": 0.0},
        np.array(1.25), float32,
    )  # fmt: skip
    assert abs(float(one_pass) - 1.25) > allowed
    assert allowed < 0.01


def test_scatter_of_one_value_allows_half_an_ulp_only():
    op = get_op("scatter")
    attrs = {"axis": 0, "reduce": "set", "mode": "clip"}
    operands = [np.zeros(2), np.array([0]), np.array([3.0])]
    found = allowance(op, operands, attrs, np.array([3.0, 0.0]), float32)
    assert found[0] == 0.5 * 2.0**-22
    adding = allowance(op, operands, {**attrs, "reduce": "add"}, np.array([3.0, 0.0]), float32)
    assert adding[0] > found[0]
    assert adding[1] == found[1]
