"""band_part: every number of diagonals, of stacks, excluded, refusals."""

import numpy as np
import pytest
from realta import F, Tensor
from realta.errors import ArgumentError, ShapeError


@pytest.mark.parametrize("exclude", [False, True])
@pytest.mark.parametrize("upper", [None, -1, 0, 1, 9])
@pytest.mark.parametrize("lower", [None, -1, 0, 2, 9])
def test_band_part(modes, lower, upper, exclude):
    x = np.arange(1, 41, dtype=np.float32).reshape(2, 4, 5)
    row, column = np.mgrid[:4, :5]
    band = np.ones((4, 5), bool)
    if lower not in (None, -1):
        band &= row - column <= lower
    if upper not in (None, -1):
        band &= column - row <= upper
    found = modes(lambda t: F.band_part(t, lower, upper, exclude), x)
    np.testing.assert_array_equal(found, np.where(band != exclude, x, 0))


def test_what_is_dropped_may_be_anything():
    x = np.full((3, 3), np.nan)
    assert F.band_part(Tensor(x), 0, 0).numpy().tolist()[0][1:] == [0, 0]
    flags = F.band_part(Tensor(np.ones((2, 2), bool)), 0, None).numpy()
    assert flags.tolist() == [[True, True], [False, True]]


def test_refusals():
    with pytest.raises(ShapeError, match=r"band_part of f64\[3\]"):
        F.band_part(Tensor(np.ones(3)), 1)
    with pytest.raises(ArgumentError, match="num_lower=-2"):
        F.band_part(Tensor(np.ones((3, 3))), -2)
    with pytest.raises(ArgumentError, match="num_upper=True"):
        F.band_part(Tensor(np.ones((3, 3))), 1, True)
