"""Contractions: axes, dtypes, accuracy."""

import math

import numpy as np
import pytest
from realta.errors import DTypeError, ShapeError
from realta.ops import all_ops, convert, get_op
from realta.types import TensorType, bfloat16, float16, float32, int8

SAMPLES = get_op("dot_general").samples


@pytest.mark.parametrize("number", range(len(SAMPLES)))
def test_dot_general_is_an_einsum(call, number):
    sample = SAMPLES[number]
    random = np.random.default_rng(number)
    x, y = (random.integers(-4, 5, shape) for shape in sample.shapes)
    a = sample.attrs
    left = [chr(97 + n) for n in range(x.ndim)]
    right = [chr(65 + n) for n in range(y.ndim)]
    for p, q in zip(a["x_batch"] + a["x_contract"], a["y_batch"] + a["y_contract"], strict=True):
        right[q] = left[p]
    batch = [left[p] for p in a["x_batch"]]
    summed = {left[p] for p in a["x_contract"]}
    free = [c for c in left + right if c not in summed and c not in batch]
    equation = f"{''.join(left)},{''.join(right)}->{''.join(batch + free)}"
    found = call("dot_general", x, y, **a)
    np.testing.assert_array_equal(found, np.einsum(equation, x, y))


def test_integers_wrap(call):
    x = np.full((1, 4), 100, np.int8)
    assert call("matmul", x, x.T) == np.array(4 * 100 * 100).astype(np.int8)


@pytest.mark.parametrize("dtype", [float16, bfloat16], ids=str)
def test_halves_accumulate_wide(call, dtype):
    ones = convert(np.ones((1, 4096)), dtype)
    assert float(call("matmul", ones, ones.T).item()) == 4096


def test_a_million_tenths(call):  # P4 as a contraction
    tenths, ones = np.full(10**6, 0.1, np.float32), np.ones(10**6, np.float32)
    assert abs(float(call("matmul", tenths, ones)) - 100000) < 0.01


def test_layout_does_not_change_bits(call):
    random = np.random.default_rng(8)
    x, y = random.normal(size=(33, 129)), random.normal(size=(129, 1))
    found = call("matmul", x, y)
    np.testing.assert_array_equal(found, call("matmul", np.asfortranarray(x), y))
    np.testing.assert_array_equal(found, call("matmul", x, np.repeat(y, 2, 1)[:, :1]))


@pytest.mark.parametrize("sample", get_op("matmul").samples, ids=lambda s: str(s.shapes))
def test_matmul_is_numpys(call, sample):
    random = np.random.default_rng(1)
    x, y = (random.integers(-9, 10, shape) for shape in sample.shapes)
    expected = np.matmul(x, y)
    np.testing.assert_array_equal(call("matmul", x, y), expected)
    (found,) = call.decomposed(get_op("matmul"), x, y)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        ((2, 3), (4, 5), r"matmul of \(2, 3\) and \(4, 5\): the inner extents 3 and 4 differ"),
        ((), (3,), "the left operand of matmul needs at least 1 axes"),
        ((2, 3, 4), (5, 4, 2), r"\(2,\) and \(5,\) do not broadcast"),
    ],
)
def test_matmul_shapes(x, y, message):
    op = get_op("matmul")
    with pytest.raises(ShapeError, match=message):
        op.result_types((TensorType(float32, x), TensorType(float32, y)), op.make_attrs({}))


@pytest.mark.parametrize(
    ("attrs", "message"),
    [
        (
            {"x_batch": (0,), "y_batch": (), "x_contract": (), "y_contract": ()},
            "1 batch axes of x meet 0 of y",
        ),
        (
            {"x_batch": (), "y_batch": (), "x_contract": (1,), "y_contract": (1,)},
            r"the contracted axes 1 of \(2, 3\) and 1 of \(3, 2\) have the extents 3 and 2",
        ),
        (
            {"x_batch": (0,), "y_batch": (1,), "x_contract": (0,), "y_contract": (1,)},
            "names an axis twice",
        ),
    ],
)
def test_dot_general_axes(attrs, message):
    op = get_op("dot_general")
    types = TensorType(float32, (2, 3)), TensorType(float32, (3, 2))
    with pytest.raises(ShapeError, match=message):
        op.result_types(types, op.make_attrs(attrs))


def test_operands_have_one_dtype():
    op = get_op("matmul")
    types = TensorType(float32, (2, 3)), TensorType(int8, (3, 2))
    with pytest.raises(DTypeError, match="the operands have the dtypes float32 and int8"):
        op.result_types(types, op.make_attrs({}))


def test_attention_without_keys_is_zero(call):
    q, k, v = np.ones((2, 4)), np.ones((0, 4)), np.ones((0, 3))
    assert call("attention", q, k, v, scale=0.5).tolist() == [[0.0] * 3] * 2


def test_causal_attention_ignores_later_keys(call):
    random = np.random.default_rng(0)
    q, k, v = (random.normal(size=(5, 4)) for _ in range(3))
    whole = call("attention", q, k, v, scale=0.5, causal=True)
    k[3:], v[3:] = math.nan, 7.0
    part = call("attention", q, k, v, scale=0.5, causal=True)
    np.testing.assert_array_equal(whole[:3], part[:3])
    np.testing.assert_array_equal(whole[0], v[0])


def test_contractions_name_their_tolerance():
    named = {op.name for op in all_ops() if op.tolerance in ("contraction", "attention")}
    assert {"dot_general", "matmul", "attention"} <= named
