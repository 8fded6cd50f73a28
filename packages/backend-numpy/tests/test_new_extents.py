"""A known structure meets new extents without a compiler; equal groups share a kernel."""

import builtins

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, nn
from realta.plugins import open_device
from realta.testing import assert_same_bits
from realta_numpy import fused, open_calls, source
from realta_numpy.source import compiled


@pytest.fixture(autouse=True)
def _on_numpy():
    with realta.default_device("numpy:0"):
        compiled.cache_clear()
        fused._kernels.clear()
        open_calls._kernels.clear()
        open_device("numpy:0").programs.clear()
        yield


@pytest.fixture
def compilations(monkeypatch):
    """Every text that Python compiles for a kernel."""
    texts = []

    def counted(text, *args, **kwargs):
        texts.append(text)
        return builtins.compile(text, *args, **kwargs)

    monkeypatch.setattr(source, "compile", counted, raising=False)
    return texts


WIDE = np.linspace(-1, 1, 40, dtype=np.float32)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def scores(x, bias):
    h = F.gelu(x * 3.0 + bias)
    return F.softmax(h, axis=-1) * F.mean(h, axis=-1, keepdims=True)


def test_new_extents_compile_nothing(compilations, rng):
    types = TensorType("float32", ("batch", "width")), TensorType("float32", ("width",))
    function = realta.compile(scores)(*types)
    for n, (rows, width) in enumerate([(3, 40), (2, 40), (7, 33), (31, 2), (60, 40)]):
        x, bias = (Tensor(rng.random(s, np.float32)) for s in ((rows, width), (width,)))
        compilations.clear()
        result = function(x, bias)
        assert bool(compilations) == (n == 0)
        assert_same_bits(result, realta.compile(scores)(x.type, bias.type)(x, bias))
        assert_same_bits(result, scores(x, bias))


def test_large_extents_share_a_structure_of_their_own(compilations, rng):
    function = realta.compile(scores)(TensorType("float32", ("batch", 40)), Tensor(WIDE).type)
    bias = Tensor(WIDE)
    for n, rows in enumerate((5000, 6001, 9999, 7777)):
        x = Tensor(rng.random((rows, 40), np.float32))
        compilations.clear()
        result = function(x, bias)
        assert bool(compilations) == (n == 0)
        assert_same_bits(result[:7], scores(x[:7], bias))


def test_layers_that_are_alike_share_kernels():
    def layer():
        return nn.Sequential(nn.Linear(8, 8), nn.LayerNorm(8), nn.GELU())

    kernels = []
    for count in (1, 6):
        model = nn.Sequential(*[layer() for _ in range(count)])
        for parameter in model.state_dict().values():
            parameter.realize()
        fused._kernels.clear()
        open_calls._kernels.clear()
        model.compile(TensorType("float32", ("batch", 8)))(F.ones((3, 8)))
        kernels.append(len(fused._kernels) + len(open_calls._kernels))
    assert kernels[0] == kernels[1] > 0


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (lambda x, y: x * y + x, lambda x, y: x * y + y),
        (lambda x, y: F.exp(x) - y, lambda x, y: F.exp(y) - x),
        (lambda x, y: x * 2.0 + y, lambda x, y: x * 0.5 + y),
        (lambda x, y: F.sum(x * y, axis=0), lambda x, y: F.sum(x * y, axis=1)),
        (lambda x, y: (x + y, x * y), lambda x, y: (x * y, x + y)),
        (lambda x, y: F.clip(x, -0.5, 0.5) + y, lambda x, y: F.clip(x, -0.25, 0.5) + y),
    ],
    ids=["operand", "order", "constant", "axis", "outputs", "bound"],
)
def test_kernels_that_differ_are_not_mixed_up(first, second, rng):
    arrays = [rng.standard_normal((6, 6)).astype(np.float32) for _ in range(2)]
    tensors = [Tensor(a) for a in arrays]
    for function in (first, second, first, second):
        assert_trees(F.functional(function)(*tensors), function(*tensors))


def assert_trees(found, wanted):
    for a, b in zip(realta.tree.leaves(found), realta.tree.leaves(wanted), strict=True):
        assert_same_bits(a, b)


@pytest.mark.parametrize(
    ("text", "shared"),
    [
        ("ndarray((3, 16), float32, h0, 0, (64, 4))", "ndarray(N, float32, h0, N, N)"),
        ("ndarray((3,), bool_, h0, 0, (1,))", "ndarray(N, bool_, h0, N, N)"),
        ("ndarray((size, 16,), float32, scratch, 64)", "ndarray((size, N,), float32, scratch, N)"),
        ("r0.reshape(-1, 40, 1)", "r0.reshape(-N, N, N)"),
        ("i0 = (k // 3) * 17", "i0 = (k // N) * N"),
        ("h0.shape == ()", "h0.shape == ()"),
        ("v0 = ndarray((2, 3), int64, h0, 16, (-24, 8))", "v0 = ndarray(N, int64, h0, N, N)"),
    ],
)
def test_numbers_are_taken_out_of_texts(text, shared):
    assert source._NUMBERS.sub("N", text) == shared
