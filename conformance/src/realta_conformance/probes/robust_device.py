"""Robust-device probes: threads, memory that runs out, and tiny limits, through the contract."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from realta.backend import KernelSession, Limits, OutOfMemory
from realta.codegen.lowering import fitted
from realta.types import float32, tensor_type

from realta_conformance.case import Case
from realta_conformance.device import Device
from realta_conformance.execution import run_alone
from realta_conformance.graphs import graph_cases
from realta_conformance.oracle import same_bits
from realta_conformance.probes.probe import Finding, probe
from realta_conformance.selection import select
from realta_conformance.stepwise import run_graph

_THREADS: Final = 8
_TINY: Final = Limits(arguments=6, parameter_bytes=64, local_bytes=2048, group_size=8)
_HUGE: Final = 1 << 60


def in_threads(work: Callable[[int], str], count: int = _THREADS) -> str:
    """Runs work in threads that start at once; the first thing that goes wrong, or empty."""
    wrong: list[str] = []
    start = threading.Barrier(count)

    def run(number: int) -> None:
        start.wait()
        try:
            found = work(number)
        except Exception as error:
            found = f"{type(error).__name__}: {error}".splitlines()[0]
        if found:
            wrong.append(f"thread {number}: {found}")

    threads = [threading.Thread(target=run, args=(n,)) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return min(wrong, default="")


def _some(device: Device) -> list[Case]:
    """A few graphs of several ops that the device can run."""
    cases = list(graph_cases("fusion", device.capabilities.storage, rounds=device.exact))
    taken = select(device, [c for c in cases if c.dtype is float32 and c.elements <= 4096]).taken
    return taken[:_THREADS]


@probe("robust-device")
def threads(device: Device) -> Iterator[Finding]:
    """Any thread may compile and run: work of several at once is the work of each alone.

    If this fails, look for state of the session that one call changes and another reads: compilers,
    queues, scratch memory, tables.
    """
    cases = _some(device)
    if not cases:
        yield Finding(skipped="no graph of the level `fusion` runs here")
        return
    alone = [run_alone(device, case).results for case in cases]

    def work(number: int) -> str:
        turn = number % len(cases)
        found = run_alone(device, cases[turn])
        if found.failures:
            return next(iter(found.failures.values()))
        same = all(same_bits(a, b) for a, b in zip(found.results, alone[turn], strict=True))
        return "" if same or not device.exact else f"{cases[turn].id} gave other bits than alone"

    yield Finding(wrong=in_threads(work))


@probe("robust-device")
def shared_executable(device: Device) -> Iterator[Finding]:
    """One executable runs in several threads at once, if it says that it is reentrant.

    If this fails, set `reentrant = False`, or give each run its own scratch memory.
    """
    cases = _some(device)
    graph, arrays = (cases[0].graph(), cases[0].calls()[0][0]) if cases else (None, [])
    if graph is None:
        yield Finding(skipped="no graph of the level `fusion` runs here")
        return
    executable = device.compile(graph)
    try:
        if not executable.reentrant:
            yield Finding(skipped="the executable says that it is not reentrant")
            return
        types = [v.type for v in graph.outputs]
        wanted = run_graph(device, graph, arrays)

        def work(number: int) -> str:
            with device.holding() as hold:
                given = zip(arrays, graph.inputs, strict=True)
                inputs = [device.upload(x, v.type) for x, v in given]
                hold(inputs)
                for _ in range(4):
                    handles = device.run(executable, inputs, types)
                    hold(handles)
                    found = [device.read(h, t) for h, t in zip(handles, types, strict=True)]
                    if not all(same_bits(a, b) for a, b in zip(found, wanted, strict=True)):
                        return "the results are not those of one thread"
            return ""

        yield Finding(wrong=in_threads(work))
    finally:
        executable.close()


@probe("robust-device")
def out_of_memory(device: Device) -> Iterator[Finding]:
    """More memory than there is raises `OutOfMemory`, and the session goes on.

    If this fails, catch what the driver raises in `allocate`, at once or where memory is first
    touched, and give back what was reserved.
    """
    try:
        handle = device.session.allocate(_HUGE)
        device.session.free(handle)  # it may reserve addresses only
        yield Finding("asked", skipped="allocate promises any size; memory is taken when touched")
    except OutOfMemory:
        yield Finding("asked")
    except Exception as error:
        name = type(error).__name__
        yield Finding("asked", f"2**60 bytes raise {name}, must be OutOfMemory")
    type_ = tensor_type(float32, (1000,), "")
    array = np.arange(1000, dtype=np.float32)
    with device.holding() as hold:
        handle = device.upload(array, type_)
        hold([handle])
        same = same_bits(device.read(handle, type_), array)
    yield Finding("after", "" if same else "afterwards a buffer does not hold what was written")


@probe("robust-device")
def tiny_limits(device: Device) -> Iterator[Finding]:
    """A device of the same kind with tiny limits splits kernels and computes the same bits.

    If this fails, the kernel session plans or renders something that a small device cannot take.
    """
    session = None if device.info.exclusive else device.backend.open(device.info)
    if session is None or not isinstance(session, KernelSession):
        if session is not None:
            session.close()
        yield Finding(skipped="only sessions of the kernel tier can be given other limits")
        return
    try:
        yield from _with_limits(device, session)
    finally:
        session.close()


def _with_limits(device: Device, session: KernelSession) -> Iterator[Finding]:
    # A group narrower than the canonical tree would be another device, with a tree of its own.
    limits = replace(_TINY, group_size=max(_TINY.group_size or 1, session.profile.tree.lanes))
    session.limits = limits
    session.profile = fitted(session.profile, limits).replace(
        host_contractions=session.profile.host_contractions
    )
    small = Device(device.name, device.backend, device.info, session)
    for case in _some(device):
        graph, arrays = case.graph(), case.calls()[0][0]
        found = run_graph(small, graph, arrays)
        wanted = run_graph(device, graph, arrays)
        same = all(same_bits(a, b) for a, b in zip(found, wanted, strict=True))
        yield Finding(case.id.partition("/")[2], "" if same else "other bits than without limits")
