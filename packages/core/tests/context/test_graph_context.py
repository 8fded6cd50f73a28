"""Graph contexts and TracedGraph: tensors never become real, captures, stores (spec 2, 7)."""

import asyncio
import pickle
from contextlib import suppress

import numpy as np
import pytest
import realta
from realta import F, Graph, Tensor, TensorType, lazy, load_graph, random
from realta.errors import ArgumentError, RealizationError, VerificationError
from realta.graph import parse
from realta.realization_context import (
    EagerRealizationContext,
    GraphRealizationContext,
    in_graph_context,
)

PAIR = TensorType("float32", (2,))


def test_graph_api_of_the_spec():
    graph = Graph("double", input_types=[PAIR])
    with graph:
        (x,) = graph.inputs
        graph.output(x.tensor * 2)
    assert str(graph) == (
        "graph double(%arg0: f32[2]@reference:0) {\n"
        '  %0: f32[]@reference:0 = constant(value=f32[] 2.0, device="reference:0")\n'
        "  %1: f32[2]@reference:0 = broadcast(%0, shape=[2])\n"
        "  %2: f32[2]@reference:0 = mul(%arg0, %1)\n"
        "  return %2\n"
        "}"
    )
    assert parse(str(graph)) == graph.finish()
    double = load_graph(graph)
    assert double(Tensor([1.0, 2.5])).tolist() == [2, 5]
    assert double(np.float32([1, 2.5])).tolist() == [2, 5]


def test_functions_and_operators_take_graph_values_and_tensors_alike():
    graph = Graph("mixed", input_types=[PAIR, PAIR], names=["x", "y"])
    with graph:
        x, y = graph.inputs
        results = [x + y, x.tensor + y, x + y.tensor, F.add(x, y), 1 + x, x - 1, -y, x @ y]
        assert all(isinstance(r, Tensor) for r in results)
        graph.output(*results)
    found = load_graph(graph)(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    assert [t.tolist() for t in found] == [
        [4, 6], [4, 6], [4, 6], [4, 6], [2, 3], [0, 1], [-3, -4], 11,
    ]  # fmt: skip


def test_from_graph_value_works_in_every_graph():
    graph = Graph("g", input_types=[PAIR])
    with graph:
        t = Tensor.from_graph_value(graph.inputs[0])
        assert t.graph_value is graph.inputs[0]
        graph.output(t + 1)
    with GraphRealizationContext(graph):
        again = Tensor.from_graph_value(graph.inputs[0])
        graph.output(t + again)
    assert load_graph(graph)(Tensor([1.0, 2.0])).tolist() == [2, 4]


def test_from_graph_value_outside_contexts_is_an_error(masked):
    graph = Graph("g", input_types=[PAIR])
    with pytest.raises(RealizationError) as caught:
        Tensor.from_graph_value(graph.inputs[0])
    assert masked(caught.value) == (
        "a graph value becomes a tensor only while its graph is being recorded\n"
        "  where: HERE\n"
        "  fix: call it inside `with graph:`"
    )
    with pytest.raises(RealizationError, match="no graph value outside"):
        _ = Tensor([1.0]).graph_value


REALIZING = {
    "item": lambda t: t.item(),
    "bool": bool,
    "int": int,
    "float": float,
    "tolist": lambda t: t.tolist(),
    "numpy": lambda t: t.numpy(),
    "array": np.asarray,
    "dlpack": np.from_dlpack,
    "format": lambda t: f"{t:.1f}",
    "pickle": pickle.dumps,
    "realize": lambda t: t.realize(),
    "materialize": lambda t: t.materialize(),
    "await": lambda t: asyncio.run(_await(t)),
    "iter": lambda t: list(t.reshape([1])),
    "context": lambda t: t.state.ctx.realize_all(),
}


async def _await(t):
    await t


@pytest.mark.parametrize("inside", [True, False], ids=["inside", "after"])
@pytest.mark.parametrize("use", REALIZING)
def test_realizing_in_a_graph_raises_naming_graph_and_line(use, inside, masked):
    graph = Graph("scale", input_types=[TensorType("float32", ())])
    with graph:
        t = graph.inputs[0].tensor * 2
        if inside:
            with pytest.raises(TypeError) as caught:
                REALIZING[use](t)
    if not inside:
        with pytest.raises(TypeError) as caught:
            REALIZING[use](t)
    assert masked(caught.value) == (
        "a tensor of the graph 'scale' has no value: it is computed when the graph is called\n"
        "  where: HERE\n"
        "  fix: call the compiled graph with real tensors; choose with F.where inside a graph"
    )
    assert isinstance(caught.value, RealizationError)
    assert caught.value.where.startswith(__file__)
    assert repr(t) == "Tensor(unrealized, shape=(), dtype=float32, device=reference:0)"


def test_tensor_of_a_graph_used_outside_raises(masked):
    graph = Graph("scale", input_types=[PAIR])
    with graph:
        t = graph.inputs[0].tensor * 2
    with pytest.raises(RealizationError, match="a tensor of the graph 'scale' has no value"):
        t + 1
    with pytest.raises(RealizationError) as caught:
        lazily(t)
    assert masked(caught.value) == (
        "a tensor of the graph 'scale' is used in the lazy context\n"
        "  where: HERE\n"
        "  fix: use it only while its graph is being recorded"
    )
    with graph:
        graph.output(t + 1)  # the graph itself goes on
    assert load_graph(graph)(Tensor([1.0, 2.0])).tolist() == [3, 5]


def lazily(t):
    with lazy():
        return t + 1


def test_parameter_of_another_graph_is_an_error():
    first, second = Graph("first", input_types=[PAIR]), Graph("second", input_types=[PAIR])
    with second:
        second.output(first.inputs[0].tensor + second.inputs[0])
    with pytest.raises(VerificationError, match=r"'second' reads %arg0: .*another graph"):
        load_graph(second)


def test_captured_tensors_are_read_by_reference_and_by_version():
    weight = Tensor([3.0, 4.0])
    with lazy():
        pending = weight + 1
    graph = Graph("captures", input_types=[PAIR])
    with graph:
        graph.output(graph.inputs[0].tensor * weight + pending)
    assert weight.is_real
    assert pending.is_real
    weight[0] = 100.0
    assert "%captured0: f32[2]@reference:0" in str(graph)
    assert load_graph(graph)(Tensor([1.0, 1.0])).tolist() == [7, 9]


def test_storing_inside_a_graph_leaves_real_tensors_as_they_were():
    x = Tensor([1.0, 2.0])
    graph = Graph("stores", input_types=[PAIR])
    with graph:
        before = x + 0
        x[0] = 9.0
        assert not x.is_real
        graph.output(before, x, graph.inputs[0].tensor)
    assert x.is_real
    assert x.tolist() == [1, 2]
    found = load_graph(graph)(Tensor([5.0, 6.0]))
    assert [t.tolist() for t in found] == [[1, 2], [9, 2], [5, 6]]
    with suppress(KeyError), graph:
        x[0] = 9.0
        raise KeyError
    assert x.tolist() == [1, 2]


def test_independent_work_in_an_inner_context_becomes_a_capture():
    graph = Graph("g", input_types=[PAIR])
    with graph:
        with EagerRealizationContext():
            made = Tensor([1.0, 2.0]) + 1
        assert made.is_real
        assert in_graph_context()
        graph.output(graph.inputs[0].tensor + made)
    assert load_graph(graph)(Tensor([1.0, 1.0])).tolist() == [3, 4]


def test_random_ops_work_in_graphs_and_draw_anew_each_call():
    graph = Graph("draws")
    realta.set_seed(5)
    with graph:
        graph.output(random.uniform((4,)), random.uniform((4,)))
    assert realta.seed().tolist() == [5, 0]
    function = load_graph(graph)
    first, second = function(), function()
    realta.set_seed(5)
    eager = [random.uniform((4,)) for _ in range(4)]
    assert [t.tolist() for t in (*first, *second)] == [t.tolist() for t in eager]


def test_graph_names_must_fit_its_inputs(masked):
    with pytest.raises(ArgumentError) as caught:
        Graph("g", input_types=[PAIR], names=["x", "y"])
    assert masked(caught.value) == (
        "graph 'g' has 1 input types and 2 names\n"
        "  where: HERE\n"
        "  fix: give one name to each input, or none"
    )


def test_graph_context_without_a_graph():
    context = GraphRealizationContext(name="free")
    with context:
        t = F.ones((2,)) + 1
    assert context.graph.name == "free"
    with pytest.raises(TypeError, match="the graph 'free'"):
        t.numpy()


def test_load_graph_checks_its_arguments(masked):
    graph = Graph("double", input_types=[PAIR], names=["x"])
    with graph:
        graph.output(graph.inputs[0].tensor * 2)
    double = load_graph(graph)
    with pytest.raises(ArgumentError) as caught:
        double()
    assert masked(caught.value) == (
        "the graph 'double' takes 1 tensors, got 0\n"
        "  where: HERE\n"
        "  fix: pass one tensor for each input"
    )
    with pytest.raises(TypeError) as caught:
        double(Tensor([1, 2]))
    assert masked(caught.value) == (
        "expected f32[2]@reference:0, got i64[2]@reference:0\n"
        "  where: argument %x of double at HERE\n"
        "  fix: cast it, as in t.cast(float32)"
    )
