"""Sigmoid: within its bound where an exponential overflows, the same bits in any company."""

import numpy as np
import pytest
import realta
from realta import F
from realta.testing import assert_same_bits


def exact(x):
    wide = x.astype(np.longdouble)
    with np.errstate(all="ignore"):
        return np.where(wide >= 0, 1 / (1 + np.exp(-wide)), np.exp(wide) / (1 + np.exp(wide)))


@pytest.mark.parametrize(("dtype", "deepest", "ulp"), [("float32", 104, 5), ("float64", 746, 4)])
def test_it_keeps_its_digits_down_to_the_smallest_number(dtype, deepest, ulp):
    x = np.linspace(-deepest, deepest, 40_001).astype(dtype)
    found = F.sigmoid(realta.Tensor(x, device="numpy:0")).numpy()
    wanted = exact(x)
    unit = np.spacing(np.maximum(wanted.astype(dtype), np.finfo(dtype).smallest_subnormal))
    assert np.max(np.abs(found - wanted) / unit) <= ulp
    assert found[0] == 0 or found[0] == np.finfo(dtype).smallest_subnormal


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_special_values(dtype):
    x = realta.Tensor([np.nan, np.inf, -np.inf, 0.0, -0.0], device="numpy:0").cast(dtype)
    found = F.sigmoid(x).cast("float64").numpy()
    np.testing.assert_array_equal(found, [np.nan, 1, 0, 0.5, 0.5])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_deep_element_beside_a_nan_changes_no_other(dtype):
    x = np.concatenate([np.linspace(-3, 3, 1025), [np.nan, -90.5, -745.0]]).astype(dtype)
    together = F.sigmoid(realta.Tensor(x, device="numpy:0")).numpy()
    alone = [F.sigmoid(realta.Tensor(x[n : n + 1], device="numpy:0")).numpy() for n in range(1028)]
    assert_same_bits(together, np.concatenate(alone))
    assert together[-2] > 0
