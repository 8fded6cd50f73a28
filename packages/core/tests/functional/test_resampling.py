"""Resampling: coordinates of each mode, exact rounding of halves, weights that add up to one."""

import numpy as np
import pytest
from realta.functional.resampling import cubic_taps, linear_taps, nearest


@pytest.mark.parametrize(
    ("extent", "size", "mode", "rounding", "expected"),
    [
        (4, 2, 0, 0, [0, 2]), (4, 2, 0, 1, [1, 3]), (4, 2, 0, 2, [0, 2]), (4, 2, 0, 3, [1, 3]),
        (4, 2, 1, 0, [0, 3]), (4, 2, 2, 2, [0, 2]), (4, 1, 0, 2, [1]), (4, 1, 3, 3, [0]),
        (4, 1, 1, 0, [0]), (2, 4, 0, 0, [0, 0, 1, 1]), (2, 5, 1, 0, [0, 0, 0, 1, 1]),
        (2, 5, 1, 1, [0, 0, 1, 1, 1]), (3, 2, 2, 3, [0, 2]), (2, 3, 2, 3, [0, 1, 1]),
    ],
)  # fmt: skip
def test_nearest(extent, size, mode, rounding, expected):
    assert nearest(extent, size, mode, rounding).tolist() == expected


@pytest.mark.parametrize("size", [3, 7, 49, 97, 147])
def test_halves_are_halves_however_long_the_axis_is(size):
    # Element i of a doubled axis lies a quarter to either side; of a halved one on a half.
    assert nearest(2 * size, size, 0, 0).tolist() == list(range(0, 2 * size, 2))
    assert nearest(2 * size, size, 0, 1).tolist() == list(range(1, 2 * size, 2))


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("mode", range(4))
@pytest.mark.parametrize(("extent", "size"), [(5, 9), (9, 5), (7, 1), (1, 4), (3, 3), (100, 7)])
def test_linear_weights_reproduce_lines(extent, size, mode, antialias):
    index, weight = linear_taps(extent, size, mode, antialias)
    assert index.shape == weight.shape
    assert ((index >= 0) & (index < extent)).all()
    np.testing.assert_allclose(weight.sum(axis=1), 1, atol=1e-12)
    assert (weight >= 0).all()
    if mode == 1 and size > 1 and not antialias:
        line = (np.arange(extent)[index] * weight).sum(axis=1)
        np.testing.assert_allclose(line, np.linspace(0, extent - 1, size), atol=1e-12)


def test_antialiasing_takes_all_that_an_axis_shrinks_by():
    index, weight = linear_taps(8, 2, 0, True)
    heard = np.zeros(8)
    np.add.at(heard, index.ravel(), weight.ravel())
    assert (heard > 0).all()
    assert linear_taps(4, 8, 0, True)[0].shape == (8, 2)


def test_cubic_weights():
    _, weight = cubic_taps(4, 8)
    np.testing.assert_allclose(weight.sum(axis=1), 1, atol=1e-12)
    index, weight = cubic_taps(5, 5)
    np.testing.assert_array_equal(weight, np.tile([0, 1, 0, 0], (5, 1)))
    assert index[0].tolist() == [0, 0, 1, 2]
