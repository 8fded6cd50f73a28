"""GroupNorm: the function with its own parameters, names, refusals."""

import numpy as np
import pytest
from realta import F, Tensor, nn
from realta.errors import ArgumentError, ShapeError

X = np.random.default_rng(3).normal(size=(2, 6, 4, 5)).astype(np.float32)


def test_it_is_the_function(each_device):
    layer = nn.GroupNorm(3, 6, 1e-3)
    assert list(layer.state_dict()) == ["weight", "bias"]
    weight, bias = np.arange(6, dtype=np.float32), np.ones(6, np.float32)
    plain = F.group_norm(Tensor(X), None, None, 3, 1e-3).numpy()
    np.testing.assert_array_equal(layer(Tensor(X)).numpy(), plain)
    layer.load_state_dict({"weight": weight, "bias": bias})
    expected = F.group_norm(Tensor(X), weight, bias, 3, 1e-3).numpy()
    np.testing.assert_array_equal(layer(Tensor(X)).numpy(), expected)


def test_without_parameters():
    layer = nn.GroupNorm(2, 6, affine=False)
    assert layer.state_dict() == {}
    np.testing.assert_allclose(layer(Tensor(X)).numpy().mean(), 0, atol=1e-6)


def test_refusals():
    with pytest.raises(ArgumentError, match="6 channels in 4 groups"):
        nn.GroupNorm(4, 6)
    with pytest.raises(ShapeError, match="for 4 channels"):
        nn.GroupNorm(2, 6)(Tensor(np.ones((2, 4, 3), np.float32)))
