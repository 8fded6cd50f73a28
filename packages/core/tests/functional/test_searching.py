"""Places in a sorted row, against NumPy."""

import numpy as np
import pytest
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError
from realta.testing import assert_same_bits

NAN = float("nan")
ROWS = [
    np.array([1.0, 2.0, 2.0, 5.0, np.inf, NAN], np.float32), np.array([], np.float32),
    np.array([-np.inf, -0.0, 0.0, 3.0], np.float32), np.array([2.0], np.float32),
]  # fmt: skip
VALUES = np.array([[0.0, 2.0, -0.0, NAN], [5.0, np.inf, -np.inf, 1.5]], np.float32)


@pytest.mark.parametrize("row", ROWS, ids=[f"row {n}" for n in range(len(ROWS))])
@pytest.mark.parametrize("side", ["left", "right"])
def test_searchsorted(modes, row, side):
    expected = np.searchsorted(row, VALUES, side)
    assert_same_bits(modes(lambda r, v: F.searchsorted(r, v, side=side), row, VALUES), expected)


def test_integers_numbers_and_a_sorter(modes):
    row = np.array([5, 1, 3, 3], np.int16)
    order = np.argsort(row, kind="stable")
    values = np.array([0, 3, 9], np.int64)
    found = modes(lambda r, v, o: F.searchsorted(r, v, side="right", sorter=o), row, values, order)
    assert_same_bits(found, np.searchsorted(row, values, "right", order))
    assert F.searchsorted(Tensor([1, 3, 3]), 3).item() == 1
    assert F.searchsorted(Tensor([1, 3, 3]), 2.5).item() == 1
    bools = F.searchsorted(Tensor([False, False, True]), Tensor([True, False]), side="right")
    assert bools.tolist() == [3, 2]


def test_errors():
    with pytest.raises(ArgumentError, match="the side 'middle'") as caught:
        F.searchsorted(Tensor([1]), Tensor([1]), side="middle")
    assert "test_searching.py" in caught.value.where
    with pytest.raises(ShapeError, match="a tensor of 2 axes"):
        F.searchsorted(Tensor([[1]]), Tensor([1]))
