"""Activations and Dropout: the functions of F as modules."""

import numpy as np
import pytest
from realta import F, Tensor, nn
from realta.errors import ArgumentError
from realta.testing import assert_same_bits

X = Tensor(np.float32([[-3, -0.5, 0], [0.25, 2, 30]]))


@pytest.mark.parametrize(
    ("layer", "function"),
    [
        (nn.ReLU(), F.relu),
        (nn.GELU(), F.gelu),
        (nn.GELU("tanh"), lambda x: F.gelu(x, "tanh")),
        (nn.SiLU(), F.silu),
        (nn.Sigmoid(), F.sigmoid),
        (nn.Tanh(), F.tanh),
        (nn.Softmax(), F.softmax),
        (nn.Softmax(0), lambda x: F.softmax(x, 0)),
    ],
    ids=["relu", "gelu", "gelu tanh", "silu", "sigmoid", "tanh", "softmax", "softmax 0"],
)
def test_activation(layer, function):
    assert_same_bits(nn.Sequential(layer)(X), function(X))
    assert list(layer.parameters) == []


def test_dropout_is_the_identity():
    layer = nn.Dropout(0.9)
    assert layer(X) is not X
    assert_same_bits(layer(X), X)
    assert layer.rate == 0.9
    assert len(layer.trace(X.type).graph.nodes) == 0
    for rate in (-0.1, 1.5):
        with pytest.raises(ArgumentError, match=f"a dropout rate of {rate}"):
            nn.Dropout(rate)
