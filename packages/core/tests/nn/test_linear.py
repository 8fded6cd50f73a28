"""Linear and Sequential."""

import numpy as np
import pytest
import realta
from realta import F, Tensor, nn
from realta.errors import DTypeError, ShapeError
from realta.testing import assert_same_bits


def test_linear_is_x_times_weight_plus_bias():
    layer = nn.Linear(3, 2)
    x = Tensor(np.arange(12.0, dtype=np.float32).reshape(2, 2, 3))
    assert layer(x).shape == (2, 2, 2)
    assert_same_bits(layer(x), F.linear(x, layer.weight, layer.bias))
    plain = nn.Linear(3, 2, bias=False)
    assert plain.bias is None
    assert [name for name, _ in plain.parameters] == ["weight"]
    assert_same_bits(plain(x), x @ plain.weight.T)


def test_initial_values_are_uniform_within_their_bound():
    realta.set_seed(0)
    layer = nn.Linear(100, 300)
    bound = 0.1
    for values in (layer.weight.numpy(), layer.bias.numpy()):
        assert np.abs(values).max() <= bound
        assert abs(values.mean()) < 0.01
        assert abs(values.std() - bound / np.sqrt(3)) < 0.005
    realta.set_seed(0)
    assert_same_bits(nn.Linear(100, 300).weight, layer.weight)


def test_dtype_and_device():
    assert nn.Linear(2, 2, dtype="float16").weight.dtype is realta.float16
    assert nn.Linear(2, 2, device="reference:0").bias.device == realta.Device("reference:0")
    with realta.default_dtype("bfloat16"):
        assert nn.Linear(2, 2).weight.dtype is realta.bfloat16
    with pytest.raises(DTypeError):
        nn.Linear(2, 2, dtype="int8")


def test_extents():
    assert nn.Linear(0, 2)(F.zeros((3, 0))).shape == (3, 2)
    with pytest.raises(ShapeError):
        nn.Linear(-1, 2)
    with pytest.raises(ShapeError, match="takes 3 features, got 4") as caught:
        nn.Linear(3, 2)(F.zeros((1, 4)))
    assert "test_linear.py" in caught.value.where


def test_sequential():
    model = nn.Sequential(nn.Linear(3, 2), F.relu, lambda x: x + 1)
    assert len(model) == 3
    assert model[1] is F.relu
    assert next(iter(model)) is model[0]
    x = F.ones((2, 3))
    assert_same_bits(model(x), F.relu(model[0](x)) + 1)
    assert nn.Sequential()(x) is x
