"""Growth: node budgets, deep graphs, and what small ops leave behind (spec 2)."""

import copy
import gc
import pickle
import sys
import warnings

import numpy as np
import pytest
import realta
from realta import F, Tensor, lazy, random
from realta.plugins import open_device
from realta.realization_context import (
    EagerRealizationContext,
    LazyRealizationContext,
    set_default_realization_context,
)


def test_node_budget_realizes_what_is_recorded_and_warns_once():
    x = Tensor([1.0])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with LazyRealizationContext("loop", node_budget=100) as context:
            other = F.exp(x)
            t = x
            for _ in range(350):
                t = t + x
    assert t.item() == 351
    (warning,) = caught
    assert warning.category is RuntimeWarning
    assert warning.filename == __file__
    text = str(warning.message)
    assert "the lazy context 'loop' holds 101 pending ops, more than its node_budget of 100" in text
    assert f"at {__file__}:{warning.lineno}" in text
    assert "realize results in the loop, or raise node_budget" in text
    assert not other.is_real
    assert len(context.graph.nodes) == 1


def test_budget_counts_what_is_pending_and_not_what_was_recorded():
    x = Tensor([1.0])
    with LazyRealizationContext(node_budget=100) as context:
        for _ in range(50):
            t = x
            for _ in range(40):
                t = t + x
            t.realize()
        for _ in range(50):
            t = x
            for _ in range(40):
                t = t + x
    assert not t.is_real
    assert len(context.graph.nodes) == 40


def test_creation_and_random_ops_and_their_casts_do_not_count():
    with LazyRealizationContext(node_budget=10) as context:
        made = [F.zeros((4,)).cast("float64") for _ in range(20)]
        made += [random.uniform((4,)) for _ in range(20)]
        made += [F.full((2,), 3.25).to("reference:0") for _ in range(20)]
        for _ in range(5):
            made.append(made[0] + made[0])
    assert len(context.live()) == 65
    assert not any(t.is_real for t in made)


def test_budget_of_none_is_no_budget():
    with LazyRealizationContext(node_budget=None):
        t = Tensor([1.0])
        for _ in range(2000):
            t = t + t
    assert not t.is_real


def deep(x, depth):
    t = x
    for _ in range(depth):
        t = t + x
    return t


@pytest.mark.slow
def test_300_000_chained_ops_build_print_hash_pickle_run_and_die():
    assert sys.getrecursionlimit() == 1000
    depth = 300_000
    with LazyRealizationContext("deep") as context:
        t = deep(Tensor([1.0]), depth)
        dropped = deep(Tensor([1.0]), depth)
    del dropped
    graph = context.graph
    assert len(graph) == depth
    assert repr(t).startswith("Tensor(unrealized")
    text = str(graph)
    assert text.count("\n") == depth + 2
    loaded = pickle.loads(pickle.dumps(graph))
    assert hash(loaded) == hash(graph)
    assert loaded == graph
    del loaded, graph, text
    assert t.item() == depth + 1


def test_deep_function_compiles_runs_copies_and_pickles():
    depth = 5_000
    compiled = realta.compile(deep)(realta.TensorType("float32", (1,)), depth=depth)
    for function in (compiled, copy.deepcopy(compiled), pickle.loads(pickle.dumps(compiled))):
        assert function(Tensor([1.0]), depth=depth).item() == depth + 1


def test_deep_region_runs():
    with EagerRealizationContext():
        t = deep(Tensor([1.0]), 5_000)
    assert t.item() == 5_001


def test_deep_chain_of_splits_and_joins():
    x = Tensor([1.0, 2.0])
    with lazy():
        t = x
        for _ in range(1500):
            a, b = F.chunk(t, 2)
            t = F.concat([b, a], 0)
    assert t.tolist() == [1, 2]


def test_shared_users_take_linear_time():
    with lazy():
        t = Tensor([1.0], dtype="float64")
        for _ in range(100):
            t = t + t
    assert t.item() == 2.0**100


def counted(work, count):
    """How many objects and live device bytes a piece of work adds, after a warm-up."""
    work(200)
    gc.collect()
    pool = open_device(realta.Device("cpu").name).pool
    objects, live = len(gc.get_objects()), pool.stats().live
    work(count)
    gc.collect()
    return len(gc.get_objects()) - objects, pool.stats().live - live


def bare(x):
    def work(count):
        for n in range(count // 2):
            F.exp(x) + n * 0.37

    return work


def in_an_open_lazy_block(x):
    context = LazyRealizationContext()

    def work(count):
        with context:
            for n in range(count):
                (x + n * 0.37).realize()

    return work


def as_regions(x):
    def work(count):
        for _ in range(count // 10):
            with EagerRealizationContext():
                x + x

    return work


def stores(x):
    def work(count):
        for n in range(count):
            x[n % 3] = n * 0.5

    return work


@pytest.mark.parametrize("kind", [bare, in_an_open_lazy_block, as_regions, stores])
def test_g10_many_small_ops_leave_object_and_byte_counts_flat(kind):
    count = 20_000 if kind is bare else 2_000
    objects, live = counted(kind(Tensor([1.0, 2.0, 3.0])), count)
    assert objects < 200
    assert live == 0


def test_g10_ambient_lazy_context_stays_flat():
    x = Tensor([1.0, 2.0, 3.0])

    def work(count):
        for n in range(count // 4):
            (x + n * 0.37).realize()
            x * n

    with set_default_realization_context(LazyRealizationContext):
        objects, live = counted(work, 4_000)
    assert objects < 15_000  # some of what nobody asked for is forgotten later
    assert live == 0


@pytest.mark.parametrize("fast", [True, False])
def test_memory_of_dropped_results_is_given_back(fast):
    F.set_fast_path(fast)
    try:
        x = Tensor(np.ones(1000, np.float32))
        pool = open_device("reference:0").pool
        before = pool.stats().live
        for _ in range(20):
            y = F.exp(x) + x
        del y
        assert pool.stats().live == before
    finally:
        F.set_fast_path(True)
