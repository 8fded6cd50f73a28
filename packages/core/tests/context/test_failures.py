"""What fails leaves contexts and tensors usable: before a launch, after one began (spec 2)."""

import asyncio

import numpy as np
import pytest
import realta
from realta import F, Tensor, lazy
from realta.errors import (
    CompilationError,
    ExecutionError,
    IndexBoundsError,
    OutOfMemory,
    RealizationError,
    ShapeError,
)
from realta.plugins import open_device
from realta.realization_context import EagerRealizationContext, LazyRealizationContext


def region_with(made, build):
    with EagerRealizationContext("step"):
        made.extend(build())


def test_region_that_does_not_compile_is_retried(moody):
    x = Tensor([0.0, 0.0])
    moody.uncompilable = {"exp"}
    made = []
    with pytest.raises(CompilationError, match="no code for exp"):
        region_with(made, lambda: [F.exp(x), x + 1])
    assert not made[0].is_real
    with pytest.raises(CompilationError, match="no code for exp"):
        made[1].tolist()
    moody.uncompilable = set()
    assert made[0].tolist() == [1, 1]
    assert made[1].tolist() == [1, 1]
    assert x.tolist() == [0, 0]


def test_lazy_demand_that_does_not_compile_is_retried(moody):
    moody.uncompilable = {"exp"}
    with lazy() as context:
        t = F.exp(Tensor([0.0]))
        with pytest.raises(CompilationError):
            t.item()
        u = t + 1
    moody.uncompilable = set()
    assert u.item() == 2
    with context:
        assert (u + t).item() == 3


def test_bare_op_that_does_not_compile_leaves_its_operands(moody):
    x = Tensor([0.0])
    moody.uncompilable = {"exp"}
    for _ in range(2):
        with pytest.raises(CompilationError):
            F.exp(x)
    moody.uncompilable = set()
    assert F.exp(x).item() == 1


def test_failed_launch_poisons_the_outputs_of_a_region_for_good(moody, masked):
    x = Tensor([0.0, 0.0])
    moody.failing = {"exp"}
    made = []
    with pytest.raises(ExecutionError):
        region_with(made, lambda: [F.exp(x), x + x])
    moody.failing = set()
    line = region_with.__code__.co_filename
    for t in made:
        assert t.is_real
        assert repr(t) == "Tensor(poisoned, shape=(2,), dtype=float32, device=moody:0)"
        for _ in range(2):
            with pytest.raises(ExecutionError) as caught:
                t.numpy()
            assert masked(caught.value) == (
                "the moody kernel of exp raised RuntimeError: no exp today\n"
                "  where: exp(f32[2]@moody:0) at HERE\n"
                "  fix: tensors this launch was to fill stay unusable; other work is unaffected"
            )
            assert line in caught.value.where
        with pytest.raises(ExecutionError, match="no exp today"):
            t + 1
        with pytest.raises(ExecutionError, match="no exp today"):
            asyncio.run(_await(t))
    assert x.tolist() == [0, 0]
    assert (x + 1).tolist() == [1, 1]  # other work goes on
    assert F.exp(x).tolist() == [1, 1]


async def _await(t):
    await t


def test_failed_launch_puts_the_stores_of_a_region_back(moody):
    x = Tensor([0.0, 0.0])
    moody.failing = {"exp"}

    def region():
        with EagerRealizationContext():
            y = F.exp(x)
            x[0] = 5.0
            return y

    with pytest.raises(ExecutionError):
        region()
    assert x.tolist() == [0, 0]
    moody.failing = set()
    y = region()
    assert y.tolist() == [1, 1]
    assert x.tolist() == [5, 0]


def test_failed_lazy_demand_keeps_its_sources_and_is_retried(moody):
    x = Tensor([0.0])
    with lazy():
        t = F.exp(x)
        u = t + 1
    x[0] = 100.0
    moody.failing = {"exp"}
    for _ in range(2):
        with pytest.raises(ExecutionError, match="no exp today"):
            u.item()
        assert not u.is_real
    moody.failing = set()
    assert u.item() == 2
    assert t.item() == 1


def test_failed_lazy_demand_leaves_other_tensors_alone(moody):
    with lazy() as context:
        bad = F.exp(Tensor([0.0]))
        good = Tensor([1.0]) + 1
    moody.failing = {"exp"}
    with pytest.raises(ExecutionError):
        bad.item()
    assert good.item() == 2
    with pytest.raises(ExecutionError):
        context.realize_all()
    moody.failing = set()
    context.realize_all()
    assert bad.item() == 1


def test_failed_bare_op_leaves_its_operands_and_a_store_its_target(moody):
    x = Tensor([0.0, 1.0])
    moody.failing = {"exp", "update_slice", "scatter"}
    with pytest.raises(ExecutionError, match="no exp today"):
        F.exp(x)
    with pytest.raises(ExecutionError, match="no scatter today"):
        x[0] = 5.0
    with pytest.raises(ExecutionError, match="no update_slice today"):
        x[:1] = 5.0
    moody.failing = set()
    assert x.tolist() == [0, 1]
    x[0] = 5.0
    assert x.tolist() == [5, 1]


def test_op_that_does_not_fit_records_nothing(masked):
    x, y = Tensor([1.0, 2.0]), Tensor([1.0, 2.0, 3.0])
    with lazy() as context:
        t = x + 1
        with pytest.raises(ShapeError) as caught:
            t + y
        u = t + x
    assert len(context.live()) == 2
    assert (
        masked(caught.value).splitlines()[1].startswith("  where: add(f32[2]@reference:0, f32[3]")
    )
    assert __file__ in caught.value.where
    assert u.tolist() == [3, 5]


def test_poisoned_input_of_a_region_raises_the_original_error(moody):
    moody.failing = {"exp"}
    made = []
    with pytest.raises(ExecutionError):
        region_with(made, lambda: [F.exp(Tensor([0.0]))])
    moody.failing = set()
    with pytest.raises(ExecutionError, match="no exp today"):
        region_with([], lambda: [made[0] + 1])
    with lazy():
        t = made[0] + 1
        other = Tensor([1.0]) + 1
    with pytest.raises(ExecutionError, match="no exp today"):
        t.item()
    assert other.item() == 2


@pytest.mark.parametrize("mode", ["region", "lazy", "bare"])
def test_dynamic_index_out_of_bounds_poisons_and_names_the_op(mode, masked, each_device):
    x, index = Tensor([1.0, 2.0, 3.0]), Tensor([0, 7])

    def use():
        if mode == "bare":
            return F.gather(x, index).numpy()
        with EagerRealizationContext() if mode == "region" else lazy():
            t = F.gather(x, index)
        return t.numpy()

    for _ in range(2):
        with pytest.raises(IndexBoundsError) as caught:
            use()
        assert "index 7" in str(caught.value)
        assert "gather(" in caught.value.where
    assert F.gather(x, Tensor([0, 2])).tolist() == [1, 3]


def test_impossible_allocation_names_numbers_and_the_process_lives():
    device = open_device("reference:0")
    limit = device.pool.limit
    device.pool.limit = device.pool.stats().live + 1_000_000
    try:
        with pytest.raises(OutOfMemory) as caught:
            F.ones((1000, 1000)).realize()
        for word in ("out of memory on reference:0", "requested", "live", "pooled", "limit"):
            assert word in str(caught.value)
        with lazy():
            t = F.ones((1000, 1000)) * 2
        with pytest.raises(OutOfMemory):
            t.realize()
        assert (Tensor([1.0]) + 1).item() == 2
        device.pool.limit = limit
        assert t[0, 0].item() == 2
    finally:
        device.pool.limit = limit


def test_a_donated_tensor_raises_wherever_it_is_used(in_place, masked):
    step = realta.compile(lambda t: _stored(t), name="step", donate=[0])
    x = F.zeros((4,)) + 0
    y = step(x.type)(x)
    assert y.tolist() == [1, 0, 0, 0]
    for use in (lambda: x.numpy(), lambda: x + 1, lambda: lazily(x).numpy(), lambda: x[0].item()):
        with pytest.raises(RealizationError) as caught:
            use()
        assert masked(caught.value).startswith(
            "this tensor was donated to a call, so its memory belongs to that call's results"
        )
        assert "pass a copy, or leave it out of donate=" in str(caught.value)


def _stored(t):
    u = t + 0
    u[0:1] = 1.0
    return u


def lazily(x):
    with lazy():
        return x + 1


def test_exception_in_a_lazy_block_leaves_its_tensors_realizable():
    made = []

    def block():
        with lazy():
            made.append(Tensor([1.0]) + 1)
            raise KeyError

    with pytest.raises(KeyError):
        block()
    assert made[0].item() == 2


def test_nested_contexts_survive_a_failing_inner_region(moody):
    moody.failing = {"exp"}
    x = Tensor([0.0])
    with LazyRealizationContext() as outer:
        t = x + 1
        with pytest.raises(ExecutionError):
            region_with([], lambda: [F.exp(t)])
        u = t + 1
    assert u.item() == 2
    assert np.isfinite(t.numpy()).all()
    assert not outer.is_open
