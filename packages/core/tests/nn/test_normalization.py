"""LayerNorm and RMSNorm beside their formulas in float64."""

import numpy as np
import pytest
import realta
from realta import Tensor, nn
from realta.errors import ShapeError
from realta.testing import assert_same_bits

RANDOM = np.random.default_rng(5)
X = RANDOM.standard_normal((2, 3, 8)).astype(np.float32)


def parameters(module):
    state = {
        name: RANDOM.standard_normal(p.shape).astype(p.dtype.numpy) for name, p in module.parameters
    }
    module.load_state_dict(state)
    return {name: value.astype(np.float64) for name, value in state.items()}


def layer_norm(x, weight=1.0, bias=0.0, eps=1e-5):
    x = x.astype(np.float64)
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(-1, keepdims=True) + eps) * weight + bias


@pytest.mark.parametrize(
    ("options", "names"),
    [
        ({}, ["weight", "bias"]),
        ({"use_bias": False}, ["weight"]),
        ({"elementwise_affine": False}, []),
        ({"eps": 0.5}, ["weight", "bias"]),
    ],
    ids=str,
)
def test_layer_norm(each_device, options, names):
    layer = nn.LayerNorm(8, **options)
    assert list(layer.state_dict()) == names
    assert_same_bits(layer(Tensor(X)), nn.LayerNorm(8, layer.eps)(Tensor(X)))
    given = parameters(layer)
    wanted = layer_norm(X, **given, eps=layer.eps)
    np.testing.assert_allclose(layer(Tensor(X)).numpy(), wanted, atol=2e-6)


def test_rms_norm(each_device):
    layer = nn.RMSNorm(8)
    weight = parameters(layer)["weight"]
    x = X.astype(np.float64)
    wanted = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * weight
    np.testing.assert_allclose(layer(Tensor(X)).numpy(), wanted, atol=2e-6)
    assert nn.RMSNorm(8, 1e-3).eps == 1e-3


def test_gemma_rms_norm(each_device):
    layer = nn.GemmaRMSNorm(8)
    assert_same_bits(layer(Tensor(X)), nn.RMSNorm(8)(Tensor(X)))
    weight = parameters(layer)["weight"]
    x = X.astype(np.float64)
    wanted = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6) * (1 + weight)
    np.testing.assert_allclose(layer(Tensor(X)).numpy(), wanted, atol=2e-6)


def test_half_input_and_float_parameters():
    """With keep_dtype the parameters are rounded to the input's dtype, without it they are not."""
    layer = nn.LayerNorm(8)
    layer.load_state_dict(
        {"weight": np.full(8, 1 + 2**-10, np.float32), "bias": np.zeros(8, np.float32)}
    )
    x = Tensor(X).cast("bfloat16")
    assert layer(x).dtype is realta.bfloat16
    assert_same_bits(layer(x), nn.LayerNorm(8)(x))
    layer.keep_dtype = False
    wanted = layer_norm(x.numpy().astype(np.float32), 1 + 2**-10).astype(np.float32)
    assert layer(x).dtype is realta.bfloat16
    assert_same_bits(layer(x), Tensor(wanted).cast("bfloat16"))


def test_extents_that_do_not_fit():
    for layer in (nn.LayerNorm(3), nn.RMSNorm(3), nn.GemmaRMSNorm(3)):
        with pytest.raises(ShapeError, match="for a last axis of 8"):
            layer(Tensor(X))
