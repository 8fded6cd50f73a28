"""Robust probes of state: pickles, leaks, memory that runs out, launches that fail."""

from __future__ import annotations

import copy
import gc
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, Final

import numpy as np
import realta
from realta.backend import EMPTY, DeviceFault, Executable, Graph, Handle, Options, OutOfMemory
from realta.errors import ExecutionError
from realta.runtime import OpenDevice, resolve_device

from realta_conformance.device import Device
from realta_conformance.probes.probe import Finding, probe
from realta_conformance.probes.robust_threads import lacks, tensor

_VALUES: Final = np.arange(24, dtype=np.float32).reshape(4, 6)
_ROUNDS: Final = 40
_THIRD: Final = 3


def _same(found: Any, wanted: Any, what: str) -> str:
    return "" if np.array_equal(np.asarray(found), wanted) else f"{what}: got {found!r}"


@probe("robust", unless=lacks)
def pickling(device: Device) -> Iterator[Finding]:
    """Tensors, real ones and others, survive pickling and copying with their values and device.

    If this fails, the fault is in core unless other devices pass.
    """
    x = tensor(device)
    with realta.lazy():
        pending = x + 1.0
    for name, given, wanted in (("real", x, _VALUES), ("pending", pending, _VALUES + 1)):
        back = pickle.loads(pickle.dumps(given))
        yield Finding(name, _same(back.numpy(), wanted, "after pickling"))
        yield Finding(f"{name}-device", "" if str(back.device) == device.name else f"{back.device}")
        yield Finding(f"{name}-copy", _same(copy.deepcopy(given).numpy(), wanted, "a deep copy"))


def _work(device: Device, number: int) -> None:
    x = tensor(device, _VALUES + number)
    (x * x + x).numpy()
    with realta.lazy():
        y = x + 1.0
    y.numpy()
    with realta.lazy():
        x * 2.0  # nobody asks for it


def _census(opened: OpenDevice) -> tuple[int, int]:
    """Objects of the library and bytes that are alive."""
    gc.collect()
    ours = sum(str(type(o).__module__).startswith("realta.") for o in gc.get_objects())
    return ours, opened.pool.stats().live


@probe("robust", unless=lacks)
def leaks(device: Device) -> Iterator[Finding]:
    """Work that is done leaves neither objects nor bytes behind.

    If this fails, look for a table that keeps graphs, handles or executables alive.
    """
    opened = resolve_device(device.name)
    for number in range(_ROUNDS):
        _work(device, number)
    before = _census(opened)
    for number in range(_ROUNDS):
        _work(device, number)
    after = _census(opened)
    # A few caches may still fill up; what leaks grows with every round.
    grown = after[0] - before[0]
    yield Finding("objects", f"{grown} more in {_ROUNDS} rounds" if grown >= _ROUNDS else "")
    more = after[1] - before[1]
    yield Finding("bytes", f"{more} more in {_ROUNDS} rounds" if more > 0 else "")


@probe("robust", unless=lacks)
def memory_runs_out(device: Device) -> Iterator[Finding]:
    """What does not fit raises `OutOfMemory` with the numbers, and what fits afterwards works.

    If this fails, check that nothing is counted as live that could not be allocated.
    """
    pool = resolve_device(device.name).pool
    x = tensor(device, np.ones(1 << 16, np.float32))
    (x + x).numpy()
    pool.trim()
    gc.collect()
    before, limit = pool.stats().live, pool.limit
    pool.limit = before + (1 << 17)
    try:
        kept = [x]
        wrong = "256 KiB more than the limit were allocated"
        for _ in range(4):
            kept.append(kept[-1] * x)
            kept[-1].numpy()
    except OutOfMemory as error:
        wrong = "" if "limit" in str(error) else f"the message has no numbers: {error}"
    except Exception as error:
        wrong = f"{type(error).__name__}, must be OutOfMemory"
    finally:
        pool.limit = limit
    if wrong.startswith("256") and not getattr(device.session, "pooled", True):
        yield Finding("raised", skipped="handles own no fixed buffer, so nothing is counted")
    else:
        yield Finding("raised", wrong)
    del kept
    gc.collect()
    yield Finding("recovered", _same((x + x).numpy(), np.full(1 << 16, 2.0), "afterwards"))
    after = pool.stats().live
    yield Finding("bytes", f"live was {before}, is {after}" if after > before else "")


class _Failing:
    """An executable whose third run fails on the device."""

    def __init__(self, inner: Executable, runs: list[int]) -> None:
        self.inner = inner
        self.runs = runs
        self.reentrant = inner.reentrant
        self.temporary_bytes = inner.temporary_bytes
        self.kernels = inner.kernels

    def run(
        self, inputs: Sequence[Handle], outputs: Sequence[Handle], *,
        donated: frozenset[int] = frozenset(), dims: Mapping[str, int] = EMPTY,
    ) -> None:  # fmt: skip
        self.runs.append(1)
        if len(self.runs) == _THIRD:
            raise DeviceFault("the third launch failed", kind="launch", detail="made to fail")
        self.inner.run(inputs, outputs, donated=donated, dims=dims)

    def close(self) -> None:
        self.inner.close()


class _FailingSession:
    """A session whose executables fail at the third launch; the rest is the session's own."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        self.runs: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def compile(self, graph: Graph, options: Options) -> Executable:
        return _Failing(self.inner.compile(graph, options), self.runs)


@contextmanager
def _failing(opened: OpenDevice) -> Iterator[None]:
    """A scope in which the third launch of what is compiled in it fails."""
    session = opened.session
    opened.programs.clear()
    opened.session = _FailingSession(session)
    try:
        yield
    finally:
        opened.session = session
        opened.programs.clear()


@probe("robust", unless=lacks)
def the_third_launch_fails(device: Device) -> Iterator[Finding]:
    """A failed launch poisons its own results, at every wait; everything else goes on.

    If this fails, the fault is in core unless other devices pass.
    """
    x = tensor(device)
    with _failing(resolve_device(device.name)):
        step = realta.compile(lambda t: t * t + 5.0)(x.type)
        good = [step(x), step(x)]
        told = _error_of(lambda: step(x).numpy())
        after = step(x)
        kept = after.numpy(copy=True)
    wanted = _VALUES * _VALUES + 5
    raised = "third launch failed" in told
    yield Finding("raised", "" if raised else f"got {told or 'no error'}")
    for name, found in (("before", good[0].numpy()), ("next", good[1].numpy()), ("after", kept)):
        yield Finding(name, _same(found, wanted, "another result"))
    yield Finding("device", _same((x + 1.0).numpy(), _VALUES + 1, "afterwards"))


def _error_of(call: Any) -> str:
    try:
        call()
    except ExecutionError as error:
        return str(error)
    return ""
