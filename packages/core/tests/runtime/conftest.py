"""Sessions to test the runtime with: byte buffers, ops by their references, faults on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from realta.backend import (
    EMPTY,
    SPEC,
    Capabilities,
    DeviceFault,
    DeviceInfo,
    KernelReport,
    OpByOpBackend,
    Refusal,
)
from realta.graph import Builder, Graph
from realta.ops import all_ops, as_arrays
from realta.plugins import close_devices, open_device, register_backend, unregister_backend
from realta.runtime import OpenDevice, array_from_bytes, as_bytes, set_fallback_policy
from realta.types import DTYPES, float32, tensor_type


class Buffer:
    """A handle of fixed size; remembers the fault of the launch that was to fill it."""

    def __init__(self, nbytes: int) -> None:
        self.data = np.full(nbytes, 0xAB, np.uint8)
        self.fault: DeviceFault | None = None


class ByteSession:
    """Runs graphs by their ops' references over byte buffers; with ``async`` at the next wait."""

    def __init__(self, features: Sequence[str] = (), lacks: Sequence[str] = ()) -> None:
        self.capabilities = Capabilities(
            storage=frozenset(DTYPES),
            ops={op.name: op.dtypes for op in all_ops() if op.primitive and op.name not in lacks},
            features=frozenset(features),
        )
        self.fingerprint = "bytes"
        self.failing: dict[str, BaseException] = {}
        """What a launch raises when it comes to an op of that name."""
        self.refused: dict[str, str] = {}
        self.queue: list[Callable[[], None]] = []
        self.freed = 0
        self.allocated = 0
        self.compiled: list[Graph] = []
        self.donations: list[frozenset[int]] = []
        self.capacity: int | None = None
        self.closed = False

    def supports(self, node: Any) -> Refusal | None:
        reason = self.refused.get(node.op.name)
        return Refusal(reason) if reason else None

    def buffer_bytes(self, type: Any) -> int:
        return int(type.nbytes)

    def allocate(self, nbytes: int) -> Buffer:
        if self.capacity is not None and self.allocated + nbytes > self.capacity:
            raise MemoryError("the device is full")
        self.allocated += nbytes
        return Buffer(nbytes)

    def free(self, handle: Any) -> None:
        self.freed += 1
        self.allocated -= handle.data.nbytes

    def write(self, dst: Any, type: Any, src: memoryview) -> None:
        self.drain()
        dst.data[: type.nbytes] = np.frombuffer(src, np.uint8)
        dst.fault = None

    def read(self, src: Any, type: Any, dst: memoryview) -> None:
        self.wait(src)
        dst[:] = src.data[: type.nbytes].data

    def copy(self, src: Any, dst: Any, type: Any) -> None:
        self.drain()
        dst.data[: type.nbytes] = src.data[: type.nbytes]
        dst.fault = src.fault

    def view(self, handle: Any, type: Any) -> memoryview | None:
        return memoryview(handle.data)[: type.nbytes].toreadonly()

    def compile(self, graph: Graph, options: Any) -> ByteExecutable:
        self.compiled.append(graph)
        return ByteExecutable(self, graph)

    def drain(self) -> None:
        while self.queue:
            self.queue.pop(0)()

    def wait(self, handle: Any = None) -> None:
        self.drain()
        if handle is not None and handle.fault is not None:
            raise handle.fault

    def close(self) -> None:
        self.closed = True


class ByteExecutable:
    temporary_bytes = 0

    def __init__(self, session: ByteSession, graph: Graph) -> None:
        self.session = session
        self.graph = graph
        self.reentrant = True
        self.kernels = tuple(KernelReport(node.op.name, (n,)) for n, node in enumerate(graph.nodes))

    def run(self, inputs: Any, outputs: Any, *, donated: Any = frozenset(), dims: Any = EMPTY):
        self.session.donations.append(donated)
        if "async" in self.session.capabilities.features:
            self.session.queue.append(lambda: self.guarded(inputs, outputs))
        else:
            self.compute(inputs, outputs)

    def guarded(self, inputs: Any, outputs: Any) -> None:
        fault = next((x.fault for x in inputs if x.fault is not None), None)
        if fault is None:
            try:
                self.compute(inputs, outputs)
            except DeviceFault as error:
                fault = error
        for output in outputs:
            output.fault = fault

    def compute(self, inputs: Any, outputs: Any) -> None:
        values = {
            value: array_from_bytes(handle.data.data, value.type).copy()
            for value, handle in zip(self.graph.inputs, inputs, strict=True)
        }
        for number, node in enumerate(self.graph.nodes):
            failing = self.session.failing.get(node.op.name)
            if isinstance(failing, DeviceFault):
                failing.node = number
            if failing is not None:
                raise failing
            results = as_arrays(
                node.op.reference(*[values[v] for v in node.operands], **node.attrs)
            )
            values.update(zip(node.outputs, results, strict=True))
        for value, handle in zip(self.graph.outputs, outputs, strict=True):
            data = as_bytes(values[value])
            handle.data[: len(data)] = data

    def close(self) -> None:
        pass


class ByteBackend:
    """One device with a `ByteSession`."""

    spec = SPEC

    def __init__(self, name: str, session: ByteSession, kind: str = "host") -> None:
        self.name = name
        self.session = session
        self.kind = kind

    def probe(self) -> list[DeviceInfo]:
        return [DeviceInfo(0, f"{self.name} of bytes", kind=self.kind)]

    def open(self, device: DeviceInfo) -> ByteSession:
        return self.session


class Tiny(OpByOpBackend):
    """Few kernels; ``double`` in its values shows that they were its own."""

    name = "tiny"
    kernels = {
        "add": lambda node, x, y: x + y,
        "mul": lambda node, x, y: x * y,
        "neg": lambda node, x: -x,
    }


@pytest.fixture
def bytes_device():
    """Opens devices over byte sessions: ``bytes_device(features=…, lacks=…, name=…)``."""
    made = []

    def open_bytes(
        name: str = "bytes", kind: str = "host", **options: Any
    ) -> tuple[OpenDevice, ByteSession]:
        session = ByteSession(**options)
        close_devices(name)
        register_backend(ByteBackend(name, session, kind))
        made.append(name)
        return open_device(f"{name}:0"), session

    yield open_bytes
    for name in made:
        close_devices(name)
        unregister_backend(name)


@pytest.fixture
def tiny_device():
    """An open op-by-op device that has add, mul and neg only."""
    register_backend(Tiny())
    yield open_device("tiny:0")
    close_devices("tiny")
    unregister_backend("tiny")


@pytest.fixture
def graph_of():
    """Builds graphs of float32 vectors: ``graph_of(lambda b, x: b.neg(x), device)``."""

    def build(
        body: Callable[..., Any], device: str, inputs: int = 1, shape: tuple[int, ...] = (3,)
    ) -> Graph:
        builder = Builder("test")
        values = [builder.input(tensor_type(float32, shape, device)) for _ in range(inputs)]
        made = body(builder, *values)
        return builder.finish(*(made if isinstance(made, tuple) else (made,)))

    return build


@pytest.fixture
def vector():
    """A float32 vector."""
    return lambda *values: np.array(values, np.float32)


@pytest.fixture
def allow_fallback():
    """Lets ops a device lacks run on the reference device without a word."""
    set_fallback_policy("allow")
    yield
    set_fallback_policy(None)
