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


@pytest.fixture
def kernel_tier(monkeypatch):
    monkeypatch.delenv("REALTA_INTERP_PROFILE", raising=False)
    return "interp:0"


def test_devices_of_the_kernel_tier_tell_schedules_and_sources(kernel_tier):
    x = realta.TensorType("float32", (300, 40), kernel_tier)
    explanation = explain(realta.compile(lambda x: F.softmax(x, axis=1))(x))
    (kernel,) = explanation.kernels
    assert kernel.operations == 5 * 300 * 40
    assert kernel.code.profile == "cpu"
    assert kernel.code.schedule
    assert f"  runs   {kernel.code.schedule} (cpu profile)" in str(explanation)
    assert "kernel " in kernel.code.sources[0]
    assert kernel.code.sources[0] not in str(explanation)
    assert kernel.code.sources[0] in explanation.text(source=True)


def test_effects_and_control_flow_are_no_kernels(kernel_tier):
    def shown(x):
        (y,) = F.cond(F.sum(x) > 1, None, lambda: x + x, lambda: x)
        F.print(y, name="y")
        return y * 2

    x = realta.TensorType("float32", (3,), kernel_tier)
    explanation = explain(realta.compile(shown)(x))
    assert [member.op for member in explanation.by_core] == ["cond", "print"]
    computed = {m.op for k in explanation.kernels for m in k.members if m.role == "computed"}
    assert computed == {"sum", "greater", "mul"}
    assert "2 kernels for 3 ops" in str(explanation)
