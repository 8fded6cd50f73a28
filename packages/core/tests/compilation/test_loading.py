"""load_graph: callables from graphs, open or finished, and from files."""

import pytest
import realta
from realta import F, Graph, Tensor, TensorType, load_graph
from realta.errors import SerializationError, ShapeError
from realta.graph import parse, save_graph


def test_finished_graph_of_text(each_device):
    graph = parse(
        "graph f(%x: f32[2], %y: f32[2]) {\n"
        "  %0: f32[2] = add(%x, %y)\n"
        "  %1: f32[2] = mul(%0, %y)\n"
        "  return %0, %1\n"
        "}"
    )
    function = load_graph(graph)
    assert repr(function) == "<GraphFunction f>"
    assert function.__name__ == "f"
    a, b = function(Tensor([1.0, 2.0]), Tensor([3.0, 4.0]))
    assert (a.tolist(), b.tolist()) == ([4, 6], [12, 24])


def test_graph_file(tmp_path):
    graph = Graph("scale", input_types=[TensorType("float32", (3,))])
    with graph:
        graph.output(graph.inputs[0].tensor * F.arange(3, dtype="float32"))
    path = tmp_path / "scale.graph"
    save_graph(graph.finish(), path)
    assert load_graph(path)(F.ones((3,))).tolist() == [0, 1, 2]
    (tmp_path / "broken").write_bytes(b"no graph")
    with pytest.raises(SerializationError):
        load_graph(tmp_path / "broken")


def test_symbolic_graph_binds_at_the_call():
    graph = Graph("f", input_types=[TensorType("float32", ("n",)), TensorType("float32", ("n",))])
    with graph:
        x, y = graph.inputs
        graph.output(x.tensor + y)
    function = load_graph(graph)
    for n in (1, 4, 2):
        assert function(F.ones((n,)), F.ones((n,))).tolist() == [2] * n
    with pytest.raises(ShapeError, match="axis 0 is n, which another argument makes 1"):
        function(F.ones((1,)), F.ones((2,)))


def test_graph_loaded_twice_keeps_its_own_numbers():
    graph = Graph("f", input_types=[TensorType("float32", ())])
    with graph:
        graph.output(graph.inputs[0].tensor * 0.37)
    assert load_graph(graph)(Tensor(2.0)).item() == load_graph(graph)(Tensor(2.0)).item()
    with realta.lazy():
        assert load_graph(graph)(Tensor(2.0)).item() == pytest.approx(0.74)
