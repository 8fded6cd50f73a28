"""Modules: trees of parameters, tied ones, loading as a whole, lazy construction."""

import copy
import pickle

import numpy as np
import pytest
import realta
from realta import F, Tensor, nn
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.testing import assert_same_bits

X = np.arange(6.0, dtype=np.float32).reshape(2, 3)


class Scale(nn.Module):
    def __init__(self, factor=2.0):
        self.factor = Tensor([factor])

    def forward(self, x):
        return x * self.factor


class Model(nn.Module):
    """Parameters in every place where they may stand."""

    def __init__(self):
        self.first = nn.Linear(3, 4)
        self.name = "no parameter"
        self.table = {"a": Tensor([1.0]), "b": [Tensor([2.0]), Scale(3.0)]}
        self.pair = (Scale(4.0), Tensor([5.0]))
        self.second = nn.Linear(4, 2, bias=False)
        self.count = 3
        self.array = np.zeros(3)

    def forward(self, x):
        return self.second(F.relu(self.first(x)))


NAMES = [
    "first.weight", "first.bias", "table.a", "table.b.0", "table.b.1.factor", "pair.0.factor",
    "pair.1", "second.weight",
]  # fmt: skip


class TestTree:
    def test_parameters_in_the_order_of_attributes(self):
        model = Model()
        assert [name for name, _ in model.parameters] == NAMES
        assert list(model.state_dict()) == NAMES
        assert dict(model.parameters)["pair.1"] is model.pair[1]
        assert [name for name, _ in model.local_parameters] == ["table.a", "table.b.0", "pair.1"]

    def test_modules(self):
        model = nn.Sequential(Model(), F.relu, Scale())
        assert [name for name, _ in model.children] == ["0", "2"]
        assert [name for name, _ in model.descendants] == [
            "0", "0.first", "0.table.b.1", "0.pair.0",
            "0.second", "2",
        ]  # fmt: skip

    def test_a_module_inside_itself_is_visited_once(self):
        outer = Scale()
        outer.inner = Scale()
        outer.inner.parent = outer
        outer.me = outer
        assert [name for name, _ in outer.parameters] == ["factor", "inner.factor"]
        assert [name for name, _ in outer.descendants] == ["inner"]

    def test_deep_trees(self):
        module = Scale()
        for _ in range(3000):
            outer = nn.Module()
            outer.x = module
            module = outer
        (name,) = [name for name, _ in module.parameters]
        assert name.count(".") == 3000

    def test_text(self):
        text = repr(nn.Linear(3, 2))
        assert text == ("Linear(\n  weight: f32[2,3]@reference:0\n  bias: f32[2]@reference:0\n)")
        assert repr(nn.Module()) == "Module()"

    def test_forward_is_what_a_call_runs(self):
        assert Scale(2.0)(Tensor([3.0])).tolist() == [6.0]
        with pytest.raises(NotImplementedError, match="Module has no forward"):
            nn.Module()(1)


class TestTiedParameters:
    def tied(self):
        model = nn.Module()
        model.embed = nn.Linear(3, 3, bias=False)
        model.head = nn.Linear(3, 3, bias=False)
        model.head.weight = model.embed.weight
        return model

    def test_stand_under_their_first_name(self):
        assert list(self.tied().state_dict()) == ["embed.weight"]

    def test_stay_tied_when_loaded(self):
        model = self.tied()
        model.load_state_dict({"embed.weight": np.eye(3, dtype=np.float32)})
        assert model.head.weight is model.embed.weight
        assert model.head.weight.tolist() == np.eye(3).tolist()

    def test_may_be_given_under_any_name(self):
        for state in (
            {"head.weight": np.eye(3, dtype=np.float32)},
            {
                "embed.weight": np.eye(3, dtype=np.float32),
                "head.weight": np.ones((3, 3), np.float32),
            },
        ):
            model = self.tied()
            assert model.load_state_dict(state) == ([], [])
            assert model.head.weight.tolist() == np.eye(3).tolist()

    def test_modules_in_two_places(self):
        shared = Scale(1.0)
        model = nn.Sequential(shared, shared)
        assert list(model.state_dict()) == ["0.factor"]
        model.load_state_dict({"1.factor": Tensor([4.0])})
        assert model(Tensor([1.0])).tolist() == [16.0]

    def test_stay_tied_when_moved(self):
        model = self.tied().map_parameters(lambda name, p: p * 0)
        assert model.head.weight is model.embed.weight
        assert not model.head.weight.numpy().any()


class TestLoading:
    def state(self):
        return {name: p * 0 + 7 for name, p in Model().parameters}

    def test_handles_move_and_stay_the_same_objects(self):
        model = Model()
        before = dict(model.parameters)
        kept = {name: p.numpy(copy=True) for name, p in before.items()}
        readers = {name: p + 0 for name, p in before.items()}
        assert model.load_state_dict(self.state()) == ([], [])
        for name, parameter in model.parameters:
            assert parameter is before[name]
            assert (parameter.numpy() == 7).all()
            assert_same_bits(readers[name], kept[name])

    @pytest.mark.parametrize(
        ("change", "kind", "text"),
        [
            (
                {"second.weight": np.zeros((2, 5), np.float32)},
                ShapeError,
                r"shape \(2, 5\), the parameter \(2, 4\)",
            ),
            ({"second.weight": np.zeros((2, 4))}, DTypeError, "is float64, the parameter float32"),
            ({"third": np.zeros(1)}, ArgumentError, r"0 missing and 1 unknown names.*'third'"),
            ({"pair.1": None}, ArgumentError, r"1 missing and 0 unknown names.*'pair.1'"),
            ({"first.bias": "text"}, Exception, "text"),
        ],
        ids=["shape", "dtype", "unknown", "missing", "no tensor"],
    )
    def test_all_or_nothing(self, change, kind, text):
        model = Model()
        before = {name: p.numpy(copy=True) for name, p in model.parameters}
        state = {**self.state(), **change}
        state = {k: v for k, v in state.items() if v is not None}
        with pytest.raises(kind, match=text):
            model.load_state_dict(state)
        for name, parameter in model.parameters:
            assert_same_bits(parameter, before[name])
        model.load_state_dict(self.state())

    def test_errors_name_the_parameter_and_the_module(self):
        with pytest.raises(ShapeError) as caught:
            nn.Linear(3, 2).load_state_dict({"weight": np.zeros(1), "bias": np.zeros(2)})
        assert caught.value.where == "loading 'weight', which is f32[2,3]@reference:0"
        with pytest.raises(ArgumentError) as caught:
            nn.Linear(3, 2).load_state_dict({})
        assert caught.value.where == "load_state_dict of Linear"

    def test_not_strict_reports_and_loads_the_rest(self):
        model = Model()
        state = self.state()
        del state["pair.1"]
        assert model.load_state_dict({**state, "other": 1}, strict=False) == (["pair.1"], ["other"])
        assert model.pair[1].tolist() == [5.0]
        assert model.table["a"].tolist() == [7.0]
        with pytest.raises(ShapeError):
            model.load_state_dict({"pair.1": np.zeros(2, np.float32)}, strict=False)

    def test_casts_where_that_is_asked_for(self):
        layer = nn.Linear(2, 1, dtype="bfloat16")
        state = {"weight": np.array([[1.5, 2.0]]), "bias": Tensor([3], dtype="int8")}
        with pytest.raises(DTypeError, match="auto_cast=True"):
            layer.load_state_dict(state)
        layer.load_state_dict(state, auto_cast=True)
        assert layer.weight.dtype is realta.bfloat16
        assert (layer.weight.tolist(), layer.bias.tolist()) == ([[1.5, 2.0]], [3.0])

    def test_arrays_are_copied(self):
        layer, weight = nn.Linear(2, 1, bias=False), np.ones((1, 2), np.float32)
        layer.load_state_dict({"weight": weight})
        weight[0] = 9
        assert layer.weight.tolist() == [[1.0, 1.0]]


class TestLazyConstruction:
    def live(self):
        stats = realta.memory_stats("reference:0")
        return stats["reference:0"].live if stats else 0

    def test_allocates_nothing_and_draws_when_recorded(self):
        realta.set_seed(3)
        eager = nn.Linear(64, 32).state_dict()
        values = {name: p.numpy(copy=True) for name, p in eager.items()}
        del eager
        before = self.live()
        realta.set_seed(3)
        with realta.lazy():
            layer = nn.Linear(64, 32)
            huge = nn.Linear(1 << 20, 1 << 20)
        assert self.live() == before
        assert not any(p.is_real for _, p in (*layer.parameters, *huge.parameters))
        assert_same_bits(layer.bias, values["bias"])
        assert not layer.weight.is_real
        assert_same_bits(layer.weight, values["weight"])
        assert not huge.weight.is_real

    def test_loading_never_runs_initializers(self, launches):
        with realta.lazy():
            model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2))
        state = {name: np.ones(p.shape, np.float32) for name, p in model.parameters}
        launches()
        model.load_state_dict(state)
        assert launches() == 0
        assert all(p.is_real for _, p in model.parameters)
        assert (
            model(Tensor(X)).tolist()
            == (X @ np.ones((3, 4)) + 1).sum(-1, keepdims=True).repeat(2, 1).__add__(1).tolist()
        )

    def test_moves_and_casts_stay_pending(self):
        with realta.lazy():
            model = nn.Linear(3, 2)
        model.to("reference:0").map_parameters(lambda name, p: p.cast("float64"))
        assert not model.weight.is_real
        assert model.weight.dtype is realta.float64
        assert np.abs(model.weight.numpy()).max() <= 1 / np.sqrt(3)

    def test_a_model_is_built_in_a_region_too(self):
        with realta.realization_context.EagerRealizationContext():
            layer = nn.Linear(3, 2)
            assert not layer.weight.is_real
        assert layer.weight.is_real

    def test_loading_inside_a_region_is_taken_back_by_an_exception(self):
        layer = nn.Linear(2, 1, bias=False)
        before = layer.weight.numpy(copy=True)

        @F.functional
        def body():
            layer.load_state_dict({"weight": np.ones((1, 2), np.float32)})
            raise ValueError("out")

        with pytest.raises(ValueError, match="out"):
            body()
        assert_same_bits(layer.weight, before)


class TestWhole:
    def test_maps_all_or_nothing(self):
        model = Model()
        before = {name: p.numpy(copy=True) for name, p in model.parameters}

        def failing(name, parameter):
            if name == "pair.1":
                raise ValueError("not this one")
            return parameter * 0

        with pytest.raises(ValueError, match="not this one"):
            model.map_parameters(failing)
        for name, parameter in model.parameters:
            assert_same_bits(parameter, before[name])
        assert model.map_parameters(lambda name, p: p + 1) is model
        assert model.pair[1].tolist() == [6.0]

    def test_copies_and_pickles_are_independent(self):
        model = Model()
        expected = model(Tensor(X)).numpy()
        for other in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
            assert list(other.state_dict()) == NAMES
            assert_same_bits(other(Tensor(X)), expected)
            other.first.weight[...] = 0.0
            assert_same_bits(model(Tensor(X)), expected)

    def test_compiled_gives_the_same_bits(self):
        model = Model()
        compiled = model.compile(Tensor(X).type)
        assert_same_bits(compiled(Tensor(X)), model(Tensor(X)))
        assert_same_bits(compiled(Tensor(X)), F.functional(model)(Tensor(X)))
        assert "matmul" in str(model.trace(Tensor(X).type))
        batch = model.compile(realta.TensorType("float32", ("batch", 3), "reference:0"))
        for rows in (1, 2):
            assert_same_bits(batch(Tensor(X[:rows])), model(Tensor(X[:rows])))
