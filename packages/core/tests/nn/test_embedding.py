"""Embedding: rows of a table by index."""

import numpy as np
import pytest
import realta
from realta import Tensor, TensorType, nn
from realta.errors import ArgumentError, IndexBoundsError
from realta.testing import assert_same_bits


def test_rows_of_the_table(each_device):
    layer = nn.Embedding(5, dim=3)
    table = layer.weight.numpy()
    indices = np.array([[4, 0], [1, -1], [2, 2]])
    assert_same_bits(layer(Tensor(indices)), table[indices])
    assert_same_bits(layer(indices), table[indices])
    assert layer(2).shape == (3,)
    assert (layer.vocab_size, layer.dim, layer.dims) == (5, 3, (3,))


def test_rows_with_several_axes():
    layer = nn.Embedding(4, dims=(2, 3), dtype="float64")
    assert layer(Tensor([1, 3])).shape == (2, 2, 3)
    assert layer.weight.dtype is realta.float64


def test_initial_values_are_standard_normal():
    values = nn.Embedding(200, dim=100).weight.numpy()
    assert abs(values.mean()) < 0.02
    assert abs(values.std() - 1) < 0.02


@pytest.mark.parametrize("extents", [{}, {"dim": 2, "dims": (2,)}], ids=["neither", "both"])
def test_one_of_dim_and_dims(extents):
    with pytest.raises(ArgumentError, match="one of dim and dims") as caught:
        nn.Embedding(3, **extents)
    assert "test_embedding.py" in caught.value.where
    assert caught.value.fix == "write Embedding(1000, dim=64)"


def test_indices_out_of_range(each_device):
    layer = nn.Embedding(3, dim=2)
    with pytest.raises(IndexBoundsError, match="index 3 is out of bounds for axis 0"):
        layer([0, 3])
    compiled = layer.compile(TensorType("int64", ("n",)))
    assert_same_bits(compiled(Tensor([2])), layer.weight.numpy()[[2]])
    with pytest.raises(IndexBoundsError, match="index 5"):
        compiled(Tensor([0, 5])).numpy()
