"""Healthy: an op-by-op backend over real, mutable buffers, with a place for one fault.

Unlike the op-by-op tier of core its handles own memory that is overwritten in place, so that a
fault can alias, leak or keep it. Its kernels are the references of the registry, in NumPy. Without
a fault it certifies at every device level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.backend import (
    EMPTY,
    Capabilities,
    DeviceInfo,
    Graph,
    Handle,
    KernelReport,
    Node,
    Options,
    Refusal,
    TensorType,
    Value,
)
from realta.backend.reference import Reference
from realta.ops import OpKind, all_ops

from realta_saboteurs.fault import Fault

__all__ = ["Buffer", "Executable", "Saboteur", "Session"]

Array = NDArray[Any]


class Buffer:
    """A handle: bytes of its own."""

    __slots__ = ("memory",)

    def __init__(self, nbytes: int) -> None:
        self.memory = np.zeros(nbytes, np.uint8)


class Session:
    """A session whose methods ask the fault, if there is one."""

    def __init__(self, backend: Saboteur) -> None:
        self.backend = backend
        self.fault = backend.fault
        kernels = Reference().open(Reference().probe()[0])
        declared = kernels.capabilities
        control = {op.name: op.dtypes for op in all_ops() if op.kind is OpKind.CONTROL}
        ops = {**declared.ops, **control}
        self.capabilities = Capabilities(
            declared.storage,
            {k: v for k, v in ops.items() if k not in self.fault.lacks},
            declared.composites,
            declared.limits,
            declared.numerics,
            frozenset({"control_flow"}),
        )
        self.fingerprint = self.fault.fingerprint(f"saboteur-{backend.name}")

    def supports(self, node: Node) -> Refusal | None:
        """Takes everything."""
        return None

    def buffer_bytes(self, type: TensorType) -> int:
        return type.nbytes

    def allocate(self, nbytes: int) -> Handle:
        return Buffer(nbytes)

    def free(self, handle: Handle) -> None:
        self.fault.free(_buffer(handle))
        _buffer(handle).memory = np.zeros(0, np.uint8)

    def write(self, dst: Handle, type: TensorType, src: memoryview) -> None:
        self.fault.write(_buffer(dst), type, np.frombuffer(src, np.uint8))

    def read(self, src: Handle, type: TensorType, dst: memoryview) -> None:
        np.frombuffer(dst, np.uint8)[:] = self.fault.read(_buffer(src), type)

    def copy(self, src: Handle, dst: Handle, type: TensorType) -> None:
        self.fault.copy(_buffer(src), _buffer(dst))

    def view(self, handle: Handle, type: TensorType) -> memoryview | None:
        return None

    def compile(self, graph: Graph, options: Options) -> Executable:
        return Executable(self, graph)

    def wait(self, handle: Handle | None = None) -> None:
        """Everything is done when its call is back."""

    def close(self) -> None:
        self.fault.close()


class Executable:
    """A graph that is interpreted."""

    reentrant = True
    temporary_bytes = 0

    def __init__(self, session: Session, graph: Graph) -> None:
        self.fault = session.fault
        self.graph = graph
        self.memory: dict[Any, Any] = {}
        """Where faults keep what they should not."""
        declared = session.capabilities
        for node in graph.nodes:
            self.fault.check(node)
            dtype = node.op.data_dtype([v.type for v in node.operands], node.types)
            table = declared.ops if node.op.primitive else declared.composites
            if dtype not in table.get(node.op.name, frozenset()):
                refusal = self.fault.refusal(node)
                if refusal is not None:
                    raise refusal
        self.kernels: Sequence[KernelReport] = [
            KernelReport(node.op.name, (n,))
            for n, node in enumerate(graph.nodes)
            if self.fault.reports(node)
        ]

    def run(
        self,
        inputs: Sequence[Handle],
        outputs: Sequence[Handle],
        *,
        donated: frozenset[int] = frozenset(),
        dims: Mapping[str, int] = EMPTY,
    ) -> None:
        given = zip(self.graph.inputs, inputs, strict=True)
        values: dict[Value, Array] = {v: typed(_buffer(h).memory, v.type) for v, h in given}
        for node in self.graph.nodes:
            operands = [values[v] for v in node.operands]
            results = self.fault.call(self, node, operands, values)
            values.update(zip(node.outputs, results, strict=True))
        for n, (value, handle) in enumerate(zip(self.graph.outputs, outputs, strict=True)):
            self.fault.finish(self, n, value, values[value], _buffer(handle))

    def close(self) -> None:
        """Holds nothing but itself."""


class Saboteur:
    """A backend with a fault that is on or off.

    Args:
        fault: the fault; `Fault` itself for a healthy backend.
    """

    spec = "1.0"

    def __init__(self, fault: Fault) -> None:
        self.fault = fault
        self.name = f"saboteur-{fault.name}"

    def probe(self) -> Sequence[DeviceInfo]:
        """Its one device."""
        return self.fault.probe((DeviceInfo(0, "saboteur", kind="host"),))

    def open(self, device: DeviceInfo) -> Session:
        """Opens it."""
        return Session(self)


def typed(memory: Array, type_: TensorType) -> Array:
    """The bytes of a buffer as an array of a type; it shares the memory."""
    return memory[: type_.nbytes].view(type_.dtype.numpy).reshape(type_.static_shape)


def _buffer(handle: Handle) -> Buffer:
    if not isinstance(handle, Buffer):
        raise TypeError(f"a saboteur got a handle of type {type(handle).__name__}")
    return handle
