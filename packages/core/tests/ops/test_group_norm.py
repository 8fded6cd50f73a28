"""group_norm: each group by itself, decomposition and definition, accuracy, refusals."""

import numpy as np
import pytest
from realta.errors import ShapeError
from realta.ops import get_op
from realta.ops.tolerances import allowance
from realta.types import TensorType, bfloat16, float16, float32, float64

OP = get_op("group_norm")


@pytest.mark.parametrize("dtype", [float16, bfloat16, float32, float64], ids=str)
@pytest.mark.parametrize("number", range(len(OP.samples)))
def test_the_decomposition_is_within_the_bound(call, number, dtype):
    sample = OP.samples[number]
    random = np.random.default_rng(number)
    operands = [random.normal(size=shape).astype(dtype.numpy) for shape in sample.shapes]
    wide = [o.astype(np.float64) for o in operands]
    expected = OP.reference(*wide, **sample.attrs)
    (found,) = call.decomposed(OP, *operands, **sample.attrs)
    allowed = allowance(OP, wide, sample.attrs, expected, dtype)
    assert (np.abs(found.astype(np.float64) - expected) <= allowed).all()


def test_groups_do_not_see_each_other(call):
    random = np.random.default_rng(1)
    x, ones, zeros = random.normal(size=(2, 6, 3)), np.ones(6), np.zeros(6)
    whole = call("group_norm", x, ones, zeros, groups=3, eps=1e-5)
    for n in range(3):
        own = x[:, 2 * n : 2 * n + 2]
        alone = call("group_norm", own, ones[:2], zeros[:2], groups=1, eps=1e-5)
        np.testing.assert_array_equal(whole[:, 2 * n : 2 * n + 2], alone)
    assert abs(whole.reshape(2, 3, 6).mean(axis=2)).max() < 1e-12


def test_large_means_do_not_cancel(call):  # P6
    x = np.array([40000.0, 40001, 40002, 40003], np.float32).reshape(1, 4, 1)
    ones, zeros = np.ones(4, np.float32), np.zeros(4, np.float32)
    (found,) = call.decomposed(OP, x, ones, zeros, groups=1, eps=1e-5)
    np.testing.assert_allclose(found.ravel(), [-1.3416, -0.4472, 0.4472, 1.3416], atol=1e-4)
    (same,) = call.decomposed(OP, np.full_like(x, 1234), ones, zeros, groups=2, eps=1e-5)
    assert (same == 0).all()


@pytest.mark.parametrize(
    ("shape", "parameter", "groups", "message"),
    [
        ((4,), (4,), 2, "the operand of group_norm needs at least 2 axes"),
        ((2, 5, 3), (5,), 2, "5 channels do not divide into 2 groups"),
        ((2, 4, 3), (4,), 0, "0 groups"),
        ((2, 4, 3), (3,), 2, r"a parameter has the shape \(3,\) for 4 channels"),
    ],
)
def test_refusals(shape, parameter, groups, message):
    types = TensorType(float32, shape), TensorType(float32, parameter)
    with pytest.raises(ShapeError, match=message):
        OP.result_types((*types, types[1]), OP.make_attrs({"groups": groups, "eps": 1e-5}))
