"""Distinct elements, of known number and padded, against NumPy."""

import numpy as np
import pytest
import realta
from realta import F, Tensor
from realta.errors import RealizationError
from realta.testing import assert_same_bits
from realta.types import BY_NAME

NAN = float("nan")
ARRAYS = [
    np.array([[3, 1, 1], [2, 3, 1]]),
    np.array([0.0, -0.0, NAN, 2.0, NAN, -0.0, np.inf], np.float32),
    np.array([-0.0, 0.0]), np.array([True, False, True]), np.zeros((2, 0), np.int8),
    np.array(5, np.uint8), np.array([1.5, 1.5, -2.0]).astype(BY_NAME["bfloat16"].numpy),
]  # fmt: skip
EACH = pytest.mark.parametrize("x", ARRAYS, ids=[f"array {n}" for n in range(len(ARRAYS))])


def expected(x):
    row = x.reshape(-1).astype(np.float64)
    _, indices, inverse, counts = np.unique(
        row, return_index=True, return_inverse=True, return_counts=True, equal_nan=False
    )
    return x.reshape(-1)[indices], indices, inverse.reshape(x.shape), counts


@EACH
def test_unique(x):
    values, indices, inverse, counts = expected(x)
    found = F.unique_all(Tensor(x))
    for result, wanted in zip(found, (values, indices, inverse, counts), strict=True):
        assert_same_bits(result, wanted)
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    assert_same_bits(F.unique_values(Tensor(x)), values)
    assert_same_bits(F.unique_counts(Tensor(x)).counts, counts)
    assert_same_bits(F.unique_inverse(Tensor(x)).inverse_indices, inverse)


@EACH
@pytest.mark.parametrize("size", [0, 2, 9])
def test_padded(modes, x, size):
    values, indices, inverse, counts = expected(x)
    fill = x.dtype.type(1)

    def body(t):
        found, count = F.unique_all(t, size=size, fill_value=1)
        return *found, count

    results = modes(body, x)
    for result, wanted, filling in zip(
        results, (values, indices, inverse, counts), (fill, 0, None, 0), strict=False
    ):
        if filling is not None:
            padded = np.full((size,), filling, wanted.dtype)
            padded[: len(wanted)] = wanted[:size]
            wanted = padded
        assert_same_bits(result, wanted)
    assert int(results[-1]) == len(values)
    again, count = F.unique_values(Tensor(x), size=size, fill_value=1)
    assert_same_bits(again, results[0])
    assert count.item() == len(values)
    assert F.unique_counts(Tensor(x), size=size)[0]._fields == ("values", "counts")


def test_a_graph_names_what_to_write():
    with pytest.raises(RealizationError, match="unique_counts depends on values") as caught:
        realta.compile(lambda t: F.unique_counts(t).values)(Tensor([1, 2]).type)
    assert "size=" in caught.value.fix
    with realta.lazy():
        found = F.unique_values(Tensor([2, 1]) * 2)
        assert found.is_real
    assert found.tolist() == [2, 4]
