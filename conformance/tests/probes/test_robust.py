"""Robust probes: what they promise holds on the reference, and each notices what breaks it."""

import os
import signal
import threading

import numpy as np
import pytest
from realta.backend import OpByOpBackend
from realta.backend.reference import Reference
from realta.plugins import register_backend, unregister_backend
from realta.types import bool_, float32, int32, int64
from realta_conformance.device import open_backend
from realta_conformance.levels import by_name
from realta_conformance.opening import open_named
from realta_conformance.probes import (
    probes_of,
    robust_processes,
    robust_state,
    robust_threads,
)
from realta_conformance.running import probe_outcomes

INSTALLED = ("processes", "caches")
HERE = [p.name for v in ("robust-device", "robust") for p in probes_of(v)]


class Broken(OpByOpBackend):
    """Adds and multiplies on the reference, unless told otherwise."""

    dtypes = frozenset({bool_, int32, int64, float32})

    def __init__(self, name="broken"):
        self.name = name
        self.kernels = dict(Reference.kernels)


@pytest.fixture
def broken(request):
    # Core keeps devices open, so each test has one of its own name.
    backend = Broken(f"broken{abs(hash(request.node.name))}")
    register_backend(backend)
    yield backend
    unregister_backend(backend.name)


def outcomes(device, name):
    level = next(v for v in ("robust-device", "robust") if name in {p.name for p in probes_of(v)})
    found = list(probe_outcomes(device, level, (name,)))
    device.close()
    return found


def wrong(found):
    return {o.id.partition("/")[2]: o.reason for o in found if o.kind == "failed"}


@pytest.mark.parametrize("name", [n for n in HERE if n not in INSTALLED])
def test_it_holds_on_the_reference(name):
    found = outcomes(open_named("reference:0"), name)
    assert found
    assert not wrong(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", INSTALLED)
def test_it_holds_in_other_processes(name):
    found = outcomes(open_named("reference:0"), name)
    assert found[0].kind == "passed"
    assert not wrong(found)


def test_the_levels_are_asked_for_in_order():
    assert by_name("robust").needs == ("contexts",)
    assert by_name("robust").kind == "integration"
    assert by_name("robust-device").kind == "device"


def test_a_session_that_only_one_thread_may_use_is_found_out():
    busy = threading.Lock()

    def alone(node, *operands):
        if not busy.acquire(blocking=False):
            raise RuntimeError("another thread is computing")
        try:
            pause.wait(0.001)
            return Reference.kernels[node.op.name](node, *operands)
        finally:
            busy.release()

    pause = threading.Event()
    backend = Broken()
    backend.kernels = dict.fromkeys(Reference.kernels, alone)
    found = wrong(outcomes(open_backend(backend), "threads"))
    assert "another thread is computing" in found["threads"]


def test_memory_errors_of_another_kind_are_found_out(monkeypatch):
    device = open_backend(Broken())

    def allocate(nbytes):
        if nbytes > 1 << 40:
            raise MemoryError("no memory")
        return original(nbytes)

    original = device.session.allocate
    monkeypatch.setattr(device.session, "allocate", allocate)
    found = wrong(outcomes(device, "out-of-memory"))
    assert found == {"out-of-memory-asked": "2**60 bytes raise MemoryError, must be OutOfMemory"}


def test_a_leak_of_tensors_is_found_out(monkeypatch):
    kept = []

    def work(device, number):
        kept.append(robust_threads.tensor(device) + 1.0)

    monkeypatch.setattr(robust_state, "_work", work)
    found = wrong(outcomes(open_named("numpy:0"), "leaks"))
    assert "leaks-objects" in found


def test_an_interrupt_that_is_swallowed_is_found_out(broken):
    def deaf(node, *operands):
        try:
            return Reference.kernels[node.op.name](node, *operands)
        except KeyboardInterrupt:
            return Reference.kernels[node.op.name](node, *operands)

    def ignoring(node, *operands):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        return Reference.kernels[node.op.name](node, *operands)

    broken.kernels["mul"] = ignoring
    broken.kernels["add"] = deaf
    found = wrong(outcomes(open_named(f"{broken.name}:0"), "interrupts"))
    assert found == {"interrupts-raised": "KeyboardInterrupt did not come"}


def test_a_child_that_computes_something_else_is_found_out(broken):
    parent = os.getpid()

    def stale(node, x, y):
        return x * y if os.getpid() == parent else np.zeros_like(x)

    broken.kernels["mul"] = stale
    found = wrong(outcomes(open_named(f"{broken.name}:0"), "forks"))
    assert found == {"forks-child": "the child computed something else"}


def test_a_process_that_cannot_open_the_device_is_found_out(monkeypatch):
    monkeypatch.setattr(robust_processes, "_PROGRAM", "raise SystemExit(7)")
    found = wrong(outcomes(open_named("reference:0"), "processes"))
    assert found == {"processes": "exit code 7: no message"}


def test_a_wrong_result_of_sixteen_threads_is_found_out(broken):
    calls = []

    def forgetful(node, x, y):
        calls.append(1)
        return np.asarray(x * y + (len(calls) == 9), x.dtype)

    broken.kernels["mul"] = forgetful
    found = wrong(outcomes(open_named(f"{broken.name}:0"), "sixteen-threads-compile-one-function"))
    assert "wrong values" in found["sixteen-threads-compile-one-function-values"]


def test_tiny_limits_change_no_bit_of_the_interpreter():
    found = outcomes(open_named("interp:0"), "tiny-limits")
    assert {o.kind for o in found} == {"passed"}
    assert len(found) > 3
