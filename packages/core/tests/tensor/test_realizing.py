"""Awaiting and realizing: work is done once, loops go on, cancelled waits (spec 1)."""

import asyncio
import threading

import pytest
from realta import F, Tensor, lazy
from realta.context import TracedGraph
from realta.errors import ExecutionError, RealizationError
from realta.realization_context import LazyRealizationContext


def pending(moody):
    with lazy():
        return F.exp(Tensor([0.0, 0.0]))


def test_await_t_and_await_t_realize_return_the_tensor():
    async def main():
        with lazy():
            a = Tensor([1.0]) + 1
            b = a + 1
        assert await a is a
        assert a.is_real
        assert await b.realize is b
        assert await a.realize is a
        return b.item()

    assert asyncio.run(main()) == 3


def test_calls_return_the_tensor():
    with lazy():
        a = Tensor([1.0]) + 1
        b = Tensor([1.0]) + 1
    assert a.realize() is a
    assert b.materialize() is b
    assert repr(a.realize) == "<realize: call it, as in t.realize(), or await it>"


def test_concurrent_awaits_do_the_work_once(moody):
    t = pending(moody)

    async def main():
        await asyncio.gather(*[t.realize for _ in range(8)], *[_await(t) for _ in range(8)])

    asyncio.run(main())
    assert moody.calls["exp"] == 1
    assert t.tolist() == [1, 1]


async def _await(t):
    return await t


def test_concurrent_threads_do_the_work_once(moody):
    t = pending(moody)
    moody.blocking = {"exp"}
    first = threading.Thread(target=t.realize)
    first.start()
    assert moody.blocked.wait(20)
    others = [threading.Thread(target=t.realize) for _ in range(4)]
    for thread in others:
        thread.start()
    for thread in others:
        thread.join(0.05)  # long enough to do the work as well, if they did
    moody.go_on.set()
    for thread in (first, *others):
        thread.join()
    assert moody.calls["exp"] == 1
    assert t.tolist() == [1, 1]


def test_a_tensor_that_another_thread_is_just_settling_is_not_real_yet():
    t = object.__new__(Tensor)
    t._storage = t._value = t._context = None
    assert t._settle() is False


def test_await_does_not_block_the_loop(moody):
    t = pending(moody)
    moody.blocking = {"exp"}

    async def main():
        task = asyncio.create_task(_await(t))
        while not moody.blocked.is_set():
            await asyncio.sleep(0)
        for _ in range(5):
            await asyncio.sleep(0)
        assert not task.done()
        moody.go_on.set()
        await task

    asyncio.run(main())
    assert t.tolist() == [1, 1]


def test_cancelling_an_await_abandons_the_wait_and_not_the_work(moody):
    t = pending(moody)
    moody.blocking = {"exp"}

    async def main():
        task = asyncio.create_task(_await(t))
        while not moody.blocked.is_set():
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not t.is_real
        moody.go_on.set()
        await t

    asyncio.run(main())
    assert moody.calls["exp"] == 1
    assert t.tolist() == [1, 1]


def test_cancelling_an_await_that_waits_for_a_worker_does_the_work_too(moody):
    busy = [pending(moody) for _ in range(4)]
    t = pending(moody)
    moody.blocking = {"exp"}

    async def main():
        waiting = [asyncio.create_task(_await(b)) for b in busy]
        while moody.calls["exp"] < len(busy):
            await asyncio.sleep(0.001)
        task = asyncio.create_task(_await(t))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        moody.go_on.set()
        await asyncio.gather(*waiting)
        for _ in range(2000):
            if t.is_real:
                return
            await asyncio.sleep(0.001)

    asyncio.run(main())
    assert t.is_real


def test_more_awaits_than_workers_all_end(moody):
    contexts = [LazyRealizationContext() for _ in range(20)]
    tensors = []
    for n, context in enumerate(contexts):
        with context:
            tensors.append(F.exp(Tensor([0.0])) + n)
    # Each reads the one before, which belongs to another context.
    with lazy():
        total = sum(tensors[1:], tensors[0])

    async def main():
        await asyncio.gather(*[_await(t) for t in (total, *tensors)])

    asyncio.run(main())
    assert total.item() == 20 + sum(range(20))


def test_synchronous_forms_work_in_a_running_loop():
    async def main():
        with lazy():
            t = Tensor([1.0]) + 1
            u = Tensor([1.0]) + 2
            v = Tensor([1.0]) + 3
        t.realize()
        return t.item(), float(u), v.numpy()[0]

    assert asyncio.run(main()) == (2, 3, 4)


def test_awaits_inside_an_open_lazy_block():
    async def main():
        with lazy():
            a = Tensor([1.0]) + 1
            await a
            b = a + 1
            assert a.is_real
            assert not b.is_real
        return b.item()

    assert asyncio.run(main()) == 3


def test_failing_await_raises_and_may_be_retried(moody):
    t = pending(moody)
    moody.failing = {"exp"}

    async def main():
        with pytest.raises(ExecutionError, match="no exp today"):
            await t
        moody.failing = set()
        return (await t).tolist()

    assert asyncio.run(main()) == [1, 1]


def test_awaiting_a_tensor_of_a_graph_names_the_line_of_the_await():
    graph = TracedGraph("double")
    with graph:
        t = F.ones((2,)) * 2

    async def main():
        await t

    with pytest.raises(RealizationError, match="a tensor of the graph 'double'") as caught:
        asyncio.run(main())
    line = main.__code__.co_firstlineno + 1
    assert caught.value.where == f"{__file__}:{line}"


def test_awaiting_a_real_tensor_needs_no_thread():
    t = Tensor([1.0])
    waiting = t.__await__()
    with pytest.raises(StopIteration) as ended:
        next(waiting)
    assert ended.value.value is t
