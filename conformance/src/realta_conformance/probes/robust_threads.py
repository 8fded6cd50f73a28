"""Robust probes of threads, tasks and interrupts through the user's API."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, Final

import numpy as np
import realta
from realta.runtime import CompileEvent, add_compile_wrapper, remove_wrapper

from realta_conformance.device import Device
from realta_conformance.probes.probe import Finding, probe
from realta_conformance.probes.robust_device import in_threads

_VALUES: Final = np.arange(24, dtype=np.float32).reshape(4, 6)
_THREADS: Final = 16


def lacks(device: Device) -> str:
    """What the probes of this level need and the device does not declare."""
    table = device.capabilities.ops
    missing = [op for op in ("add", "mul") if realta.float32 not in table.get(op, frozenset())]
    return f"no {' and '.join(missing)} for float32" if missing else ""


def tensor(device: Device, values: Any = _VALUES) -> realta.Tensor:
    """Values on the device."""
    return realta.Tensor(values, device=device.name)


@probe("robust", unless=lacks)
def sixteen_threads_compile_one_function(device: Device) -> Iterator[Finding]:
    """Sixteen threads that compile and call one function at once all get its results.

    If this fails, look for state that compiling shares between threads.
    """
    events: list[str] = []

    def count(event: CompileEvent, call: Any) -> Any:
        events.append(event.device)
        return call()

    def sixteen(x: Any) -> Any:
        return (x * x + x) * x

    add_compile_wrapper(count)
    try:

        def work(number: int) -> str:
            x = tensor(device, _VALUES + number)
            found = realta.compile(sixteen)(x.type)(x).numpy()
            wanted = ((_VALUES + number) * (_VALUES + number) + _VALUES + number) * (
                _VALUES + number
            )
            return "" if np.array_equal(found, wanted) else "wrong values"

        yield Finding("values", in_threads(work, _THREADS))
    finally:
        remove_wrapper(count)
    mine = events.count(device.name)
    yield Finding("once", f"compiled {mine} times" if mine > 1 else "")


@probe("robust", unless=lacks)
def contexts_belong_to_their_thread(device: Device) -> Iterator[Finding]:
    """A lazy block in one thread leaves other threads eager.

    If this fails, the fault is in core unless other devices pass.
    """
    inside, seen = threading.Event(), threading.Event()
    found: dict[str, Any] = {}

    def lazily() -> None:
        with realta.lazy():
            t = tensor(device) + 1.0
            inside.set()
            seen.wait()
            found["lazy"] = t.is_real
        found["value"] = t.numpy()

    thread = threading.Thread(target=lazily)
    thread.start()
    inside.wait()
    found["eager"] = (tensor(device) + 1.0).is_real
    seen.set()
    thread.join()
    yield Finding("eager", "" if found["eager"] else "the other thread became lazy")
    yield Finding("lazy", "a value of the lazy block became real" if found["lazy"] else "")
    same = np.array_equal(found["value"], _VALUES + 1)
    yield Finding("values", "" if same else f"{found['value']!r}")


@probe("robust", unless=lacks)
def contexts_belong_to_their_task(device: Device) -> Iterator[Finding]:
    """A lazy block of one task that awaits leaves other tasks eager.

    If this fails, the fault is in core unless other devices pass.
    """

    async def lazily(go: asyncio.Event) -> bool:
        with realta.lazy():
            t = tensor(device) + 1.0
            go.set()
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            return t.is_real

    async def both() -> tuple[bool, bool]:
        go = asyncio.Event()
        task = asyncio.create_task(lazily(go))
        await go.wait()
        eager = (tensor(device) + 1.0).is_real
        return await task, eager

    pending, eager = asyncio.run(both())
    yield Finding("lazy", "a value of the lazy block became real" if pending else "")
    yield Finding("eager", "" if eager else "the other task became lazy")


@probe("robust", unless=lacks)
def cancelling_an_await(device: Device) -> Iterator[Finding]:
    """Cancelling an await abandons the wait; the value can be had all the same.

    If this fails, the fault is in core unless other devices pass.
    """
    with realta.lazy():
        t = tensor(device) * 3.0

    async def value() -> Any:
        return await t

    async def main() -> str:
        task = asyncio.create_task(value())
        await asyncio.sleep(0)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        await t
        return ""

    yield Finding("again", asyncio.run(main()))
    same = np.array_equal(t.numpy(), _VALUES * 3)
    yield Finding("values", "" if same else f"{t.numpy()!r}")


@probe("robust")
def interrupts(device: Device) -> Iterator[Finding]:
    """Ctrl-C during work raises `KeyboardInterrupt` and leaves a process that computes.

    If this fails, look for locks that an interrupt leaves taken, and for handles that it loses.
    """
    reason = lacks(device)
    if threading.current_thread() is not threading.main_thread():
        reason = "the suite does not run in the main thread"
    if reason:
        yield Finding(skipped=reason)
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    sent = threading.Event()

    def press() -> None:
        time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)
        sent.set()

    thread = threading.Thread(target=press)
    interrupted = False
    try:
        thread.start()
        while not sent.is_set():
            _long_work(device)
        _long_work(device)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)
    yield Finding("raised", "" if interrupted else "KeyboardInterrupt did not come")
    found = (tensor(device) * 2.0 + 1.0).numpy()
    same = np.array_equal(found, _VALUES * 2 + 1)
    yield Finding("after", "" if same else f"{found!r}")


def _long_work(device: Device) -> None:
    x = tensor(device, np.ones((512, 512), np.float32))
    ((x * x + x) * x + x).numpy()
