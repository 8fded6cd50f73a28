"""Shared by the tests of several layers: graphs, devices, launch counts, moody backends."""

import re
import threading
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from realta.backend.op_by_op import OpByOpBackend, OpByOpExecutable, OpByOpSession
from realta.backend.reference import ReferenceKernels, call_reference
from realta.errors import CompilationError
from realta.graph import Builder
from realta.plugins import (
    backends,
    close_devices,
    open_device,
    register_backend,
    set_default_device,
    unregister_backend,
)
from realta.runtime import Capabilities
from realta.types import BY_SHORT, tensor_type

REFERENCE = "reference:0"


@pytest.fixture
def write():
    """``write(f32=(2, 3), i32=())``: a builder and one input for each dtype with that shape."""

    def start(**types):
        builder = Builder("test")
        inputs = [
            builder.input(tensor_type(BY_SHORT[short], shape), name=f"x{n}")
            for n, (short, shape) in enumerate(types.items())
        ]
        return builder, *inputs

    return start


@pytest.fixture
def reference() -> Iterator[str]:
    """Makes the reference device the default one, in all threads."""
    set_default_device(REFERENCE)
    yield REFERENCE
    set_default_device(None)


@pytest.fixture(params=["reference", "numpy"])
def each_device(request) -> Iterator[str]:
    """Makes each installed host device the default one in its turn."""
    if request.param not in {entry.name for entry in backends()}:
        pytest.skip(f"the backend {request.param} is not installed")
    device = f"{request.param}:0"
    set_default_device(device)
    yield device
    set_default_device(None)


@pytest.fixture
def launches(reference):
    """How many kernels ran on the reference device since the last call."""
    device = open_device(reference)
    before = device.launches

    def since() -> int:
        nonlocal before
        count, before = device.launches - before, device.launches
        return count

    return since


def masked(error: BaseException) -> str:
    """An error's text with HERE for every file and line."""
    return re.sub(r"[^\s(]*\.py:\d+", "HERE", str(error))


@pytest.fixture(name="masked")
def masked_text():
    """The function `masked`."""
    return masked


class _Kernels(Mapping):
    def __init__(self, call) -> None:
        self.call = call

    def __getitem__(self, name):
        if name not in ReferenceKernels():
            raise KeyError(name)
        return self.call

    def __iter__(self):
        return iter(ReferenceKernels())

    def __len__(self) -> int:
        return len(ReferenceKernels())


class Moody(OpByOpBackend):
    """The reference backend with switches: ops that fail, that do not compile, that block."""

    name = "moody"

    def __init__(self) -> None:
        self.failing: set[str] = set()
        self.uncompilable: set[str] = set()
        self.blocking: set[str] = set()
        self.blocked = threading.Event()
        self.go_on = threading.Event()
        self.calls: Counter[str] = Counter()
        self.kernels = _Kernels(self._call)

    @property
    def device(self) -> str:
        return f"{self.name}:0"

    def _call(self, node, *arrays):
        name = node.op.name
        self.calls[name] += 1
        if name in self.blocking:
            self.blocked.set()
            assert self.go_on.wait(20)
        if name in self.failing:
            raise RuntimeError(f"no {name} today")
        return call_reference(node, *arrays)

    def open(self, device):
        return _MoodySession(self)


class _MoodySession(OpByOpSession):
    def compile(self, graph, options):
        wrong = [node for node in graph.nodes if node.op.name in self.backend.uncompilable]
        if wrong:
            raise CompilationError(f"no code for {wrong[0].op.name}", fix="wait")
        return super().compile(graph, options)


class InPlace(Moody):
    """Writes slices over a buffer that was donated to it, and counts the copies of all others."""

    name = "inplace"

    def __init__(self) -> None:
        super().__init__()
        self.copies = 0
        self.donated: set[int] = set()

    def _call(self, node, *arrays):
        if node.op.name not in ("update_slice", "scatter") or node.op.name in self.failing:
            return super()._call(node, *arrays)
        target, *others = arrays
        if id(target) not in self.donated or not target.flags.writeable:
            self.copies += 1
            target = target.copy()
            self.donated.add(id(target))  # what a store made is the graph's own
        if node.op.name == "scatter":  # of one row, as an integer index makes it
            index, new = others
            target[int(index)] = new
            return target
        parts = zip(node.attrs["start"], node.attrs["stop"], node.attrs["step"], strict=True)
        target[tuple(slice(*part) for part in parts)] = others[0]
        return target

    def open(self, device):
        return _InPlaceSession(self)


class _InPlaceSession(OpByOpSession):
    def __init__(self, backend) -> None:
        super().__init__(backend)
        known = self.capabilities
        self.capabilities = Capabilities(
            known.storage, known.ops, known.composites, known.limits, known.numerics,
            frozenset({"donation"}),
        )  # fmt: skip

    def compile(self, graph, options):
        return _InPlaceExecutable(self.backend, graph)

    def view(self, handle, type):
        # A view of writable memory: what was exported must never change.
        return None if type.size == 0 else handle.value.reshape(-1).view(np.uint8).data.toreadonly()


class _InPlaceExecutable(OpByOpExecutable):
    def run(self, inputs, outputs, *, donated=frozenset(), dims=None):
        self.backend.donated = {id(inputs[n].value) for n in donated}
        super().run(inputs, outputs, donated=donated)


@pytest.fixture
def moody() -> Iterator[Moody]:
    """A registered backend with switches."""
    yield from _registered(Moody())


@pytest.fixture
def in_place() -> Iterator[InPlace]:
    """A registered backend that writes over donated buffers."""
    yield from _registered(InPlace())


def _registered(backend):
    register_backend(backend)
    set_default_device(f"{backend.name}:0")
    yield backend
    set_default_device(None)
    close_devices(backend.name)
    unregister_backend(backend.name)
