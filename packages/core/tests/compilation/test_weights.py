"""Weights of compiled modules: inputs by name, exchanged without compiling."""

import copy
import pickle

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, compile, nn
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.runtime.hooks import compile_wrappers
from realta.testing import assert_same_bits

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)
TYPE = TensorType("float32", ("n", 3))


class Tied(nn.Module):
    def __init__(self):
        self.up = nn.Linear(3, 3, bias=False)
        self.down = nn.Linear(3, 3)
        self.down.weight = self.up.weight

    def forward(self, x):
        return self.down(self.up(x))


def state(module, value):
    return {name: np.full(p.shape, value, np.float32) for name, p in module.parameters}


def by_hand(module, x=X):
    return F.functional(module)(Tensor(x)).numpy()


@pytest.fixture
def compiles(each_device):
    """How many graphs were compiled on the device since the last call."""
    found = []

    def count(event, call):
        found.append(event)
        return call()

    compile_wrappers.append(count)

    def since():
        number = len(found)
        found.clear()
        return number

    yield since
    compile_wrappers.remove(count)


def test_parameters_are_inputs_by_name():
    compiled = Tied().compile(TYPE)
    names = [compiled.graph.input_name(v) for v in compiled.graph.inputs]
    assert names == ["arg0", "up.weight", "down.bias"]
    assert list(compiled.weights) == ["up.weight", "down.bias"]
    assert not any(node.op.name == "constant" for node in compiled.graph.nodes)


def test_what_is_loaded_into_the_module_counts_at_the_next_call(compiles):
    module = Tied()
    compiled = module.compile(TYPE)
    assert_same_bits(compiled(Tensor(X)), by_hand(module))
    assert compiles()
    module.load_state_dict(state(module, 0.5))
    found = compiled(Tensor(X))
    assert compiles() == 0
    assert_same_bits(found, by_hand(module))
    module.up.weight[0] = 7.0
    assert_same_bits(compiled(Tensor(X)), by_hand(module))


def test_other_weights_without_the_module(compiles):
    module, other = Tied(), Tied()
    compiled = module.compile(TYPE)
    own = compiled(Tensor(X)).numpy(copy=True)
    second = compiled(Tensor(X[:1])).numpy(copy=True)
    assert compiles()
    assert compiled.load_weights(other.state_dict()) == ([], [])
    found, part = compiled(Tensor(X)), compiled(Tensor(X[:1]))
    assert compiles() == 0
    assert_same_bits(found, by_hand(other))
    assert_same_bits(part, by_hand(other, X[:1]))
    assert_same_bits(module.compile(TYPE)(Tensor(X)), own)
    assert_same_bits(module.compile(TYPE)(Tensor(X[:1])), second)
    # They are copies of the handles: a store to the other module is not seen.
    other.up.weight[...] = 0.0
    assert_same_bits(compiled(Tensor(X)), found)


def test_a_tied_weight_under_any_of_its_names():
    compiled = Tied().compile(TYPE)
    for name in ("up.weight", "down.weight"):
        compiled.load_weights({name: np.eye(3, dtype="f4"), "down.bias": np.ones(3, "f4")})
        assert compiled(Tensor(X)).tolist() == (X + 1).tolist()


def test_from_a_file_with_other_names(tmp_path):
    path = tmp_path / "x.safetensors"
    realta.save_tensors({"m.up.weight": F.eye(3), "m.down.bias": F.zeros(3)}, path)
    compiled = Tied().compile(TYPE)
    compiled.load_weights(path, names={"m.": ""})
    assert compiled(Tensor(X)).tolist() == X.tolist()


@pytest.mark.parametrize(
    ("change", "kind", "text"),
    [
        ({"down.bias": None}, ArgumentError, "1 missing and 0 unknown names"),
        ({"x": np.zeros(1)}, ArgumentError, "0 missing and 1 unknown names"),
        ({"down.bias": np.zeros(2, "f4")}, ShapeError, r"has shape \(2,\), the parameter \(3,\)"),
        ({"down.bias": np.zeros(3)}, DTypeError, "auto_cast=True"),
    ],
    ids=["missing", "unknown", "shape", "dtype"],
)
def test_all_or_nothing(change, kind, text):
    compiled = Tied().compile(TYPE)
    before = compiled(Tensor(X))
    given = {**state(Tied(), 2.0), **change}
    with pytest.raises(kind, match=text):
        compiled.load_weights({k: v for k, v in given.items() if v is not None})
    assert_same_bits(compiled(Tensor(X)), before)


def test_compiling_with_weights_asks_for_no_initial_value(launches):
    with realta.lazy():
        module = Tied()
    launches()
    compiled = module.compile(TYPE, weights=state(module, 1.0))
    assert launches() == 0
    found = compiled(Tensor(X)).numpy()
    assert not any(p.is_real for _, p in module.parameters)
    module.load_state_dict(state(module, 1.0))
    assert_same_bits(found, by_hand(module))
    with pytest.raises(DTypeError):
        module.compile(TYPE, weights={k: v.astype("f8") for k, v in state(module, 1.0).items()})
    cast = module.compile(
        TYPE, weights={k: v.astype("f8") for k, v in state(module, 1.0).items()}, auto_cast=True
    )
    assert_same_bits(cast(Tensor(X)), found)


def test_compiling_an_unrealized_module_runs_no_initializer(launches):
    realta.set_seed(1)
    with realta.lazy():
        module = Tied()
    launches()
    compiled = module.compile(TYPE)
    assert launches() == 0
    assert not any(p.is_real for _, p in module.parameters)
    assert_same_bits(compiled(Tensor(X)), by_hand(module))


def test_compile_takes_a_module_like_its_method():
    module = Tied()
    compiled = compile(module, weights=state(module, 0.25))(TYPE)
    assert compiled.name == "Tied"
    other = module.compile(TYPE, weights=state(module, 0.25))
    assert_same_bits(compiled(Tensor(X)), other(Tensor(X)))
    assert realta.stage(module)(TYPE).graph == module.trace(TYPE).graph
    assert module.compile(TYPE, name="other").name == "other"


def test_a_function_has_no_weights():
    assert compile(lambda x: x + 1)(TYPE).weights == {}
    with pytest.raises(ArgumentError, match="unknown"):
        compile(lambda x: x + 1, weights={"w": np.zeros(1)})(TYPE)


def test_copies_and_pickles_have_their_own_weights():
    module = Tied()
    compiled = module.compile(TYPE)
    expected = compiled(Tensor(X))
    for other in (copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert list(other.weights) == ["up.weight", "down.bias"]
        assert_same_bits(other(Tensor(X)), expected)
        other.load_weights(state(module, 0.0))
        assert other(Tensor(X)).tolist() == np.zeros((2, 3)).tolist()
        assert_same_bits(compiled(Tensor(X)), expected)


class Bumped(nn.Module):
    def __init__(self):
        self.register_buffer("seen", F.zeros(3))
        self.register_buffer("last", F.zeros(3))

    def forward(self, x):
        self.seen[...] = self.seen + x
        self.last[...] = x
        return self.seen * 2


def test_stores_go_to_what_was_loaded():
    module = Bumped()
    compiled = module.compile(TensorType("float32", (3,)))
    compiled.load_weights({"seen": np.ones(3, "f4"), "last": np.ones(3, "f4")})
    x = Tensor(X[1])
    assert compiled(x).tolist() == [8, 10, 12]
    assert compiled(x).tolist() == [14, 18, 22]
    assert compiled.weights["last"].tolist() == [3, 4, 5]
    assert module.seen.tolist() == [0, 0, 0]
    assert module.last.tolist() == [0, 0, 0]
