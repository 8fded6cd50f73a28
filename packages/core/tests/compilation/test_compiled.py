"""Compiled functions: arguments, results, captures, symbolic dimensions (spec 8)."""

import copy
import pickle
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
import realta
from realta import F, Tensor, TensorType, compile, lazy, stage
from realta.errors import ArgumentError, DeviceError, DTypeError, RealizationError, ShapeError
from realta.realization_context import EagerRealizationContext

PAIR = TensorType("float32", (2,))
SCALAR = TensorType("float32", ())


@dataclass(frozen=True)
class State:
    position: Tensor
    velocity: Tensor


class Both(NamedTuple):
    first: Tensor
    second: Tensor


def test_compiled_equals_eager_and_runs_as_one_graph(launches, each_device):
    def f(x, y):
        return F.softmax(x * y + 1.5) - x.max()

    x, y = Tensor([1.0, 2.0]), Tensor([0.5, -3.0])
    compiled = compile(f)(x.type, y.type)
    first, second = compiled(x, y), compiled(x, y)
    assert first.numpy().tobytes() == f(x, y).numpy().tobytes() == second.numpy().tobytes()
    assert repr(compiled) == f"<CompiledFunction f({x.type}, {x.type})>"
    assert compiled.name == compiled.graph.name == "f"


def test_m7_results_of_earlier_calls_are_never_overwritten(each_device):
    compiled = compile(lambda x: x + 1)(PAIR)
    a = compiled(Tensor([1.0, 1.5]))
    before = a.numpy()
    b = compiled(Tensor([5.0, 6.0]))
    assert a.tolist() == [2, 2.5]
    assert before.tolist() == [2, 2.5]
    assert b.tolist() == [6, 7]


def test_nested_arguments_and_results():
    def f(pair, table, *, state):
        x, (y,) = pair
        return [
            x + y,
            {"b": table["k"] * 2, "a": (state.position + state.velocity,)},
            Both(x, y),
            State(x, y),
            None,
            3,
        ]

    compiled = compile(f)((SCALAR, [SCALAR]), {"k": PAIR}, state=State(SCALAR, SCALAR))
    one, two, pair = Tensor(1.0), Tensor(2.0), Tensor([3.0, 4.0])
    result = compiled((one, [two]), {"k": pair}, state=State(two, one))
    assert result[0].item() == 3
    assert list(result[1]) == ["b", "a"]
    assert result[1]["b"].tolist() == [6, 8]
    assert result[1]["a"][0].item() == 3
    assert type(result[2]) is Both
    assert result[2].second.item() == 2
    assert result[3].velocity.item() == 2
    assert result[4:] == [None, 3]


def test_keyword_arguments_and_dicts_come_in_any_order():
    compiled = compile(lambda t, a, b: a * 2 + b + t["x"] * t["y"])(
        {"x": SCALAR, "y": SCALAR}, a=SCALAR, b=SCALAR
    )
    found = compiled({"y": Tensor(5.0), "x": Tensor(2.0)}, b=Tensor(1.0), a=Tensor(10.0))
    assert found.item() == 31


def test_static_arguments_are_frozen(masked):
    def f(x, n, *, mode, table=None):
        return x * n if mode == "times" else x + n

    compiled = compile(f)(SCALAR, 3, mode="times")
    assert compiled(Tensor(2.0), 3, mode="times").item() == 6
    with pytest.raises(ArgumentError) as caught:
        compiled(Tensor(2.0), 4, mode="times")
    assert masked(caught.value) == (
        "the static argument 1 of f was 3, got 4\n"
        "  where: HERE\n"
        "  fix: compile again for another value"
    )
    with pytest.raises(ArgumentError, match=r"the static argument 1 of f was 3, got 3\.0"):
        compiled(Tensor(2.0), 3.0, mode="times")
    with pytest.raises(ArgumentError, match="the static argument mode of f was 'times', got 'x'"):
        compiled(Tensor(2.0), 3, mode="x")
    array = compile(lambda x, a: x + a)(PAIR, np.float32([1, 2]))
    assert array(Tensor([1.0, 1.0]), np.float32([1, 2])).tolist() == [2, 3]
    with pytest.raises(ArgumentError, match="the static argument 1"):
        array(Tensor([1.0, 1.0]), np.float32([1, 3]))


def test_arguments_nested_otherwise_are_an_error(masked):
    compiled = compile(lambda x, *, y: x[0] + y, name="add")([SCALAR], y=SCALAR)
    with pytest.raises(ArgumentError) as caught:
        compiled(Tensor(1.0), y=Tensor(1.0))
    assert masked(caught.value) == (
        "add was compiled for the arguments ([*], y=*), got (*, y=*)\n"
        "  where: HERE\n"
        "  fix: pass arguments nested as the types were"
    )
    with pytest.raises(ArgumentError, match=r"got \(\[\*\], \*\)"):
        compiled([Tensor(1.0)], Tensor(1.0))


WRONG = {
    "dtype": (
        lambda f: f({"x": Tensor([1, 2])}),
        DTypeError,
        (
            "expected f32[n]@reference:0, got i64[2]@reference:0\n"
            "  where: argument 0.x of f at HERE\n"
            "  fix: cast it, as in t.cast(float32)"
        ),
    ),
    "rank": (
        lambda f: f({"x": Tensor(1.0)}),
        ShapeError,
        (
            "expected the 1 axes (n), got shape ()\n"
            "  where: argument 0.x of f at HERE\n"
            "  fix: pass a tensor of the declared shape"
        ),
    ),
    "kind": (
        lambda f: f({"x": "text"}),
        ArgumentError,
        (
            "expected a tensor or a number, got str\n"
            "  where: argument 0.x of f at HERE\n"
            "  fix: wrap it, as in realta.Tensor(value)"
        ),
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_texts_of_wrong_arguments(name, masked):
    use, kind, text = WRONG[name]
    compiled = compile(lambda t: t["x"] * 2, name="f")({"x": TensorType("float32", ("n",))})
    with pytest.raises(kind) as caught:
        use(compiled)
    assert masked(caught.value) == text
    assert compiled({"x": Tensor([1.0])}).tolist() == [2]


def test_tensor_on_another_device_is_an_error(moody, masked):
    compiled = compile(lambda t: t * 2, name="f")(PAIR)
    with pytest.raises(DeviceError) as caught:
        compiled(Tensor([1.0, 2.0], device="reference:0"))
    assert masked(caught.value) == (
        "expected f32[2]@moody:0, got f32[2]@reference:0\n"
        "  where: argument 0 of f at HERE\n"
        '  fix: move it, as in t.to("moody:0")'
    )


def test_arrays_and_numbers_are_accepted_for_tensors():
    compiled = compile(lambda x, y: x + y)(PAIR, SCALAR)
    assert compiled(np.float32([1, 2]), 0.5).tolist() == [1.5, 2.5]


def test_lazy_arguments_are_realized():
    compiled = compile(lambda x: x * 2)(PAIR)
    with lazy():
        t = Tensor([1.0, 2.0]) + 1
        inside = compiled(t)
    assert t.is_real
    assert inside.tolist() == [4, 6]


def test_staging_takes_types_and_not_tensors(masked):
    with pytest.raises(ArgumentError) as caught:
        compile(lambda x: x, name="f")(Tensor([1.0, 2.0]))
    assert masked(caught.value) == (
        "argument 0 of f is a tensor of type f32[2]@reference:0, where tracing takes the type\n"
        "  where: HERE\n"
        "  fix: pass tensor.type here, and the tensor itself when calling"
    )


def test_results_must_be_tensors_or_constants(masked):
    with pytest.raises(ArgumentError) as caught:
        compile(lambda x: [x, object()], name="f")(PAIR)
    assert masked(caught.value) == (
        "f returned object\n"
        "  where: HERE\n"
        "  fix: return tensors, numbers, text or None, nested in tuples, lists or dicts"
    )


def test_branching_on_a_traced_value_is_an_error_and_leaves_nothing_behind():
    with pytest.raises(RealizationError, match="a tensor of the graph 'f' has no value"):
        compile(lambda x: x if x.sum() > 0 else -x, name="f")(PAIR)
    assert (Tensor([1.0]) + 1).is_real
    assert compile(lambda x: x + 1)(PAIR)(Tensor([1.0, 2.0])).tolist() == [2, 3]


def test_captured_tensors_keep_the_version_that_was_traced():
    weight = Tensor([3.0, 4.0])
    with lazy():
        pending = weight * 2
    compiled = compile(lambda x: x * weight + pending)(PAIR)
    weight[0] = 100.0
    assert compiled(Tensor([1.0, 1.0])).tolist() == [9, 12]
    assert weight.tolist() == [100, 4]


def test_returning_an_argument_or_a_capture_gives_a_new_handle():
    weight = Tensor([3.0, 4.0])
    compiled = compile(lambda x: (x, weight, x))(PAIR)
    x = Tensor([1.0, 2.0])
    a, b, c = compiled(x)
    assert a is not x
    assert b is not weight
    a[0] = 9.0
    b[0] = 9.0
    assert (x.tolist(), weight.tolist(), c.tolist()) == ([1, 2], [3, 4], [1, 2])
    again = compiled(x)
    assert [t.tolist() for t in again] == [[1, 2], [3, 4], [1, 2]]


def test_symbolic_dimensions_bind_at_the_call(each_device):
    compiled = compile(lambda x, y: (x + y).sum(axis=0))(
        TensorType("float32", ("n", "m")), TensorType("float32", ("m",))
    )
    for n, m in ((2, 3), (1, 1), (0, 4), (5, 3), (2, 3)):
        x, y = F.ones((n, m)), F.arange(m, dtype="float32")
        np.testing.assert_array_equal(compiled(x, y).numpy(), (x + y).sum(axis=0).numpy())
    with pytest.raises(ShapeError, match="has symbolic dimensions"):
        _ = compiled.program
    assert "%arg0: f32[n, m]@" in str(compiled.graph)


def test_contradictions_name_dimension_and_argument(masked):
    compiled = compile(lambda x, t: x + t["y"], name="f")(
        TensorType("float32", ("n",)), {"y": TensorType("float32", ("n",))}
    )
    with pytest.raises(ShapeError) as caught:
        compiled(Tensor([1.0, 2.0]), {"y": Tensor([1.0, 2.0, 3.0])})
    assert masked(caught.value) == (
        "axis 0 is n, which another argument makes 2, but it is 3 here\n"
        "  where: argument 1.y of f at HERE\n"
        "  fix: pass a tensor of the declared shape"
    )
    static = compile(lambda x: x, name="g")(TensorType("float32", (4,)))
    with pytest.raises(ShapeError) as caught:
        static(Tensor([1.0]))
    assert masked(caught.value).splitlines()[0] == "axis 0 is 4, but it is 1 here"


def test_expressions_of_dimensions_in_whatever_order_of_arguments(masked):
    compiled = compile(lambda y, x: F.concat([x, x], 0) + y, name="f")(
        TensorType("float32", ("2 * n",)), TensorType("float32", ("n",))
    )
    assert compiled(F.ones((4,)), Tensor([1.0, 2.0])).tolist() == [2, 3, 2, 3]
    with pytest.raises(ShapeError) as caught:
        compiled(F.ones((5,)), Tensor([1.0, 2.0]))
    assert masked(caught.value).startswith(
        "axis 0 is 2*n = 4, but it is 5 here\n  where: argument 0 of f at HERE"
    )


def test_stage_shows_the_graph():
    staged = stage(lambda x, n: x * n, name="scale")(PAIR, 2)
    assert str(staged) == str(staged.graph)
    assert str(staged).startswith("graph scale(%arg0: f32[2]@reference:0) {")
    assert staged.types == (PAIR.with_device("reference:0"),)


def test_compiled_functions_copy_and_pickle():
    weight = Tensor([3.0, 4.0])
    realta.set_seed(3)
    compiled = compile(drawing, numerics="exact")(PAIR, weight=weight.type, scale=0.37)
    x = Tensor([1.0, 2.0])
    for function in (copy.copy(compiled), copy.deepcopy(compiled), loaded(compiled)):
        realta.set_seed(3)
        expected = compiled(x, weight=weight, scale=0.37).tolist()
        realta.set_seed(3)
        assert function(x, weight=weight, scale=0.37).tolist() == expected
    assert loaded(compiled).graph == compiled.graph


def drawing(x, *, weight, scale):
    return x * weight * scale + realta.random.uniform((2,))


def loaded(value):
    return pickle.loads(pickle.dumps(value))


def test_compiled_function_called_in_contexts():
    compiled = compile(lambda x: x * 2, name="double")(PAIR)
    x = Tensor([1.0, 2.0])
    with EagerRealizationContext():
        assert compiled(x).tolist() == [2, 4]
    graph = realta.Graph("g", input_types=[PAIR])
    with graph:
        with pytest.raises(RealizationError, match="double is called while a graph is recorded"):
            compiled(x)
        graph.output(graph.inputs[0].tensor)


def test_errors_of_a_call_name_the_line_that_was_traced(moody):
    def f(x):
        return F.exp(x)

    compiled = compile(f)(PAIR)
    moody.failing = {"exp"}
    with pytest.raises(realta.errors.ExecutionError) as caught:
        compiled(Tensor([1.0, 2.0]))
    assert f"{__file__}:{f.__code__.co_firstlineno + 1}" in caught.value.where


def test_donation(in_place):
    x = F.zeros((1000,)) + 0
    x[0:1] = 1.0
    compiled = compile(stored, donate=[0])(x.type)
    copies = in_place.copies
    y = compiled(x)
    assert in_place.copies == copies
    assert y[:2].tolist() == [1, 7]
    with pytest.raises(RealizationError, match="donated"):
        x.numpy()
    z = compiled(copy.copy(y))  # the other handle keeps the version, which is given up all the same
    assert z[:2].tolist() == [1, 7]


def stored(x):
    x = Tensor(x)
    x[1:2] = 7.0
    return x


def test_donating_what_is_no_argument_is_an_error(masked):
    with pytest.raises(ArgumentError) as caught:
        compile(lambda x: x, name="f", donate=[1])(PAIR)
    assert masked(caught.value) == (
        "f has no tensor argument 1 to donate\n  where: HERE\n  fix: it has 1, numbered from 0"
    )


def test_fast_and_fuse_options_reach_the_program():
    compiled = compile(lambda x: x * 2 + 1, numerics="fast", name="quick")(PAIR)
    assert compiled(Tensor([1.0, 2.0])).tolist() == [3, 5]
