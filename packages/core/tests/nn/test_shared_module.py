"""Modules as subgraphs keep their place in the tree."""

import numpy as np
import pytest
from realta import F, Tensor, TensorType, nn
from realta.testing import assert_same_bits

TYPE = TensorType("float32", ("n", 3))


class Model(nn.Module):
    def __init__(self, wrap):
        self.layers = nn.ModuleList([wrap(nn.Linear(3, 3)) for _ in range(3)])

    def forward(self, x):
        for layer in self.layers:
            x = F.relu(layer(x))
        return x


def test_names_are_those_of_the_module_itself():
    shared, plain = Model(nn.as_subgraph), Model(lambda m: m)
    assert list(shared.state_dict()) == list(plain.state_dict())
    shared.load_state_dict(plain.state_dict())
    x = Tensor(np.float32([[1, -2, 3]]))
    compiled = shared.compile(TYPE)
    calls = [node for node in compiled.graph.nodes if node.op.name == "call"]
    assert len(calls) == 3
    assert len({id(node.attrs["body"]) for node in calls}) == 1
    assert calls[0].attrs["body"].name == "Linear"
    assert_same_bits(compiled(x), plain(x))
    assert_same_bits(shared(x), plain(x))


def test_functions():
    @nn.as_subgraph
    def body(x):
        return x + 1

    assert body(Tensor([1])).tolist() == [2]
    assert nn.as_subgraph(body, name="other").name == "other"


def test_a_cache_inside(each_device):
    class Decoder(nn.Module):
        def __init__(self):
            self.attention = nn.MultiHeadAttention(4, 2)
            self.cache = nn.KVCache(1, 2, 6, 2)

        def forward(self, x):
            return self.attention(x, cache=self.cache)

    layers = [Decoder() for _ in range(3)]
    model = nn.Sequential(*[nn.as_subgraph(layer) for layer in layers])
    compiled = model.compile(TensorType("float32", (1, 1, 4)))
    x = np.random.default_rng(1).standard_normal((1, 5, 4)).astype(np.float32)
    found = [compiled(Tensor(x[:, n : n + 1])).numpy() for n in range(5)]
    expected = Tensor(x)
    for layer in layers:
        expected = layer.attention(expected, causal=True)
    np.testing.assert_allclose(np.concatenate(found, 1), expected.numpy(), atol=2e-6)
    assert [layer.cache.length.item() for layer in layers] == [5, 5, 5]


@pytest.mark.parametrize("wrap", [nn.as_subgraph, lambda m: m], ids=["shared", "plain"])
def test_text(wrap):
    assert "0.weight" in repr(Model(wrap).layers)
