"""Eager regions: F.functional, abandoned work, stores put back, on_sync (spec 2)."""

import asyncio
from contextlib import suppress

import numpy as np
import pytest
import realta
from realta import F, Tensor, lazy
from realta.errors import ArgumentError, CompilationError, FusionError, RealizationError
from realta.realization_context import EagerRealizationContext


def test_abandoned_region_raises_naming_region_line_and_cause(masked):
    x = Tensor([1.0, 2.0])
    with suppress(ZeroDivisionError), EagerRealizationContext("step"):
        lost = x + x
        raise ZeroDivisionError("division by zero")
    with pytest.raises(RealizationError) as caught:
        lost.numpy()
    assert masked(caught.value) == (
        "this tensor was recorded in the eager context 'step', which an exception left before it "
        "ran (ZeroDivisionError: division by zero)\n"
        "  where: used at HERE, region opened at HERE\n"
        "  fix: compute it again; tensors made before the region are unchanged"
    )
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert str(caught.value).count(__file__) == 2
    assert repr(lost) == "Tensor(unrealized, shape=(2,), dtype=float32, device=reference:0)"
    assert lost.shape == (2,)


USES = {
    "op": lambda t: t + 1,
    "reshape": lambda t: t.reshape([2, 1]),
    "copy": lambda t: t.__copy__(),
    "tensor": lambda t: Tensor(t),
    "await": lambda t: asyncio.run(_awaited(t)),
    "explain": lambda t: realta.explain(t),
    "store": lambda t: t.__setitem__(0, 1.0),
    "lazily": lambda t: lazily(t),
}


@pytest.mark.parametrize("use", USES)
def test_every_use_of_an_abandoned_tensor_raises(use):
    with suppress(ZeroDivisionError), EagerRealizationContext("step"):
        lost = Tensor([1.0, 2.0]) + 1
        raise ZeroDivisionError("division by zero")
    with pytest.raises(RealizationError, match="an exception left before it ran") as caught:
        USES[use](lost)
    assert __file__ in caught.value.where


async def _awaited(t):
    await t


def lazily(t):
    with lazy():
        return t + 1


def test_abandoned_region_puts_stores_back():
    x = Tensor([1.0, 2.0])
    with lazy():
        pending = x + x
    with suppress(ZeroDivisionError), EagerRealizationContext():
        made = x * x
        made[0] = 5.0
        x[0] = 9.0
        pending[0] = 9.0
        x[1] = 8.0
        raise ZeroDivisionError("division by zero")
    assert x.tolist() == [1, 2]
    assert pending.tolist() == [2, 4]
    x[0] = 3.0
    assert x.tolist() == [3, 2]


def test_what_ran_before_the_exception_stays_real():
    x = Tensor([1.0])
    with suppress(ZeroDivisionError), EagerRealizationContext(on_sync="split"):
        done = x + 1
        assert done.item() == 2
        lost = done + 1
        raise ZeroDivisionError("division by zero")
    assert done.item() == 2
    with pytest.raises(RealizationError):
        lost.item()


def test_region_that_fails_at_its_end_puts_stores_back_and_may_be_retried(moody):
    moody.uncompilable = {"exp"}
    x = Tensor([1.0, 2.0])
    made = []

    def region():
        with EagerRealizationContext():
            made.append(F.exp(x))
            x[0] = 9.0

    with pytest.raises(CompilationError, match="no code for exp"):
        region()
    assert x.tolist() == [1, 2]
    moody.uncompilable = set()
    np.testing.assert_allclose(made[0].numpy(), np.exp([1, 2]), rtol=1e-6)


def test_realizing_inside_a_region_is_an_error(masked):
    with EagerRealizationContext("step"):
        t = Tensor([1.0]) + 1
        with pytest.raises(RealizationError) as caught:
            t.item()
    assert masked(caught.value) == (
        "a tensor of the eager context 'step' is realized inside it\n"
        "  where: HERE, region opened at HERE\n"
        '  fix: use the value behind the region, or open it with on_sync="split"'
    )
    assert t.item() == 2


def test_awaiting_inside_a_region_names_the_line_of_the_await():
    async def main():
        with EagerRealizationContext("step"):
            t = Tensor([1.0]) + 1
            await t

    with pytest.raises(RealizationError) as caught:
        asyncio.run(main())
    assert caught.value.where.startswith(__file__)


def test_real_tensors_may_be_read_inside_a_region():
    x = Tensor([3.0])
    with EagerRealizationContext():
        t = x + 1 if x.item() > 2 else x - 1
    assert t.item() == 4


def test_on_sync_split_runs_what_is_recorded_and_goes_on(launches):
    with EagerRealizationContext("step", on_sync="split") as context:
        a = Tensor([1.0]) + Tensor([1.0])
        b = a + a
        assert a.item() == 2
        assert launches() == 2
        assert b.is_real
        c = b + b
        assert not c.is_real
    assert c.item() == 8
    assert launches() == 1
    (note,) = realta.explain(context).notes
    assert note.startswith(f"split: a value was needed at {__file__}:")


def test_inner_context_reading_an_open_region_follows_its_on_sync():
    with EagerRealizationContext("outer"):
        a = Tensor([1.0]) + 1
        with lazy():
            with pytest.raises(RealizationError, match="the eager context 'outer' is realized"):
                a + 1
    with EagerRealizationContext("outer", on_sync="split"):
        a = Tensor([1.0]) + 1
        with EagerRealizationContext():
            b = a + 1
        assert b.is_real
        c = a + b
    assert (a.item(), b.item(), c.item()) == (2, 3, 5)


def test_inner_context_reading_an_open_lazy_block_demands_just_that_tensor(launches):
    x = Tensor([1.0])
    with lazy():
        a = x + x
        other = F.exp(x)
        with EagerRealizationContext():
            b = a + a
        assert a.is_real
        assert not other.is_real
        c = a + other
    assert launches() == 2
    assert b.item() == 4
    assert c.item() == pytest.approx(2 + np.e)


def test_tensor_of_one_lazy_block_is_realized_in_another():
    with lazy():
        a = Tensor([1.0]) + 1
        other = Tensor([1.0]) + 2
    with lazy():
        b = a + 1
    assert a.is_real
    assert not other.is_real
    assert not b.is_real
    assert b.item() == 3


def test_outside_movement_stays_pending_and_other_ops_realize():
    with lazy():
        t = Tensor([[1.0, 2.0]]) + 1
    moved = t.reshape([2, 1])
    turned = moved.permute([1, 0]).cast("float64")
    assert not t.is_real
    assert not turned.is_real
    assert turned.state.ctx is t.state.ctx
    added = moved + 1
    assert added.is_real
    assert turned.tolist() == [[2, 3]]


def test_functional_is_one_region(launches):
    @F.functional
    def f(x, y):
        return {"sum": x + y, "pair": [x * y, (x - y,)]}

    x, y = Tensor([3.0]), Tensor([2.0])
    found = f(x, y=y)
    assert launches() == 3
    assert found["sum"].item() == 5
    assert found["pair"][0].item() == 6
    assert found["pair"][1][0].item() == 1
    with lazy():
        joined = f(x, y)["sum"]
    assert not joined.is_real
    assert joined.item() == 5


def test_functional_with_an_exception_runs_nothing(launches):
    @F.functional
    def f(x):
        _ = x + x
        raise KeyError("here")

    with pytest.raises(KeyError):
        f(Tensor([1.0]))
    assert launches() == 0


def test_functional_on_sync(launches):
    def body(x):
        y = x + x
        return y + 1 if y.item() > 1 else y - 1

    with pytest.raises(RealizationError, match="the eager context 'body' is realized inside it"):
        F.functional(body)(Tensor([1.0]))
    assert F.functional(on_sync="split")(body)(Tensor([1.0])).item() == 3


def test_functional_policies():
    def body(x):
        return F.sort(F.exp(x))

    must = F.functional(fuse="must")(body)
    with pytest.raises(FusionError, match="sort"):
        realta.explain(must, Tensor([1.0, 2.0]))
    assert "never" in str(realta.explain(F.functional(fuse="never")(body), Tensor([1.0])))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"fuse": "maybe"}, "functional has no fuse='maybe'\n  fix: use one of may, must, never"),
        ({"numerics": "slow"}, "functional has no numerics='slow'\n  fix: use one of exact, fast"),
        ({"on_sync": "wait"}, "functional has no on_sync='wait'\n  fix: use one of error, split"),
    ],
)
def test_functional_refuses_unknown_choices(options, text):
    with pytest.raises(ArgumentError) as caught:
        F.functional(**options)
    assert "\n".join(x for x in str(caught.value).splitlines() if "where:" not in x) == text


def test_functional_refuses_functions_that_suspend():
    async def coroutine(x):
        return x

    with pytest.raises(ArgumentError, match="is async or a generator"):
        F.functional(coroutine)


def test_functional_returning_its_argument():
    x = Tensor([1.0])
    assert F.functional(lambda t: t)(x) is x
