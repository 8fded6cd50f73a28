"""Default contexts: installed at once, process-wide, restored in any order (spec 2)."""

import threading

import pytest
from realta import F, Tensor
from realta.context import TracedGraph
from realta.errors import ArgumentError
from realta.realization_context import (
    EagerRealizationContext,
    GraphRealizationContext,
    LazyRealizationContext,
    default_realization_context,
    ensure_context,
    in_graph_context,
    lazy,
    set_default_realization_context,
)


def test_default_is_eager():
    first, second = default_realization_context(), default_realization_context()
    assert type(first) is EagerRealizationContext
    assert first is not second
    assert (Tensor([1.0]) + 1).is_real


def test_lazy_default_is_one_ambient_context(launches):
    with set_default_realization_context(LazyRealizationContext) as factory:
        assert factory is LazyRealizationContext
        assert type(default_realization_context()) is LazyRealizationContext
        a = Tensor([1.0]) + Tensor([1.0])
        b = F.exp(a)
        c = (a + a).sum()
        assert {t.state.ctx for t in (a, b, c)} == {a.state.ctx}
        assert launches() == 0
        assert c.item() == 4
        assert not b.is_real
        a[0] = 5.0
        assert not a.is_real
        assert a.item() == 5
    assert b.item() == pytest.approx(7.389056)
    assert (a + 1).is_real


def test_factory_is_called_once_in_each_thread():
    made = []

    def factory():
        made.append(threading.get_ident())
        return LazyRealizationContext()

    def work(found):
        a = Tensor([1.0]) + 1
        b = a + 1
        found.append((a.state.ctx, b.state.ctx, b.item()))

    with set_default_realization_context(factory):
        found = []
        work(found)
        thread = threading.Thread(target=work, args=(found,))
        thread.start()
        thread.join()
    assert len(made) == 2
    assert len(set(made)) == 2
    assert found[0][0] is found[0][1]
    assert found[1][0] is found[1][1]
    assert found[0][0] is not found[1][0]
    assert [value for *_, value in found] == [3, 3]


def test_eager_factory_runs_each_op(launches):
    with set_default_realization_context(EagerRealizationContext):
        a = Tensor([1.0]) + Tensor([1.0])
        assert a.is_real
        assert launches() == 1
        with ensure_context():
            b = a + a
            assert not b.is_real
        assert b.is_real


def test_defaults_are_restored_in_any_order():
    first = set_default_realization_context(lambda: LazyRealizationContext("first"))
    second = set_default_realization_context(lambda: LazyRealizationContext("second"))
    assert default_realization_context().name == "second"
    first.restore()
    assert default_realization_context().name == "second"
    first.restore()
    second.restore()
    assert type(default_realization_context()) is EagerRealizationContext

    first = set_default_realization_context(lambda: LazyRealizationContext("first"))
    second = set_default_realization_context(lambda: LazyRealizationContext("second"))
    second.restore()
    assert default_realization_context().name == "first"
    first.restore()
    assert (Tensor([1.0]) + 1).is_real


def test_ensure_context_uses_the_ambient_context_of_a_lazy_default():
    with set_default_realization_context(LazyRealizationContext):
        a = Tensor([1.0]) + 1
        with ensure_context():
            b = a + 1
        assert b.state.ctx is a.state.ctx


@pytest.mark.parametrize(
    "factory",
    [None, 3, lambda: None, lambda: lazy(), GraphRealizationContext],
    ids=["none", "number", "of none", "of a block", "of a graph"],
)
def test_factory_is_checked_at_once(factory, masked):
    with pytest.raises(ArgumentError) as caught:
        set_default_realization_context(factory)
    text = masked(caught.value).splitlines()
    callable_or_not = "a default context is given by a callable, got", "the default context factory"
    assert text[0].startswith(callable_or_not)
    assert text[1:] in (
        [
            "  where: HERE",
            "  fix: pass the class: set_default_realization_context(LazyRealizationContext)",
        ],
        [
            "  where: HERE",
            "  fix: return an EagerRealizationContext or a LazyRealizationContext",
        ],
    )
    assert type(default_realization_context()) is EagerRealizationContext


def test_in_graph_context_is_true_inside_graphs_and_nowhere_else():
    assert not in_graph_context()
    graph = TracedGraph("g")
    with graph:
        assert in_graph_context()
        with EagerRealizationContext():
            assert not in_graph_context()
        assert in_graph_context()
    with GraphRealizationContext(graph):
        assert in_graph_context()
    for context in (EagerRealizationContext(), LazyRealizationContext()):
        with context:
            assert not in_graph_context()
    assert not in_graph_context()
