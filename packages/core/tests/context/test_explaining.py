"""explain: what would run, for every subject."""

import pytest
import realta
from realta import F, Graph, Tensor, explain, lazy
from realta.errors import ArgumentError


def f(x):
    return F.exp(x) + x


def test_every_subject_is_explained(launches):
    x = Tensor([1.0, 2.0])
    graph = Graph("g", input_types=[x.type])
    with graph:
        graph.output(f(graph.inputs[0].tensor))
    with lazy() as context:
        t = f(x)
    subjects = [
        t,
        context,
        graph,
        graph.finish(),
        realta.compile(f)(x.type),
        realta.load_graph(graph),
    ]
    launches()
    for subject in subjects:
        explanation = explain(subject)
        assert len(explanation.kernels) == 2
        member = explanation.kernels[0].members[0]
        assert (member.op, member.location.rpartition(":")[0]) == ("exp", __file__)
        assert "exp(" in str(explanation)
    assert len(explain(f, x).kernels) == 2
    assert explain(f, x).graph == "f"
    assert launches() == 0
    assert not t.is_real


def test_what_cannot_be_explained(masked):
    with pytest.raises(ArgumentError) as caught:
        explain(Tensor([1.0]))
    assert masked(caught.value) == (
        "a tensor of type f32[1]@reference:0 is real already, so nothing would run for it\n"
        "  where: HERE\n"
        "  fix: explain a pending tensor, or the function that makes it"
    )
    with pytest.raises(ArgumentError, match="int cannot be explained"):
        explain(3)


def test_explaining_a_function_leaves_tensors_and_seed_as_they_were():
    x = Tensor([1.0, 2.0])

    def g(y):
        x[0] = 9.0
        return x + y + realta.random.uniform((2,))

    realta.set_seed(0)
    explain(g, x)
    assert x.tolist() == [1, 2]
    assert realta.seed().tolist() == [0, 0]
