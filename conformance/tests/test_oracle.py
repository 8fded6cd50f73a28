"""Oracle: what is within a bound and what is not."""

from itertools import islice

import numpy as np
import pytest
from realta.graph import parse
from realta.ops import get_op
from realta.types import TensorType, float32
from realta_conformance.case import op_cases
from realta_conformance.expected import Expected, expect, expect_graph
from realta_conformance.oracle import compare, same_bits


def expected(values, error=None):
    type_ = TensorType("float32", np.shape(values))
    return Expected(type_, np.asarray(values, np.float64), None, error)


def single(value):
    return np.array([value], np.float32)


def test_exact_results_have_one_value():
    assert compare("add", single(1.5), expected([1.5])).ok
    assert not compare("add", np.nextafter(single(1.5), np.float32(2)), expected([1.5])).ok


def test_exact_results_have_their_sign_of_zero():
    assert not compare("neg", single(0.0), expected([-0.0])).ok
    assert compare("sign", single(0.0), expected([-0.0])).ok


def test_nan_equals_nan_only():
    assert compare("add", single(np.nan), expected([np.nan])).ok
    assert not compare("add", single(1.0), expected([np.nan])).ok
    assert not compare("exp", single(np.nan), expected([1.0], np.ones(1))).ok


def test_bounds_count_from_the_truth():
    error = np.array([2 * 2.0**-23])
    assert compare("exp", single(1 + 2 * 2.0**-23), expected([1.0], error)).ok
    verdict = compare("exp", single(1 + 3 * 2.0**-23), expected([1.0], error))
    assert not verdict.ok
    assert verdict.max_ulp == 3
    assert "[0]" in verdict.reason


def test_infinite_truths_must_be_met():
    assert not compare("exp", single(3e38), expected([np.inf], np.array([np.nan]))).ok
    assert compare("exp", single(np.inf), expected([np.inf], np.array([np.nan]))).ok


def test_flushing_is_accepted_where_it_is_declared():
    tiny = expected([1e-40])
    assert not compare("mul", single(0.0), tiny).ok
    assert compare("mul", single(0.0), tiny, flush=True).ok
    assert not compare("mul", single(0.0), expected([1.0]), flush=True).ok


def test_looser_bounds_are_accepted_where_they_are_declared():
    error = np.array([2.0**-23])
    off = single(1 + 5 * 2.0**-23)
    assert not compare("exp", off, expected([1.0], error)).ok
    assert compare("exp", off, expected([1.0], error), looser=6).ok


def test_shape_and_dtype_are_compared_first():
    assert "shape" in compare("add", np.zeros(2, np.float32), expected([1.0])).reason
    assert "dtype" in compare("add", np.zeros(1), expected([1.0])).reason


def test_same_bits_takes_all_nans_as_one():
    a = np.array([np.nan, 1.0], np.float32)
    b = a.copy()
    b.view(np.uint32)[0] |= 0x80000001
    assert same_bits(a, b)
    assert not same_bits(np.array([0.0], np.float32), np.array([-0.0], np.float32))


def test_bounds_are_not_vacuous():
    """Nearly every element has a finite bound."""
    unbounded = total = 0
    for case in islice(op_cases(), 0, None, 4):
        for value in case.calls()[0][1]:
            if value.error is not None:
                finite = np.isfinite(value.high)
                total += int(finite.sum())
                unbounded += int((~np.isfinite(value.error) & finite).sum())
    assert total > 10_000
    assert unbounded / total < 1e-3


def test_a_graph_of_exact_ops_has_one_result():
    text = """
graph g(%x: f32[1], %y: f32[1], %z: f32[1]) {
  %0: f32[1] = mul(%x, %y)
  %1: f32[1] = add(%0, %z)
  return %1
}
"""
    x = single(1 + 2.0**-12)
    (found,) = expect_graph(parse(text), [x, x, single(-1.0)])
    assert found.error is None
    rounded = np.float32(x[0] * x[0]) + np.float32(-1)
    assert found.rounded()[0] == rounded
    (loose,) = expect_graph(parse(text), [x, x, single(-1.0)], rounds=False)
    assert loose.error[0] > 0


def test_errors_are_carried_through_a_graph():
    text = """
graph g(%x: f32[3]) {
  %0: f32[3] = exp(%x)
  %1: f32[] = sum(%0, axes=[0])
  return %1
}
"""
    (found,) = expect_graph(parse(text), [np.array([1, 2, 3], np.float32)])
    total = float(np.exp([1.0, 2.0, 3.0]).sum())
    assert found.high == pytest.approx(total, rel=1e-6)
    assert 3 * 2.0**-23 * 10 < found.error < 1e-3


def test_the_bound_of_a_sum_grows_with_what_is_added():
    ones = np.ones((2, 8), np.float32)
    ones[1] *= 1000
    type_ = TensorType(float32, ones.shape)
    attrs = get_op("sum").make_attrs({"axes": (1,)})
    (found,) = expect(get_op("sum"), [ones], [type_], attrs)
    assert found.error[1] == pytest.approx(1000 * found.error[0], rel=0.1)
