"""Comparisons for tests: what they accept and what they refuse."""

import ml_dtypes
import numpy as np
import pytest
from realta import Tensor
from realta.testing import assert_all_close, assert_same_bits

NAN = float("nan")


def test_equal_bits_pass():
    for array in (
        np.array([1.0, NAN, -0.0]), np.array([True, False]), np.array(3), np.zeros((0, 2)),
        np.array([1.5, NAN]).astype(ml_dtypes.bfloat16), np.array([1, 2**63], np.uint64),
    ):  # fmt: skip
        assert_same_bits(array, array.copy())
        assert_same_bits(Tensor(array), array)
    # A NaN's sign and payload say nothing.
    assert_same_bits(np.array([NAN]), -np.array([NAN]))


@pytest.mark.parametrize(
    ("x", "y"),
    [
        ([0.0], [-0.0]), ([1.0], [1.0000000000000002]), ([NAN], [1.0]), ([1.0], [NAN]),
        ([1], [1.0]),
        ([[1.0]], [1.0]), ([True], [False]), (np.float32([1]), [1.0]),
        (np.array([1.0], ml_dtypes.bfloat16), np.array([-1.0], ml_dtypes.bfloat16)),
        (np.array([0.0], ml_dtypes.bfloat16), np.array([-0.0], ml_dtypes.bfloat16)),
    ],
    ids=range(10),
)  # fmt: skip
def test_other_bits_do_not(x, y):
    with pytest.raises(AssertionError):
        assert_same_bits(np.asarray(x), np.asarray(y))


def test_the_first_difference_is_shown():
    with pytest.raises(
        AssertionError, match=r"2 of 4 elements differ, the first at \(0, 1\): .*2.*7"
    ):
        assert_same_bits(Tensor([[1, 2], [3, 4]]), Tensor([[1, 7], [3, 8]]))


def test_closeness():
    assert_all_close(Tensor([1.0, NAN]), Tensor([1.0 + 1e-7, NAN]))
    assert_all_close(Tensor([1.0], dtype="bfloat16"), [1.001], rtol=1e-2)
    for x, y in (([1.0], [1.1]), ([NAN], [1.0]), ([[1.0]], [1.0, 1.0])):
        with pytest.raises(AssertionError):
            assert_all_close(Tensor(x), Tensor(y))
