"""MultiHeadAttention beside softmax(q k / sqrt(d)) v in float64, head by head."""

from itertools import pairwise

import numpy as np
import pytest
import realta
from realta import Tensor, TensorType, nn
from realta.errors import ArgumentError, DTypeError, IndexBoundsError, ShapeError
from realta.testing import assert_same_bits

RANDOM = np.random.default_rng(3)
X = RANDOM.standard_normal((2, 5, 8)).astype(np.float32)
OTHER = RANDOM.standard_normal((2, 4, 8)).astype(np.float32)


def projected(layer, x):
    weight = layer.weight.numpy().astype(np.float64)
    bias = 0.0 if layer.bias is None else layer.bias.numpy().astype(np.float64)
    return x.astype(np.float64) @ weight.T + bias


def wanted(layer, x, context=None, seen=True, added=0.0):
    """The layer in float64, one sequence and one head at a time."""
    context = x if context is None else context
    q, k, v = (
        projected(part, source)
        for part, source in ((layer.query, x), (layer.key, context), (layer.value, context))
    )
    size, times = layer.head_dim, layer.num_heads // layer.num_kv_heads
    shape = (len(x), layer.num_heads, x.shape[1], context.shape[1])
    seen, added = np.broadcast_to(seen, shape), np.broadcast_to(added, shape)
    found = np.zeros(q.shape)
    for n in range(len(x)):
        for head in range(layer.num_heads):
            mine, shared = slice(head * size, (head + 1) * size), head // times
            theirs = slice(shared * size, (shared + 1) * size)
            scores = q[n, :, mine] @ k[n, :, theirs].T / np.sqrt(size) + added[n, head]
            scores = np.where(seen[n, head], scores, -np.inf)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            weights /= weights.sum(-1, keepdims=True)
            found[n, :, mine] = weights @ v[n, :, theirs]
    return projected(layer.output, found)


def check(found, expected):
    np.testing.assert_allclose(found.numpy(), expected, atol=2e-6)


LAYERS = {
    "plain": {},
    "shared keys": {"num_kv_heads": 2},
    "one key": {"num_kv_heads": 1, "bias": False},
    "wide heads": {"head_dim": 6},
}


@pytest.fixture(params=LAYERS, ids=str)
def layer(request, each_device):
    return nn.MultiHeadAttention(8, 4, **LAYERS[request.param])


def test_names(each_device):
    names = [f"{p}.{w}" for p in ("query", "key", "value", "output") for w in ("weight", "bias")]
    assert list(nn.MultiHeadAttention(8, 4).state_dict()) == names


def test_every_position_sees_all(layer):
    check(layer(Tensor(X)), wanted(layer, X))
    check(layer(Tensor(X[0])), wanted(layer, X[:1])[0])


def test_causal(layer):
    check(layer(Tensor(X), causal=True), wanted(layer, X, seen=np.tri(5, dtype=bool)))


def test_context(layer):
    check(layer(Tensor(X), Tensor(OTHER)), wanted(layer, X, OTHER))


def test_masks(layer):
    seen = RANDOM.random((2, 1, 5, 5)) < 0.6
    seen[..., 0] = True
    check(layer(Tensor(X), mask=Tensor(seen)), wanted(layer, X, seen=seen))
    check(layer(Tensor(X), mask=seen), wanted(layer, X, seen=seen))
    both = seen & np.tri(5, dtype=bool)
    check(layer(Tensor(X), mask=Tensor(seen), causal=True), wanted(layer, X, seen=both))
    added = RANDOM.standard_normal((4, 5, 5)).astype(np.float32)
    check(layer(Tensor(X), mask=Tensor(added)), wanted(layer, X, added=added))


def test_compiled_with_symbolic_extents(layer):
    x, mask = TensorType("float32", ("b", "n", 8)), TensorType("bool", ("b", 1, 1, "n"))
    compiled = layer.compile(x, mask=mask)
    for batch, length in ((2, 5), (1, 3)):
        part = np.ascontiguousarray(X[:batch, :length])
        seen = np.ones((batch, 1, 1, length), bool)
        seen[..., -1] = False
        found = compiled(Tensor(part), mask=Tensor(seen))
        check(found, wanted(layer, part, seen=seen))
        assert_same_bits(found, layer(Tensor(part), mask=Tensor(seen)))


def test_a_query_that_sees_nothing_gives_nan():
    seen = np.ones((5, 5), bool)
    seen[2] = False
    found = nn.MultiHeadAttention(8, 4)(Tensor(X), mask=Tensor(seen)).numpy()
    assert np.isnan(found[:, 2]).all()
    assert not np.isnan(found[:, [0, 1, 3, 4]]).any()


def test_half_types_are_rounded_once():
    layer = nn.MultiHeadAttention(8, 2, dtype="bfloat16")
    found = layer(Tensor(X).cast("bfloat16"), mask=Tensor(np.ones((5, 5), bool)))
    assert found.dtype is realta.bfloat16
    np.testing.assert_allclose(found.numpy().astype("f4"), wanted(layer, X), atol=0.02)


class Decoder(nn.Module):
    """A layer with its cache, as a model has them."""

    def __init__(self, layer, cache):
        self.layer = layer
        self.cache = cache

    def forward(self, x, mask=None):
        return self.layer(x, cache=self.cache, mask=mask)


def parts(x, sizes):
    ends = np.cumsum([0, *sizes])
    return [np.ascontiguousarray(x[:, a:b]) for a, b in pairwise(ends)]


def rotary_layer(options):
    table = nn.positional_embedding(options.get("head_dim", 2), 100.0, 16)
    return nn.MultiHeadAttention(8, 4, rotary=nn.RotaryEmbedding(table), **options)


@pytest.mark.parametrize("options", LAYERS.values(), ids=LAYERS)
@pytest.mark.parametrize("sizes", [(5,), (1, 1, 1, 1, 1), (3, 0, 2)], ids=str)
def test_step_by_step_is_all_at_once(each_device, options, sizes):
    layer = rotary_layer(options)
    cache = nn.KVCache(2, layer.num_kv_heads, 7, layer.head_dim)
    expected = layer(Tensor(X), causal=True).numpy()
    found = [layer(Tensor(part), cache=cache).numpy() for part in parts(X, sizes)]
    np.testing.assert_allclose(np.concatenate(found, 1), expected, atol=2e-6)
    assert cache.length.item() == 5
    cache.reset()
    np.testing.assert_allclose(layer(Tensor(X), cache=cache).numpy(), expected, atol=2e-6)


def test_compiled_step_by_step(each_device):
    layer = rotary_layer({"num_kv_heads": 2})
    model = Decoder(layer, nn.KVCache(2, 2, 7, 2))
    compiled = model.compile(TensorType("float32", (2, "steps", 8)))
    expected = layer(Tensor(X), causal=True).numpy()
    for _ in range(2):
        found = [compiled(Tensor(part)).numpy() for part in parts(X, (3, 1, 1))]
        np.testing.assert_allclose(np.concatenate(found, 1), expected, atol=2e-6)
        assert model.cache.length.item() == 5
        model.cache.reset()
    assert list(model.state_dict()) == [f"layer.{name}" for name in layer.state_dict()]


def test_a_cache_as_an_argument(each_device):
    layer = rotary_layer({})
    cache = nn.KVCache(2, 4, 7, 2)
    compiled = layer.compile(TensorType("float32", (2, 1, 8)), cache=cache)
    found = [compiled(Tensor(part), cache=cache).numpy() for part in parts(X, (1,) * 5)]
    expected = layer(Tensor(X), causal=True).numpy()
    np.testing.assert_allclose(np.concatenate(found, 1), expected, atol=2e-6)


def test_a_mask_beside_a_cache(each_device):
    layer = nn.MultiHeadAttention(8, 4)
    seen = np.ones((2, 1, 1, 7), bool)
    seen[:, :, :, 1] = False
    expected = wanted(layer, X, seen=np.tri(5, dtype=bool) & seen[..., :5])
    cache = nn.KVCache(2, 4, 7, 2)
    found = [layer(Tensor(part), cache=cache, mask=seen).numpy() for part in parts(X, (1,) * 5)]
    keep = [0, 2, 3, 4]
    np.testing.assert_allclose(np.concatenate(found, 1)[:, keep], expected[:, keep], atol=2e-6)
    cache.reset()
    added = np.where(seen, 0, -np.inf).astype(np.float32)
    again = layer(Tensor(X), cache=cache, mask=Tensor(added)).numpy()
    np.testing.assert_allclose(again[:, keep], expected[:, keep], atol=2e-6)


def test_more_than_the_cache_holds(each_device):
    layer = nn.MultiHeadAttention(8, 4)
    cache = nn.KVCache(2, 4, 4, 2)
    with pytest.raises(IndexBoundsError, match="index 4 is out of bounds for axis 2"):
        layer(Tensor(X), cache=cache).numpy()


@pytest.mark.parametrize(
    ("call", "kind", "text"),
    [
        (lambda m: m(Tensor(X[0, 0])), ShapeError, "attention over f32"),
        (
            lambda m: m(Tensor(X), Tensor(X), cache=nn.KVCache(2, 4, 7, 2)),
            ArgumentError,
            "attention to a context with a cache",
        ),
        (lambda m: m(Tensor(X), mask=Tensor([1])), DTypeError, "an attention mask of i64"),
        (lambda m: m(Tensor(X), cache=nn.KVCache(3, 4, 7, 2)), ShapeError, "for a cache of"),
        (lambda m: nn.MultiHeadAttention(8, 3), ArgumentError, "8 features cannot be shared by 3"),
        (
            lambda m: nn.MultiHeadAttention(8, 4, num_kv_heads=3),
            ArgumentError,
            "4 heads of queries cannot share 3",
        ),
        (lambda m: nn.MultiHeadAttention(8, 0), ArgumentError, "0 heads"),
    ],
    ids=["rank", "context and cache", "mask", "cache", "heads", "kv heads", "no heads"],
)
def test_what_does_not_fit(call, kind, text):
    with pytest.raises(kind, match=text) as caught:
        call(nn.MultiHeadAttention(8, 4))
    assert "test_attention.py" in caught.value.where
    assert caught.value.fix


@pytest.mark.parametrize("mode", ["eager", "compiled", "shared"])
def test_a_cache_is_written_in_place(mode):
    pytest.importorskip("realta_numpy")
    with realta.default_device("numpy:0"):
        model = Decoder(nn.MultiHeadAttention(8, 4), nn.KVCache(2, 4, 2000, 2))
        x = Tensor(X[:, :1])
        type_ = TensorType("float32", (2, 1, 8))
        call = {
            "eager": lambda: model,
            "compiled": lambda: model.compile(type_),
            "shared": lambda: nn.as_subgraph(model).compile(type_),
        }[mode]()
        call(x)
        before = model.cache.keys._storage.handle, model.cache.values._storage.handle
        kept = model.cache.length + 0
        call(x)
        after = model.cache.keys._storage.handle, model.cache.values._storage.handle
        assert all(a is b for a, b in zip(before, after, strict=True))
        reader = model.cache.keys * 1
        held = model.cache.keys.numpy()
        call(x)
        assert model.cache.keys._storage.handle is not before[0]
        assert_same_bits(held, reader)
        assert (kept.item(), model.cache.length.item()) == (1, 3)
