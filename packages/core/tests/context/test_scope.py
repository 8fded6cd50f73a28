"""Which context is current: nesting, threads, tasks, leaving out of order (spec 2)."""

import asyncio
import contextlib
import contextvars
import threading

import numpy as np
import pytest
from realta import F, Tensor, lazy
from realta.errors import ArgumentError, RealizationError
from realta.realization_context import (
    EagerRealizationContext,
    GraphRealizationContext,
    LazyRealizationContext,
    ensure_context,
)
from realta.tensor import RealizationContext, current_realization_context, realization_context


def in_thread(function):
    """Runs a function in another thread; returns its result or raises its error."""
    found = []

    def work():
        try:
            found.append((function(), None))
        except BaseException as error:
            found.append((None, error))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    result, error = found[0]
    if error is not None:
        raise error
    return result


def test_contexts_nest():
    with lazy("outer") as outer:
        assert current_realization_context() is outer
        with EagerRealizationContext() as inner:
            assert current_realization_context() is inner
        assert current_realization_context() is outer
    assert current_realization_context(None) is None


def test_no_context_is_a_lookup_error():
    with pytest.raises(LookupError, match=r"open one, as in `with lazy\(\):`"):
        current_realization_context()


def test_with_ctx_and_realization_context_together_work_as_in_max():
    context = LazyRealizationContext()
    with context, realization_context(context):
        t = Tensor([1.0]) + 1.5
    assert current_realization_context(None) is None
    assert t.item() == 2.5


def test_every_context_follows_the_protocol():
    for context in (
        EagerRealizationContext(),
        LazyRealizationContext(),
        GraphRealizationContext(name="g"),
    ):
        assert isinstance(context, RealizationContext)


def test_create_unrealized_and_sources():
    x = Tensor([1.0, 2.0])
    context = LazyRealizationContext()
    source = context.add_source(x)
    assert context.add_source(x) is source
    assert context.add_mutable_source(x) is source
    assert x.is_real
    with context:
        y = x + x
    assert y.state.values[0].operands == (source, source)
    again = context.create_unrealized(y.state.values[0])
    assert isinstance(again, Tensor)
    assert again.tolist() == [2, 4]
    with context:
        z = F.exp(y)
    with pytest.raises(RealizationError, match="only a real tensor can be a source"):
        context.add_source(z)


def test_lazy_context_is_entered_again_and_goes_on_collecting():
    context = LazyRealizationContext()
    with context:
        a = Tensor([1.0]) + Tensor([1.0])
    with context:
        b = a + a
        with context:
            c = b + a
        assert current_realization_context() is context
    assert {t.state.ctx for t in (a, b, c)} == {context}
    assert c.item() == 6
    with context:
        d = c + b
    assert d.item() == 10


def test_eager_context_starts_a_new_region_each_time(launches):
    context = EagerRealizationContext()
    with context:
        a = Tensor([1.0]) + Tensor([1.0])
    assert launches() == 1
    with context:
        b = a + a
    assert launches() == 1
    assert b.item() == 4


def test_open_eager_context_cannot_be_entered_again(masked):
    context = EagerRealizationContext("step")
    with context:
        with pytest.raises(RealizationError) as caught:
            context.__enter__()
        t = Tensor([1.0]) + 1
    assert masked(caught.value) == (
        "the eager context 'step' is open already\n"
        "  where: HERE, opened at HERE\n"
        "  fix: use a new EagerRealizationContext for an inner region"
    )
    assert t.item() == 2


def test_open_context_cannot_be_entered_from_another_thread(masked):
    context = LazyRealizationContext("shared")
    with context:
        with pytest.raises(RealizationError) as caught:
            in_thread(context.__enter__)
        t = Tensor([1.0]) + 1
    assert masked(caught.value) == (
        "the lazy context 'shared' is open in another thread\n"
        "  where: HERE, opened at HERE\n"
        "  fix: open a context of its own in each thread"
    )
    assert t.item() == 2

    def later():
        with context:
            return (Tensor([2.0]) + 1).item()

    assert in_thread(later) == 3  # once it is closed, another thread may


def test_new_thread_has_no_context():
    with lazy():
        t = in_thread(lambda: Tensor([1.0]) + 1)
    assert t.is_real


def test_leaving_out_of_order_raises_and_leaves_nothing_open(masked):
    outer, inner = LazyRealizationContext("outer"), LazyRealizationContext("inner")
    outer.__enter__()
    inner.__enter__()
    with pytest.raises(RealizationError) as caught:
        outer.__exit__(None, None, None)
    assert masked(caught.value) == (
        "the lazy context 'outer' is left while the lazy context 'inner' is current\n"
        "  where: opened at HERE\n"
        "  fix: leave contexts in the reverse order of entering; nest `with` blocks"
    )
    assert not outer.is_open
    assert current_realization_context() is inner
    inner.__exit__(None, None, None)
    assert current_realization_context(None) is None
    with outer:
        assert (Tensor([1.0]) + 1).item() == 2


def test_eager_region_left_out_of_order_is_abandoned():
    outer, inner = EagerRealizationContext("outer"), EagerRealizationContext("inner")
    outer.__enter__()
    a = Tensor([1.0]) + 1
    inner.__enter__()
    b = Tensor([1.0]) + 2
    with pytest.raises(RealizationError, match="is left while"):
        outer.__exit__(None, None, None)
    inner.__exit__(None, None, None)
    assert b.item() == 3
    with pytest.raises(RealizationError, match="recorded in the eager context 'outer'"):
        a.item()


def test_realization_context_left_out_of_order_raises():
    with lazy() as context:
        block = realization_context(context)
        block.__enter__()
        with lazy():
            with pytest.raises(RealizationError, match="is left while"):
                block.__exit__(None, None, None)
        assert current_realization_context() is context


def test_context_left_in_another_thread_raises_and_stays_open():
    context = LazyRealizationContext()
    with context:
        with pytest.raises(RealizationError, match="thread or task that did not enter it"):
            in_thread(lambda: context.__exit__(None, None, None))
        assert context.is_open
        t = Tensor([1.0]) + 1
        assert not t.is_real


def test_tasks_inherit_the_context_and_are_kept_apart():
    async def build(start, order):
        with lazy(f"task {start}") as context:
            t = Tensor([float(start)]) + 1
            order.append(start)
            await asyncio.sleep(0)
            t = t * 2
            assert current_realization_context() is context
            order.append(start)
            await asyncio.sleep(0)
        assert not t.is_real
        return await t

    async def main():
        order = []
        with lazy("main") as context:
            tasks = [asyncio.create_task(build(n, order)) for n in range(4)]
            inherited = asyncio.create_task(current())
            found = await asyncio.gather(*tasks)
            assert await inherited is context
            assert current_realization_context() is context
        return order, [t.item() for t in found]

    async def current():
        return current_realization_context()

    order, values = asyncio.run(main())
    assert order == [0, 1, 2, 3, 0, 1, 2, 3]
    assert values == [2, 4, 6, 8]


def test_one_lazy_context_open_in_two_tasks_at_once():
    context = LazyRealizationContext()

    async def use(steps, value):
        with context:
            t = Tensor([value]) + 1
            for _ in range(steps):
                await asyncio.sleep(0)
        assert current_realization_context(None) is None
        return t

    async def main():
        # The first to enter is the first to leave: they do not nest.
        return await asyncio.gather(use(1, 1.0), use(3, 2.0))

    a, b = asyncio.run(main())
    assert not context.is_open
    assert (a.item(), b.item()) == (2, 3)


def test_context_left_in_another_task_raises():
    context = LazyRealizationContext()

    async def leave():
        context.__exit__(None, None, None)

    async def main():
        with context:
            with pytest.raises(RealizationError, match="thread or task that did not enter it"):
                await asyncio.create_task(leave())
            assert context.is_open

    asyncio.run(main())
    assert not context.is_open


def test_work_in_a_copied_context_records_into_the_open_block():
    async def main():
        with lazy() as context:
            found = await asyncio.gather(
                *[asyncio.to_thread(lambda n=n: Tensor([float(n)]) + 1) for n in range(8)]
            )
        assert {t.state.ctx for t in found} == {context}
        return [t.item() for t in found]

    assert asyncio.run(main()) == [1, 2, 3, 4, 5, 6, 7, 8]


def test_threads_record_and_realize_in_one_block_at_once():
    x = Tensor(np.arange(4, dtype=np.float32))
    found = {}

    def work(n):
        total = x
        for step in range(150):
            total = total + x
            if step % 40 == n:
                total.realize()
        found[n] = total

    with LazyRealizationContext() as context:
        shared = x * x
        threads = [
            threading.Thread(target=contextvars.copy_context().run, args=(work, n))
            for n in range(8)
        ]
        for thread in threads:
            thread.start()
        shared.realize()
        context.realize_all()
        for thread in threads:
            thread.join()
    assert [t.tolist() for t in found.values()] == [[0, 151, 302, 453]] * 8
    assert shared.tolist() == [0, 1, 4, 9]


def test_ensure_context_opens_one_only_where_there_is_none(launches):
    with ensure_context():
        a = Tensor([1.0]) + Tensor([1.0])
        b = a + a
        assert not b.is_real
        with ensure_context():
            c = b + a
        assert not c.is_real
    assert launches() == 3
    assert c.item() == 6
    with lazy() as context:
        with ensure_context():
            assert current_realization_context() is context


def test_exit_stack_and_lines_of_errors():
    with contextlib.ExitStack() as stack:
        context = stack.enter_context(EagerRealizationContext("stacked"))
        assert context.opened_at.file == __file__
        block = stack.enter_context(lazy())
        assert block.opened_at.file == __file__


def test_lazy_decorates_functions():
    @lazy("decorated")
    def build(value):
        return Tensor([value]) + 1

    first, second = build(1.0), build(2.0)
    assert first.state.ctx is not second.state.ctx
    assert first.state.ctx.name == "decorated"
    assert (first.item(), second.item()) == (2, 3)


@pytest.mark.parametrize("kind", ["coroutine", "generator"])
def test_lazy_refuses_functions_that_suspend(kind, masked):
    async def coroutine():
        pass

    def generator():
        yield

    function = {"coroutine": coroutine, "generator": generator}[kind]
    with pytest.raises(ArgumentError) as caught:
        lazy()(function)
    assert masked(caught.value).splitlines()[1:] == [
        "  where: HERE",
        "  fix: decorate an ordinary function that it calls with @lazy()",
    ]
    assert f"{kind} is async or a generator, so its body is not one block" in str(caught.value)


def test_lazy_refuses_what_is_no_function():
    with pytest.raises(ArgumentError, match=r"lazy\(\) decorates functions, not int"):
        lazy()(3)
