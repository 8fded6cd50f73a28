"""The hyperbolic tangent of the preamble: its coefficients and what it promises near 1 and 0."""

import numpy as np
import pytest
from realta.codegen.preamble_tanh import _NUMBERS, EXPONENTIALS
from realta.types import float32, float64

from tools.fit_functions import coefficients


@pytest.mark.parametrize(
    ("dtype", "bits"), [(float32, 32), pytest.param(float64, 64, marks=pytest.mark.slow)]
)
def test_coefficients_are_what_the_fitting_tool_finds(dtype, bits):
    found, _error = coefficients("exp", bits)
    assert [float.fromhex(text) for text in EXPONENTIALS[dtype].split()] == list(found)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_multiples_of_the_first_part_of_log_2_are_exact(dtype):
    # n times the first part of log(2) has no rounding for every n that occurs.
    numbers = _NUMBERS[float32 if dtype is np.float32 else float64]
    high = float.fromhex(numbers.log2[0])
    for n in range(int(2 * numbers.limit / np.log(2)) + 2):
        assert float(dtype(n) * dtype(high)) == n * high
