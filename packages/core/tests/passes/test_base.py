from dataclasses import dataclass

import pytest
from realta.errors import VerificationError
from realta.graph import Graph, Node
from realta.passes import Pipeline, debugging
from realta.passes.dce import DeadCodeElimination


@dataclass(frozen=True)
class Reverse:
    """Breaks a graph: operands come after their users."""

    name: str = "reverse"

    def run(self, graph):
        return Graph(graph.name, graph.inputs, graph.outputs, graph.nodes[::-1])


@dataclass(frozen=True)
class DropOutput:
    name: str = "drop-output"

    def run(self, graph):
        return Graph(graph.name, graph.inputs, graph.outputs[1:], graph.nodes)


@pytest.fixture
def graph(write):
    b, x = write(f32=(4,))
    y = b.neg(b.exp(x))
    return b.finish(y, y)


def test_debug_names_the_pass_that_broke_the_graph(graph):
    with pytest.raises(VerificationError, match="after the pass 'reverse'"):
        Pipeline([DeadCodeElimination(), Reverse()], debug=True).run(graph)


def test_debug_finds_a_changed_number_of_outputs(graph):
    with pytest.raises(VerificationError, match="outputs of graph") as error:
        Pipeline([DropOutput()], debug=True).run(graph)
    assert "drop-output" in str(error.value)


def test_debug_finds_a_broken_graph_before_the_first_pass(graph):
    broken = Reverse().run(graph)
    with pytest.raises(VerificationError, match="before the first pass"):
        Pipeline([], debug=True).run(broken)


def test_without_debug_nothing_is_verified(graph):
    assert isinstance(Pipeline([Reverse()], debug=False).run(graph).nodes[0], Node)


def test_the_environment_switches_debugging_on(graph, monkeypatch):
    monkeypatch.delenv("REALTA_DEBUG", raising=False)
    assert not debugging()
    Pipeline([Reverse()]).run(graph)
    for value, on in (("1", True), ("0", False), ("", False)):
        monkeypatch.setenv("REALTA_DEBUG", value)
        assert debugging() is on
    monkeypatch.setenv("REALTA_DEBUG", "1")
    with pytest.raises(VerificationError):
        Pipeline([Reverse()]).run(graph)
