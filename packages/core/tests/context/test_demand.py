"""Realizing a tensor runs what that tensor needs and nothing else (spec 1)."""

import inspect

import numpy as np
import pytest
import realta
from realta import F, Tensor, lazy
from realta.graph import Location
from realta.plugins import open_device
from realta.realization_context import EagerRealizationContext, LazyRealizationContext
from realta.runtime import uniquely_held


@pytest.fixture
def x() -> Tensor:
    return Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


def test_demand_runs_the_cone_and_nothing_else(x, launches):
    with lazy():
        doubled = x + x
        unrelated = F.exp(x)
        product = doubled * doubled
    assert launches() == 0
    assert not product.is_real
    product.realize()
    assert launches() == 2
    assert product.is_real
    assert not unrelated.is_real
    np.testing.assert_array_equal(product.numpy(), (2 * x.numpy()) ** 2)


def test_inner_value_with_a_live_handle_becomes_real_on_the_way(x, launches):
    with lazy():
        doubled = x + x
        product = doubled * doubled
    product.realize()
    assert doubled.is_real
    launches()
    assert doubled.numpy()[1, 2] == 10
    assert launches() == 0


def test_inner_value_without_a_handle_does_not_become_real(x, launches):
    with lazy():
        doubled = x + x
        value = doubled.state.values[0]
        product = doubled * doubled
        del doubled
    product.realize()
    assert value.payload is None


def test_handles_that_died_are_never_computed(x, launches):
    with lazy() as context:
        kept = x + x
        dropped = F.exp(x)
        del dropped
    context.realize_all()
    assert launches() == 1
    assert kept.is_real


def test_realize_all_realizes_every_live_tensor_as_one_graph(x, launches):
    with lazy() as context:
        tensors = [x + x, F.exp(x), x.sum()]
    context.realize_all()
    assert all(t.is_real for t in tensors)
    assert launches() == 3
    context.realize_all()
    assert launches() == 0


def test_costly_value_that_a_pending_tensor_needs_is_kept(x, launches):
    with lazy():
        total = x.sum()
        first, second = total + total, total * total
        del total
    first.realize()
    assert launches() == 2
    second.realize()
    assert launches() == 1  # the sum is not computed again


def test_cheap_value_that_a_pending_tensor_needs_is_computed_again(x, launches):
    with lazy():
        shared = F.exp(x)
        first, second = shared + shared, shared * shared
        del shared
    first.realize()
    assert launches() == 2
    second.realize()
    assert launches() == 2


def test_costly_value_that_only_a_dead_tensor_needed_is_not_kept(x, launches):
    with lazy():
        total = x.sum()
        value = total.state.values[0]
        first, second = total + total, total * total
        del total, second
    first.realize()
    assert value.payload is None


def test_explain_tells_what_is_kept_and_for_whom(x):
    with lazy():
        total = x.sum()
        largest = x.max()
        first, second = total + largest, largest * largest
        del largest
    notes = realta.explain(first).notes
    assert len(notes) == 2
    assert any("sum(" in n and n.endswith("is kept: a live tensor names it") for n in notes)
    assert any(
        "max(" in n and n.endswith("is kept: a pending tensor outside this demand needs it")
        for n in notes
    )
    assert __file__ in notes[0]
    assert notes[0] in str(realta.explain(first))
    assert realta.explain(first).to_dict()["notes"] == list(notes)
    assert not first.is_real
    assert second.numpy() == 25


def test_a_value_that_became_real_is_not_computed_again(x, launches):
    with lazy():
        doubled = x + x
        product = doubled * doubled
    doubled.realize()
    assert launches() == 1
    product.realize()
    assert launches() == 1


def test_lazy_block_allocates_nothing():
    pool = open_device("reference:0").pool
    before = pool.stats().live
    with lazy():
        t = F.ones((1000, 1000)) * 3.25
    assert pool.stats().live == before
    assert t.shape == (1000, 1000)
    t.realize()
    assert pool.stats().live >= before + 4_000_000
    del t
    assert pool.stats().live == before


def test_one_of_several_results_is_demanded():
    with lazy():
        values, indices = F.top_k(Tensor([3.0, 9.0, 5.0]), 2)
    assert indices.tolist() == [1, 2]
    assert values.tolist() == [9.0, 5.0]


def test_scalar_made_lazily_becomes_real():
    with lazy():
        t = F.full((), 3.25)
    assert not t.is_real
    assert t.item() == 3.25
    assert t.is_real


def test_a_stored_to_handle_keeps_no_old_version(x, launches):
    with lazy():
        t = x + x
        value = t.state.values[0]
        reader = t * t
        t[0, 0] = 7
    reader.realize()
    assert value.payload is None
    assert not t.is_real
    assert t.numpy()[0, 0] == 7


def test_type_and_state_realize_nothing(x, launches):
    with LazyRealizationContext("building") as context:
        t = (x + x).sum(axis=0)
    facts = (t.shape, t.dtype, t.device.name, t.rank, t.ndim, t.size, t.nbytes, t.itemsize)
    assert facts == ((3,), realta.float32, "reference:0", 1, 1, 3, 12, 4)
    assert t.type is realta.TensorType("float32", (3,), "reference:0")
    assert t.state.ctx is context
    assert t.state.values[0].type is t.type
    assert (t.real, t.is_real) == (False, False)
    assert repr(t) == "Tensor(unrealized, shape=(3,), dtype=float32, device=reference:0)"
    assert launches() == 0
    assert x.state is None
    assert x.real


def test_region_runs_live_tensors_as_one_graph_on_exit(x, launches):
    with EagerRealizationContext() as context:
        a = x + x
        b = F.exp(a)
        del a
        dead = F.sin(x)
        del dead
        assert not b.is_real
        assert launches() == 0
    assert b.is_real
    assert launches() == 2
    assert context.live() == []


def test_every_use_of_the_value_realizes(x):
    uses = [
        lambda t: t.item(), bool, int, float, lambda t: t.tolist(), lambda t: t.numpy(),
        lambda t: t.to_numpy(), np.asarray, np.from_dlpack, lambda t: f"{t:.1f}", repr_of_pickle,
        lambda t: t.realize(), lambda t: t.materialize(), round,
    ]  # fmt: skip
    for use in uses:
        with lazy():
            t = x[1, 2] + 0.25
        use(t)
        assert t.is_real
    with lazy():
        t = x + x
    assert [row.tolist() for row in t] == [[0, 2, 4], [6, 8, 10]]


def repr_of_pickle(t):
    import pickle

    return pickle.dumps(t)


def test_tensors_recorded_in_a_row_are_told_apart_by_who_holds_them(x):
    with lazy() as context:
        held = []
        for n in range(100):  # more than are looked at in one go
            y = x * x + x
            if n % 7 == 0:
                held.append(y)
        del y
        assert [id(t) for t in context.live()] == [id(t) for t in held]
    held[-1].realize()
    assert [t.is_real for t in held] == [False] * (len(held) - 1) + [True]


def test_the_graph_of_what_died_in_a_block_is_gone_when_it_is_left(x):
    with lazy():
        y = x + x
        facts = [uniquely_held(x._storage, 1)]
        del y
    facts.append(uniquely_held(x._storage, 1))
    assert facts == [False, True]


def test_a_recorded_node_reads_like_any_other(x):
    with lazy():
        y, line = x + x, inspect.currentframe().f_lineno
        z = F.exp(y)
    (node,), (last,) = y.state.values, z.state.values
    assert last.operands == (node,)
    assert len(node.operands) == 2
    assert node.location.line == line
    node.where = place = Location(None, 0, "elsewhere:7")
    assert node.where is node.location is place
