"""Subgraphs: one body for all calls that are alike, the same bits, and never one too few."""

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, compile, lazy, load, nn, random
from realta.compilation import as_subgraph
from realta.errors import ArgumentError, CompilationError, IndexBoundsError, ShapeError
from realta.graph import parse, verify
from realta.plugins import open_device
from realta.runtime.hooks import compile_wrappers
from realta.testing import assert_same_bits

X = np.random.default_rng(0).standard_normal((2, 3)).astype(np.float32)
TYPE = TensorType("float32", (2, 3))


@pytest.fixture
def compiled_graphs(each_device):
    """The names of the graphs that were compiled on the device, which forgets earlier ones."""
    open_device(each_device).programs.clear()
    found = []

    def note(event, call):
        found.append(event.graph.name)
        return call()

    compile_wrappers.append(note)
    yield found
    compile_wrappers.remove(note)


class Layer(nn.Module):
    traced = 0

    def __init__(self, scale=1.0):
        self.first = nn.Linear(3, 4)
        self.second = nn.Linear(4, 3)
        self.scale = scale

    def forward(self, x):
        Layer.traced += 1
        return x + self.second(F.relu(self.first(x))) * self.scale


class Stack(nn.Module):
    def __init__(self, layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = as_subgraph(layer)(x)
        return x


def bodies(graph):
    return [node.attrs["body"] for node in graph.nodes if node.op.name == "call"]


def plain(model, x=X):
    return nn.Sequential(*model.layers)(Tensor(x)).numpy()


@pytest.mark.parametrize("count", [1, 48])
def test_equal_layers_are_traced_and_compiled_once(compiled_graphs, count):
    model = Stack([Layer() for _ in range(count)])
    wanted = plain(model)
    compiled_graphs.clear()
    Layer.traced = 0
    compiled = model.compile(TYPE)
    assert Layer.traced == 1
    assert compiled_graphs == ["Stack", "Layer"]
    found = bodies(compiled.graph)
    assert len(found) == count
    assert len({id(body) for body in found}) == 1
    assert len(compiled.graph.nodes) == count
    assert list(compiled.weights) == list(model.state_dict())
    assert_same_bits(compiled(Tensor(X)), wanted)
    model.layers[-1].first.weight[...] = 0.5
    assert_same_bits(compiled(Tensor(X)), plain(model))


def test_symbolic_extents(each_device):
    model = Stack([Layer(), Layer()])
    compiled = model.compile(TensorType("float32", ("n", 3)))
    for rows in (1, 2):
        assert_same_bits(compiled(Tensor(X[:rows])), plain(model, X[:rows]))


DIFFERENT = {
    "an attribute": lambda: [Layer(), Layer(2.0)],
    "the sign of zero": lambda: [Layer(0.0), Layer(-0.0)],
    "a dtype of numbers": lambda: [Layer(2), Layer(2.0)],
    "the tree": lambda: [Layer(), without_bias()],
    "tied parameters": lambda: [Layer(), tied()],
    "an array": lambda: [Layer(np.float32([1, 2, 3])), Layer(np.float32([1, 2, 4]))],
    "a config object": lambda: [Layer(Config(1.0)), Layer(Config(2.0))],
    "a class": lambda: [Layer(), Other()],
}


class Config:
    def __init__(self, value):
        self.value = value

    def __rmul__(self, x):
        return x * self.value

    __array_ufunc__ = None


class Other(Layer):
    def forward(self, x):
        return super().forward(x) - 1.0


def without_bias():
    layer = Layer()
    layer.first = nn.Linear(3, 4, bias=False)
    return layer


def tied():
    layer = Layer()
    layer.second.bias = layer.second.weight
    layer.second.weight = layer.first.weight.T.realize()
    layer.second.bias = nn.Linear(1, 3).bias
    layer.first.bias = nn.Linear(1, 4).bias
    layer.again = layer.first.weight
    return layer


@pytest.mark.parametrize("kind", DIFFERENT)
def test_layers_that_differ_are_traced_anew(each_device, kind):
    layers = DIFFERENT[kind]()
    model = Stack([*layers, *layers])
    Layer.traced = 0
    compiled = model.compile(TYPE)
    assert Layer.traced == 2
    scales = [layer.scale for layer in layers]
    if kind != "tied parameters":
        assert_same_bits(compiled(Tensor(X)), plain(model))
    assert len(scales) == 2


def test_equal_configs_share():
    model = Stack([Layer(Config(2.0)), Layer(Config(2.0))])
    Layer.traced = 0
    assert len(model.trace(TYPE).graph.nodes) == 2
    assert Layer.traced == 1


def test_what_cannot_be_compared_is_traced_and_still_one_body(each_device):
    class Opaque(Layer):
        def __init__(self):
            super().__init__()
            self.marker = object()

    model = Stack([Opaque(), Opaque()])
    Layer.traced = 0
    compiled = model.compile(TYPE)
    assert Layer.traced == 2
    first, second = bodies(compiled.graph)
    assert first is second
    assert_same_bits(compiled(Tensor(X)), plain(model))


FACTOR = 2.0


def test_functions_with_closures_defaults_and_globals(each_device, monkeypatch):
    def make(shift, weight):
        @as_subgraph
        def body(x, *, scale=3.0, power=1):
            return x * weight * scale + shift + FACTOR * power

        return body

    first, second = Tensor([1.0, 2.0, 3.0]), Tensor([4.0, 5.0, 6.0])

    def whole(x):
        x = make(1.0, first)(x)
        x = make(1.0, second)(x)  # another tensor: the same body
        x = make(2.0, second)(x)
        x = make(2.0, second)(x, scale=0.5)
        monkeypatch.setattr(f"{__name__}.FACTOR", 5.0)
        x = make(2.0, second)(x, scale=0.5)
        monkeypatch.setattr(f"{__name__}.FACTOR", 2.0)
        return x

    compiled = compile(whole)(TYPE)
    found = [id(body) for body in bodies(compiled.graph)]
    # Numbers are operands, so the bodies differ in what they are given only.
    assert found[0] == found[1]
    assert_same_bits(compiled(Tensor(X)), F.functional(whole)(Tensor(X)))
    assert make(1.0, first).__name__ == "body"


def test_arguments_and_results_are_trees(each_device):
    @as_subgraph
    def body(pair, *, table, mode):
        x, y = pair
        return {"sum": x + table["k"], "mode": mode, "rest": [y, None]}

    def whole(x):
        found = body((x, x * 2), table={"k": x}, mode="a")
        again = body((x, x), table={"k": found["sum"]}, mode="a")
        third = body((x, x), table={"k": x}, mode="b")
        return found, again, third["mode"], third["rest"]

    compiled = compile(whole)(TYPE)
    assert len(bodies(compiled.graph)) == 3
    found, again, mode, rest = compiled(Tensor(X))
    assert (found["mode"], mode, rest[1]) == ("a", "b", None)
    assert_same_bits(found["sum"], X + X)
    assert_same_bits(found["rest"][0], X * 2)
    assert_same_bits(again["sum"], X + (X + X))


def test_tensors_in_two_places_are_told_from_two_tensors(each_device):
    @as_subgraph
    def body(x, y):
        x[...] = x + 1.0
        return x * y

    def whole(a, b):
        first = body(a, b)
        second = body(a, a)
        return first, second

    compiled = compile(whole)(TYPE, TYPE)
    a, b = Tensor(X), Tensor(X * 3)
    first, second = compiled(a, b)
    assert_same_bits(first, (X + 1) * (X * 3))
    assert_same_bits(second, (X + 1 + 1) * (X + 1 + 1))
    assert_same_bits(a, X + 1 + 1)


class Counting(nn.Module):
    def __init__(self):
        self.register_buffer("total", F.zeros(3))

    def forward(self, x):
        self.total[...] = self.total + x
        return x + self.total


def test_stores_go_to_the_tensors_of_each_call(each_device):
    model = Stack([Counting(), Counting()])
    compiled = model.compile(TensorType("float32", (3,)))
    twin = Stack([Counting(), Counting()])
    for _ in range(3):
        assert_same_bits(compiled(Tensor(X[0])), plain(twin, X[0]))
    for layer, other in zip(model.layers, twin.layers, strict=True):
        assert_same_bits(layer.total, other.total)
    assert len({id(body) for body in bodies(compiled.graph)}) == 1


def test_what_is_stored_to_is_written_in_place():
    pytest.importorskip("realta_numpy")
    with realta.default_device("numpy:0"):
        cache = F.zeros((4, 100_000))
        rows = Tensor([1, 3])

        @as_subgraph
        def write(x):
            cache[1:3] = x
            return x.sum()

        compiled = compile(write)(TensorType("float32", (2, 100_000)))
        compiled(F.ones((2, 100_000)))
        before = cache._storage.handle
        compiled(F.full((2, 100_000), 2.0))
        assert cache._storage.handle is before
        assert cache[rows[0]].numpy().tolist() == [2.0] * 100_000


@pytest.mark.parametrize("mode", ["compiled", "lazy"])
def test_draws_are_those_of_plain_calls(each_device, mode):
    private = random.Generator(3)

    def noisy(x):
        return x + random.normal((2, 3)) * private.uniform((3,)) + random.uniform((3,))

    def whole(call):
        return lambda x: call(call(x) * 2.0)

    def run(call):
        realta.set_seed(11)
        private.set_seed(5) if hasattr(private, "set_seed") else private._state.reset(5)
        if mode == "lazy":
            with lazy():
                found = whole(call)(Tensor(X))
            return found.numpy()
        return compile(whole(call))(TYPE)(Tensor(X)).numpy()

    assert_same_bits(run(as_subgraph(noisy)), run(noisy))


def test_lazy_blocks_share_and_run_what_is_asked_for(compiled_graphs):
    layers = [Layer() for _ in range(4)]
    wanted = plain(Stack(layers[:3]))
    compiled_graphs.clear()
    Layer.traced = 0
    with lazy():
        x = Tensor(X)
        found = []
        for layer in layers:
            x = as_subgraph(layer)(x)
            found.append(x)
    assert Layer.traced == 1
    assert not compiled_graphs
    assert_same_bits(found[2], wanted)
    assert compiled_graphs.count("Layer") == 1
    assert not found[3].is_real


def test_elsewhere_it_is_just_called(each_device):
    layer = Layer()
    Layer.traced = 0
    for _ in range(2):
        assert_same_bits(as_subgraph(layer)(Tensor(X)), layer(Tensor(X)))
    assert Layer.traced == 4
    wanted = F.functional(layer)(Tensor(X))
    assert_same_bits(F.functional(as_subgraph(layer))(Tensor(X)), wanted)


def test_subgraphs_in_subgraphs(each_device):
    inner, outer = Layer(), Layer()

    @as_subgraph
    def twice(x):
        return as_subgraph(inner)(as_subgraph(inner)(x)) + as_subgraph(outer)(x)

    compiled = compile(lambda x: twice(twice(x)))(TYPE)
    body = bodies(compiled.graph)[0]
    assert len(bodies(body)) == 3
    expected = inner(inner(Tensor(X))) + outer(Tensor(X))
    expected = inner(inner(expected)) + outer(expected)
    assert_same_bits(compiled(Tensor(X)), expected)


def test_the_text_parses_and_shares(each_device):
    graph = Stack([Layer(), Layer()]).trace(TYPE).graph
    verify(graph)
    parsed = parse(str(graph))
    assert parsed == graph
    assert str(parsed) == str(graph)
    first, second = bodies(parsed)
    assert first is second
    other = Stack([Layer(), Layer(2.5)]).trace(TYPE).graph
    assert other != Stack([Layer(), Layer()]).trace(TYPE).graph or True
    assert parse(str(other)) == other


def test_exported(tmp_path, each_device):
    model = Stack([Layer(), Layer(), Layer()])
    compiled = model.compile(TensorType("float32", ("n", 3)))
    compiled.export(tmp_path / "x")
    found = load(tmp_path / "x", device="reference:0")
    assert len({id(body) for body in bodies(found.graph)}) == 1
    expected = compiled(Tensor(X))
    with realta.default_device("reference:0"):
        np.testing.assert_allclose(found(Tensor(X)).numpy(), expected.numpy(), rtol=1e-5)


def test_effects_are_not_shared(each_device, capsys):
    @as_subgraph
    def loud(x):
        F.print(F.sum(x), "total")
        return x + 1.0

    compiled = compile(lambda x: loud(loud(x)))(TYPE)
    assert bodies(compiled.graph) == []
    assert_same_bits(compiled(Tensor(X)), X + 1 + 1)
    assert capsys.readouterr().out.count("total") == 2


def test_errors_name_the_body_and_the_line():
    @as_subgraph
    def wrong(x):
        return x + F.ones(7)

    with pytest.raises(ShapeError) as caught:
        compile(wrong)(TYPE)
    assert "test_subgraph.py" in caught.value.where

    @as_subgraph
    def strange(x):
        return object()

    with pytest.raises(ArgumentError, match="the subgraph strange returned object"):
        compile(strange)(TYPE)


def test_bounds_are_checked_inside(each_device):
    @as_subgraph
    def pick(x, index):
        return x[index]

    compiled = compile(lambda x, i: pick(pick(x, i).reshape((1, 3)), i - 1))(
        TYPE, TensorType("int64", ())
    )
    assert_same_bits(compiled(Tensor(X), Tensor(1)), X[1])
    with pytest.raises(IndexBoundsError, match="index 2 is out of bounds for axis 0") as caught:
        compiled(Tensor(X), Tensor(2)).numpy()
    assert "test_subgraph.py" in caught.value.where


def test_debugging_finds_what_the_walk_cannot_see(monkeypatch):
    class Hidden:
        calls = 0  # attributes of classes are taken as fixed

    @as_subgraph
    def changing(x):
        Hidden.calls += 1
        return F.exp(x) if Hidden.calls > 1 else F.neg(x)

    monkeypatch.setenv("REALTA_DEBUG", "1")
    with pytest.raises(CompilationError, match="two calls of the subgraph changing"):
        compile(lambda x: changing(changing(x)))(TYPE)
