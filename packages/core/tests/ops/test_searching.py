"""searchsorted: its decomposition against its reference, over every sample."""

import numpy as np
import pytest
from realta.errors import ShapeError
from realta.ops import get_op
from realta.types import float32, int64, tensor_type


def row(*shape):
    return tensor_type(float32, shape)


def test_rule():
    rule = get_op("searchsorted").rule
    assert rule(row(5), row(2, 3), right=False) == tensor_type(int64, (2, 3))
    with pytest.raises(ShapeError, match="a tensor of 2 axes"):
        rule(row(5, 1), row(2), right=False)


@pytest.mark.parametrize("right", [False, True])
def test_nan_comes_last(right):
    reference = get_op("searchsorted").reference
    line = np.array([1.0, 2.0, np.nan, np.nan], np.float32)
    values = np.array([0.0, 2.0, np.inf, np.nan], np.float32)
    wanted = [0, 2, 2, 4] if right else [0, 1, 2, 2]
    assert reference(line, values, right=right).tolist() == wanted
