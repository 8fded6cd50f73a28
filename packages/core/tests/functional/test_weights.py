"""constant_external: a weight that is declared where a function is traced and given by name."""

import numpy as np
import pytest
import realta
from realta import F, Tensor, nn
from realta.errors import ArgumentError

X = realta.TensorType("float32", (2,))
W = realta.TensorType("float32", (2, 2))


def layer(x):
    return F.matmul(F.constant_external("w", W), x) + F.sum(F.constant_external("w", W))


def test_a_weight_is_given_and_exchanged_without_compiling():
    w = Tensor(np.eye(2, dtype=np.float32))
    compiled = realta.compile(layer, weights={"w": w})(X)
    x = Tensor([1.0, 2.0])
    assert compiled(x).tolist() == [3.0, 4.0]
    assert list(compiled.weights) == ["w"]
    compiled.load_weights({"w": w * 2.0})
    assert compiled(x).tolist() == [6.0, 8.0]


def test_a_call_without_it_names_it():
    compiled = realta.compile(layer)(X)
    with pytest.raises(ArgumentError, match="the weight 'w' of layer was never given"):
        compiled(Tensor([1.0, 2.0]))
    compiled.load_weights({"w": np.ones((2, 2), np.float32)})
    assert compiled(Tensor([1.0, 2.0])).tolist() == [7.0, 7.0]


def test_a_name_has_one_type():
    def twice(x):
        return F.constant_external("w", W) + F.constant_external("w", X)

    with pytest.raises(ArgumentError, match="is declared again as"):
        realta.stage(twice)(X)


def test_a_module_may_not_have_it_too():
    class Scaled(nn.Module):
        def __init__(self):
            self.w = Tensor([1.0, 2.0])

        def forward(self, x):
            return F.constant_external("w", X) * self.w * x

    with pytest.raises(ArgumentError, match="declares the weight 'w', which its module has too"):
        Scaled().compile(X)


def test_elsewhere_it_is_refused():
    for call in (lambda: F.constant_external("w", W), lambda: F.constant_external("w", (2, 2))):
        with pytest.raises(ArgumentError) as caught:
            call()
        assert "constant_external('w')" in caught.value.where
        assert caught.value.fix
    with realta.lazy(), pytest.raises(ArgumentError, match="being compiled"):
        F.constant_external("w", W)
