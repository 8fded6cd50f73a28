"""Coming from MAX: the page is fresh, and every name that it shows is called, in a graph too."""

import copy
import io

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, nn
from realta.testing import assert_same_bits
from realta.tree import leaves

from tools import coming_from_max

TABLE = coming_from_max.read()
PRESENT = [e["name"] for e in TABLE["function"] if "absent" not in e]
ABSENT = {e["name"]: e for e in TABLE["function"] if "absent" in e}

X = np.array([[0.5, -0.25, 0.75], [0.1, 0.9, -0.6]], np.float32)
POSITIVE = np.abs(X) + 0.5
WHOLE = np.array([[7, -3, 5], [2, 9, -6]], np.int32)
TRUTH = np.array([[True, False, True], [False, False, True]])
PLACES = np.array([[0, 2, 1], [1, 1, 0]], np.int64)
IMAGE = np.linspace(-1, 1, 32, dtype=np.float32).reshape(1, 4, 4, 2)
BOXES = np.array([[[0, 0, 1, 1], [0, 0, 1, 0.9], [2, 2, 3, 3]]], np.float32)
SCORES = np.array([[[0.9, 0.8, 0.7]]], np.float32)


def moved(x):
    """What a store makes of a tensor of its own."""
    target = F.zeros_like(x)
    F.buffer_store(target, x)
    return target


def moved_row(x):
    """What a store into a row makes."""
    target = F.zeros_like(x)
    F.buffer_store_slice(target, x[0], (slice(1, 2),))
    return target


@F.register_custom("test.scaled")
def scaled(x, *, factor):
    return x * np.float32(factor)


@F.register_custom("test.cleared")
def cleared(x):
    x[...] = 0


def called(x):
    """A custom function's result."""
    return F.custom("test.scaled", x.device, [x], [x.type], {"factor": 3.0})[0]


def changed(x):
    """What a custom function makes of a tensor of its own."""
    target = x + 0.0
    F.inplace_custom("test.cleared", x.device, [target])
    return target


def each(names, call, *arrays):
    """Rows of several names: ``call(F.name, *tensors)``."""

    def row(function):
        return lambda *tensors: call(function, *tensors)

    return {name: (row(getattr(F, name)), *arrays) for name in names.split()}


CALLS = {
    **each("abs negate exp sin cos tanh atanh acos erf relu sigmoid silu", lambda f, x: f(x), X),
    **each("gelu ceil floor trunc round is_nan is_inf softmax", lambda f, x: f(x), X),
    **each("logsoftmax argsort ones_like zeros_like", lambda f, x: f(x), X),
    **each("uniform_like gaussian_like normal_like", lambda f, x: f(x), X),
    **each("log log1p sqrt rsqrt", lambda f, x: f(x), POSITIVE),
    **each("add sub mul div floor_div mod pow", lambda f, x: f(x, x[::-1]), POSITIVE),
    **each("equal not_equal greater greater_equal", lambda f, x: f(x, x[::-1]), POSITIVE),
    **each("elementwise_min elementwise_max max min", lambda f, x: f(x, x[::-1]), POSITIVE),
    **each("logical_and logical_or logical_xor", lambda f, x: f(x, x[::-1]), TRUTH),
    **each("sum mean prod argmax argmin cumsum", lambda f, x: f(x, -1), X),
    **each("top_k bottom_k", lambda f, x: f(x, 2), X),
    **each(
        "scatter scatter_add scatter_max scatter_min scatter_mul",
        lambda f, x, i: f(x, x * 2, i, -1),
        X,
        PLACES,
    ),
    **each(
        "scatter_nd scatter_nd_add scatter_nd_max scatter_nd_min scatter_nd_mul",
        lambda f, x, i: f(x, x[:, 0], i[:, :2] % 2),
        X,
        PLACES,
    ),
    **each("uniform gaussian normal", lambda f, x: f((2, 3)) + x, X),
    **each("ones zeros", lambda f, x: f((2, 2)) + x[0, 0], X),
    **each("arange range", lambda f, x: f(1, 7, 2) * x[0], X),
    **each("clamp clip", lambda f, x: f(x, -0.2, 0.6), X),
    "shape_to_tensor": (lambda x: F.shape_to_tensor(x.shape), X),
    "nonzero": (lambda x: F.nonzero(x, size=4, fill_value=-1), TRUTH),
    "logical_not": (lambda x: F.logical_not(x), TRUTH),
    "cast": (lambda x: F.cast(x, "int32"), X),
    "as_interleaved_complex": (lambda x: F.as_interleaved_complex(x), X[:, :2]),
    "complex_mul": (lambda x: F.complex_mul(x, x), X[:, :2]),
    "where": (lambda c, x: F.where(c, x, 0.0), TRUTH, X),
    "matmul": (lambda x: F.matmul(x, F.transpose(x, 0, 1)), X),
    "outer": (lambda x: F.outer(x[0], x[1]), X),
    "layer_norm": (lambda x: F.layer_norm(x, x[0], x[1], 1e-5), X),
    "rms_norm": (lambda x: F.rms_norm(x, x[0], 1e-6, 1.0, True), X),
    "group_norm": (lambda x: F.group_norm(x[:, :2], x[0, :2], x[1, :2], 2, 1e-5), X),
    "band_part": (lambda x: F.band_part(x, 0, 1, exclude=True), X),
    "hann_window": (lambda x: F.hann_window(3) * x, X),
    "irfft": (lambda x: F.irfft(x, n=4), X),
    "conv2d": (lambda x, w: F.conv2d(x, w, padding=(1, 1, 1, 1)), IMAGE, X.reshape(1, 1, 2, 3)),
    "conv2d_transpose": (
        lambda x, w: F.conv2d_transpose(x, w, stride=(2, 2)),
        IMAGE,
        X.reshape(1, 1, 3, 2),
    ),
    "conv3d": (lambda x, w: F.conv3d(x[None], w), IMAGE, X.reshape(1, 1, 1, 2, 3)),
    "avg_pool2d": (lambda x: F.avg_pool2d(x, 2, 2), IMAGE),
    "max_pool2d": (lambda x: F.max_pool2d(x, 2, 2), IMAGE),
    "roi_align": (
        lambda x, r: F.roi_align(x, r, 2, 2, 1.0, 2.0),
        IMAGE,
        np.array([[0, 0, 0, 3, 3]], np.float32),
    ),
    "non_maximum_suppression": (
        lambda b, s: F.non_maximum_suppression(b, s, 2, 0.5, 0.0, size=3),
        BOXES,
        SCORES,
    ),
    "fold": (lambda x: F.fold(x, (2, 3), (2, 1), 1), np.ones((1, 4, 3), np.float32)),
    "resize": (lambda x: F.resize(x, (1, 4, 2, 3)), IMAGE),
    "resize_linear": (lambda x: F.resize_linear(x, (4, 6), 1), X),
    "resize_nearest": (lambda x: F.resize_nearest(x, (4, 6), 0, 1), X),
    "resize_bicubic": (lambda x: F.resize_bicubic(F.permute(x, [0, 3, 1, 2]), (1, 2, 6, 6)), IMAGE),
    "reshape": (lambda x: F.reshape(x, (-1, 2)), X),
    "broadcast_to": (lambda x: F.broadcast_to(x, (4, 2, 3)), X),
    "permute": (lambda x: F.permute(x, dims=(1, 0)), X),
    "transpose": (lambda x: F.transpose(x, axis_1=0, axis_2=1), X),
    "squeeze": (lambda x: F.squeeze(x[:1], axis=0), X),
    "unsqueeze": (lambda x: F.unsqueeze(x, axis=1), X),
    "flatten": (lambda x: F.flatten(x, start_dim=0, end_dim=-1), X),
    "concat": (lambda x: F.concat(vals=[x, x], axis=1), X),
    "stack": (lambda x: F.stack(values=[x, x], axis=1, device=x.device), X),
    "split": (lambda x: F.split(x, [1, 2], axis=1), X),
    "chunk": (lambda x: F.chunk(x, chunks=3, axis=1), X),
    "tile": (lambda x: F.tile(x, repeats=(1, 2)), X),
    "repeat_interleave": (lambda x: F.repeat_interleave(x, 2, axis=1), X),
    "pad": (lambda x: F.pad(x, paddings=[1, 0, 0, 2], mode="constant", value=3), X),
    "slice_tensor": (lambda x: F.slice_tensor(x, (0, slice(None, None, -1))), X),
    "rebind": (lambda x: F.rebind(x, (2, 3), message="two rows"), X),
    "gather": (lambda x: F.gather(x, [1, 0, 0], axis=0), X),
    "gather_nd": (lambda x, i: F.gather_nd(x, i[:, :2] % 2, batch_dims=0), X, PLACES),
    "masked_scatter": (lambda x, m: F.masked_scatter(x, m, F.flatten(x)), X, TRUTH),
    "constant": (lambda x: F.constant([1.0, 2.0, 3.0]) * x, X),
    "full": (lambda x: F.full((2, 3), 4.0) * x, X),
    "full_like": (lambda x: F.full_like(x, value=4.0), X),
    "buffer_store": (moved, X),
    "buffer_store_slice": (moved_row, X),
    "cond": (lambda x: F.cond(F.sum(x) > 0, [x.type], lambda: x * 2, lambda: -x), X),
    "while_loop": (
        lambda x: F.while_loop([x], lambda x: F.sum(x) < 9, lambda x: x + 1.0),
        X,
    ),
    "functional": (lambda x: F.functional(lambda x: F.exp(x) + 1)(x), X),
    "custom": (called, X),
    "inplace_custom": (changed, X),
    "transfer_to": (lambda x: F.transfer_to(x, "reference:0") + 1, X),
}
APART = {"constant_external", "ensure_context", "in_graph_context", "lazy", "print"}
"""Names that have a test of their own below."""


@pytest.fixture(autouse=True)
def _start():
    """The random state of every test."""
    realta.set_seed(0)


def test_the_page_is_fresh():
    assert coming_from_max.main(["--check"]) == 0


def test_all_146_names_are_there_and_those_absent_say_why():
    assert len({entry["name"] for entry in TABLE["function"]}) == len(TABLE["function"]) == 146
    assert len(ABSENT) <= 16
    assert all(entry["why"] and entry["absent"] for entry in ABSENT.values())
    assert set(CALLS) | APART == set(PRESENT)
    for name in ABSENT:
        with pytest.raises(AttributeError):
            getattr(F, name)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_name_eagerly_and_in_a_graph(name):
    function, *arrays = CALLS[name]
    tensors = [Tensor(a) for a in arrays]
    compiled = realta.compile(function)(*[t.type for t in tensors])
    realta.set_seed(5)
    eager = leaves(function(*tensors))
    realta.set_seed(5)
    graph = leaves(compiled(*tensors))
    assert eager
    assert len(eager) == len(graph)
    for one, other in zip(eager, graph, strict=True):
        assert one.type == other.type
        assert_same_bits(one, other)


def test_lazy():
    with F.lazy():
        pending = F.exp(Tensor(X))
    assert not pending.is_real
    assert_same_bits(pending, F.exp(Tensor(X)))


def test_contexts():
    def body(x):
        assert F.in_graph_context()
        with F.ensure_context():
            return x + 1

    assert not F.in_graph_context()
    with F.ensure_context():
        eager = Tensor(X) + 1
    compiled = realta.compile(body)(TensorType("float32", (2, 3)))
    assert_same_bits(compiled(Tensor(X)), eager)


def test_print(capsys):
    def body(x):
        F.print(x, "values")
        return x + 1

    body(Tensor([1.5]))
    assert "1.5" in capsys.readouterr().out
    compiled = realta.compile(body)(TensorType("float32", (1,)))
    assert capsys.readouterr().out == ""
    compiled(Tensor([2.5])).realize()
    assert "2.5" in capsys.readouterr().out


HERE = {e["here"] for e in TABLE["member"] if "here" in e}
MEMBERS = sorted(m for m in HERE if m.startswith(("Tensor.", "t.")))


@pytest.mark.parametrize("here", MEMBERS)
def test_a_member(here):
    name = here.partition(".")[2]
    with realta.lazy():
        tensor = Tensor(X) + 1 if name == "graph_value" else Tensor(X)
        assert getattr(tensor, name) is not None or name == "state"


def test_what_tensors_do():
    tensor = Tensor([1.0, 2.0])
    assert Tensor.full((2,), 3).tolist() == [3, 3]
    assert Tensor.range_like(tensor).tolist() == [0.0, 1.0]
    assert Tensor.from_dim(4).item() == 4
    assert Tensor.from_dlpack(np.arange(2)).tolist() == [0, 1]
    assert tensor.num_elements() == 2
    assert tensor.T.tolist() == [1.0, 2.0]
    assert copy.deepcopy(tensor) is not tensor
    console = pytest.importorskip("rich.console").Console(file=io.StringIO(), width=100)
    console.print(tensor)
    assert "array([1., 2.]" in console.file.getvalue()
    with realta.lazy():
        console.print(tensor + 1)
    assert "unrealized" in console.file.getvalue()


@pytest.mark.parametrize("here", [e["here"] for e in TABLE["layer"] if "here" in e])
def test_a_layer(here):
    assert here in nn.__all__
    assert callable(getattr(nn, here))


LAYERS = {
    "Linear": lambda: nn.Linear(3, 4),
    "LayerNorm": lambda: nn.LayerNorm(3),
    "RMSNorm": lambda: nn.RMSNorm(3),
    "GemmaRMSNorm": lambda: nn.GemmaRMSNorm(3),
    "GroupNorm": lambda: nn.GroupNorm(3, 3),
    "Sequential": lambda: nn.Sequential(nn.Linear(3, 2), F.relu),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_layer_eagerly_and_in_a_graph(name):
    layer, x = LAYERS[name](), Tensor(X)
    assert_same_bits(layer(x), layer.compile(x.type)(x))


def test_a_weight_is_declared_where_a_function_is_compiled():
    kind = realta.TensorType("float32", (2,))
    compiled = realta.compile(
        lambda x: x + F.constant_external("w", kind), weights={"w": Tensor([1.0, 2.0])}
    )(kind)
    assert compiled(Tensor([1.0, 1.0])).tolist() == [2.0, 3.0]
