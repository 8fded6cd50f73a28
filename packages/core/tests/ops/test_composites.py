"""Composites: their values at the edges, in the reference and in the decomposition alike."""

import math

import numpy as np
import pytest
from realta.ops import convert, get_op
from realta.types import FLOATS, bfloat16, float16, float32, float64

NAN, INF = math.nan, math.inf


@pytest.fixture(params=["reference", "decomposition"])
def compute(request, call):
    """Calls a composite: its reference, or the ops it is made of."""
    if request.param == "reference":
        return lambda name, *arrays, **attrs: call(name, *arrays, **attrs)
    return lambda name, *arrays, **attrs: call.decomposed(get_op(name), *arrays, **attrs)[0]


def test_softmax_at_infinities(compute):  # N17
    found = compute("softmax", np.array([[-INF] * 3, [0, -INF, 0], [0, INF, 0]]), axis=1)
    np.testing.assert_array_equal(found, [[NAN] * 3, [0.5, 0, 0.5], [NAN] * 3])


def test_softmax_of_large_values_does_not_overflow(compute):
    assert compute("softmax", np.array([1e4, 1e4], np.float32), axis=0).tolist() == [0.5, 0.5]


def test_logsumexp_at_infinities(compute):  # N17
    x = np.array([[-INF, -INF], [INF, 0], [INF, INF], [NAN, 0], [-INF, 0]])
    found = compute("logsumexp", x, axes=(1,))
    np.testing.assert_array_equal(found, [-INF, INF, INF, NAN, 0])
    assert compute("logsumexp", np.zeros((2, 0)), axes=(1,)).tolist() == [-INF, -INF]


def test_logsoftmax_takes_no_logarithm_of_zero(compute):
    found = compute("logsoftmax", np.array([0.0, -1000.0]), axis=0)
    assert found.tolist() == [0.0, -1000.0]


def test_softmax_of_no_elements(compute):
    assert compute("softmax", np.zeros((2, 0)), axis=1).shape == (2, 0)
    assert compute("logsoftmax", np.zeros((0, 3)), axis=1).shape == (0, 3)


@pytest.mark.parametrize("dtype", sorted(FLOATS, key=str), ids=str)
def test_sigmoid_at_the_ends(compute, dtype):
    x = convert(np.array([-INF, -1e4, 0, 1e4, INF, NAN]), dtype)
    found = convert(compute("sigmoid", x), float64)
    np.testing.assert_array_equal(found, [0, 0, 0.5, 1, 1, NAN])


def test_sigmoid_keeps_its_digits_where_it_is_tiny(compute):
    found = float(compute("sigmoid", np.array(-87.0, np.float32)))
    assert found == pytest.approx(math.exp(-87.0), rel=1e-6)


def test_var_of_equal_numbers_is_zero(compute):  # P6
    assert compute("var", np.full(256, 1234, np.float32), axes=(0,), correction=0.0) == 0


def test_var_divides_by_what_is_left(compute):
    x = np.array([1.0, 2, 4])
    for correction in (0.0, 1.0, 0.5):
        expected = ((x - x.mean()) ** 2).sum() / (3 - correction)
        found = compute("var", x, axes=(0,), correction=correction)
        assert float(found) == pytest.approx(expected)
    one = np.array([5.0])
    assert math.isnan(compute("var", one, axes=(0,), correction=1.0))


@pytest.mark.parametrize("dtype", [float32, float64], ids=str)
def test_layer_norm_of_large_numbers(compute, dtype):  # P6
    x = convert(np.array([40000.0, 40001, 40002, 40003]), dtype)
    one, zero = convert(np.ones(4), dtype), convert(np.zeros(4), dtype)
    found = compute("layer_norm", x, one, zero, eps=1e-5)
    np.testing.assert_allclose(found, [-1.3416, -0.4472, 0.4472, 1.3416], atol=1e-4)
    same = convert(np.full((2, 256), 1234.0), dtype)
    many = convert(np.ones(256), dtype)
    assert not compute("layer_norm", same, many, np.zeros_like(many), eps=1e-5).any()


def test_layer_norm_in_two_passes(compute):  # P6
    x = (1e4 + np.arange(64) * 1e-3).astype(np.float32)
    one, zero = np.ones(64, np.float32), np.zeros(64, np.float32)
    wide = x.astype(np.float64)
    expected = (wide - wide.mean()) / np.sqrt(wide.var() + 1e-12)
    found = compute("layer_norm", x, one, zero, eps=1e-12)
    np.testing.assert_allclose(found, expected, atol=2e-2)


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_norms_of_halves_compute_wide(compute, dtype):  # P8: the epsilon is 0 in float16
    zeros, one = convert(np.zeros(8), dtype), convert(np.ones(8), dtype)
    assert not convert(compute("rms_norm", zeros, one, eps=1e-9), float64).any()
    large = convert(np.full(8, 300.0), dtype)  # its square overflows float16
    np.testing.assert_array_equal(
        convert(compute("rms_norm", large, one, eps=1e-9), float64), np.ones(8)
    )


def test_clip_is_a_minimum_of_a_maximum(compute):
    x, low, high = np.array([5.0, NAN, 1, 1]), np.array([0.0, 0, NAN, 3]), np.array([3.0, 3, 3, 2])
    np.testing.assert_array_equal(compute("clip", x, low, high), [3, NAN, NAN, 2])


def test_relu(compute):
    np.testing.assert_array_equal(compute("relu", np.array([-1.0, 2, NAN, INF])), [0, 2, NAN, INF])
    assert compute("relu", np.array([-3, 3], np.int8)).tolist() == [0, 3]


def test_gelu_forms(compute):
    x = np.array([-3.0, -0.5, 0.0, 1.0, 2.5])
    normal = [0.5 * v * math.erfc(-v / math.sqrt(2)) for v in x]
    np.testing.assert_allclose(compute("gelu", x, approximate="none"), normal, atol=1e-14)
    np.testing.assert_allclose(compute("gelu", x, approximate="tanh"), normal, atol=2e-3)
    np.testing.assert_allclose(compute("gelu", x, approximate="quick"), normal, atol=2e-2)
    tanh = compute("gelu", np.array([1.0]), approximate="tanh")
    np.testing.assert_allclose(tanh, [0.8411919906082768], rtol=1e-14)
    quick = compute("gelu", np.array([1.0]), approximate="quick")
    np.testing.assert_allclose(quick, [1 / (1 + math.exp(-1.702))], rtol=1e-14)


def test_reciprocal_and_square(compute):
    found = compute("reciprocal", np.array([0.0, -0.0, 4.0]))
    assert found.tolist() == [INF, -INF, 0.25]
    assert compute("square", np.array([-12], np.int8)).tolist() == [-112]


def test_composites_of_halves_round_once(call):
    random = np.random.default_rng(9)
    x = convert(random.normal(size=(4, 512)), float16)
    wide = call("softmax", convert(x, float64), axis=1)
    narrow = convert(call.decomposed(get_op("softmax"), x, axis=1)[0], float64)
    step = np.spacing(convert(wide, float16)).astype(np.float64)
    assert (np.abs(narrow - wide) <= 0.51 * step).all()
