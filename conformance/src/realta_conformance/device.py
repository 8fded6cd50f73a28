"""Device: the session under test, driven through the contract and nothing else.

Graphs go to ``session.compile`` in normal form; bytes go through ``write`` and ``read``; core's
pool, cache, executor and fallbacks are not in the way. What is certified here is the backend alone.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from realta.backend import (
    Backend,
    Capabilities,
    DeviceInfo,
    Executable,
    Graph,
    Handle,
    Node,
    Options,
    Refusal,
    Session,
    TensorType,
    Unavailable,
)
from realta.errors import BackendUnavailable
from realta.runtime import refusal
from realta.types import DType

from realta_conformance.formats import Array

__all__ = ["HOST_OPS", "Description", "Device", "as_memory", "open_backend"]

HOST_OPS = frozenset({"constant", "iota", "philox_bits", "philox_branch"})
"""Ops that core provides on the host for a session without them."""


def as_memory(array: Array) -> memoryview:
    """The bytes of a C-contiguous array."""
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8).data


@dataclass(frozen=True, slots=True)
class Description:
    """What a device says of itself: all that a report needs, also where another process opened it.

    Args:
        name: as on the command line, ``numpy:0``.
        backend: name of its backend.
        spec: the version of the contract that the backend states.
        fingerprint: the session's fingerprint.
        info: what the probe said.
        capabilities: what the session declares.
    """

    name: str
    backend: str
    spec: str
    fingerprint: str
    info: DeviceInfo
    capabilities: Capabilities


def _quiet(phase: str) -> None:
    """Nobody watches."""


class Device:
    """One opened device.

    Args:
        name: as on the command line, ``numpy:0``.
        backend: its backend.
        info: what the probe said.
        session: the open session.

    Attributes:
        graphs: graphs compiled so far.
        live: handles allocated and not yet freed.
        watch: told before each call of the session what it is, and an empty text after it.
    """

    def __init__(self, name: str, backend: Backend, info: DeviceInfo, session: Session) -> None:
        self.name = name
        self.backend = backend
        self.info = info
        self.session = session
        self.graphs = 0
        self.live = 0
        self._counting = threading.Lock()
        self.watch: Callable[[str], None] = _quiet

    @property
    def description(self) -> Description:
        """What it says of itself, in dictionaries that can be sent to another process."""
        declared = self.capabilities
        return Description(
            self.name,
            self.backend.name,
            self.backend.spec,
            self.session.fingerprint,
            self.info,
            replace(
                declared,
                ops=dict(declared.ops),
                composites=dict(declared.composites),
                numerics=replace(declared.numerics, ulp=dict(declared.numerics.ulp)),
            ),
        )

    @contextmanager
    def _watched(self, phase: str) -> Iterator[None]:
        self.watch(phase)
        try:
            yield
        finally:
            self.watch("")

    @property
    def capabilities(self) -> Capabilities:
        """What the session declares."""
        return self.session.capabilities

    @property
    def exact(self) -> bool:
        """Whether it promises the same bits in every mode."""
        return self.capabilities.numerics.modes == "exact"

    @property
    def repeatable(self) -> bool:
        """Whether it promises the same bits from the same graph."""
        return self.capabilities.numerics.modes != "bounded"

    @property
    def flushes(self) -> bool:
        """Whether it declares that subnormals become zero."""
        return self.capabilities.numerics.subnormals == "flush"

    def looser(self, op: str, dtype: DType) -> float | None:
        """The bound in ulps that it declares for an op and a dtype, if it does."""
        return self.capabilities.numerics.ulp.get((op, dtype))

    def claims(self, node: Node) -> bool:
        """Whether it takes this composite whole."""
        return self.declares(node) and self.session.supports(node) is None

    def declares(self, node: Node) -> bool:
        """Whether its capabilities list this op for this dtype."""
        table = self.capabilities.ops if node.op.primitive else self.capabilities.composites
        dtype = node.op.data_dtype([v.type for v in node.operands], node.types)
        return dtype in table.get(node.op.name, frozenset())

    def refusal(self, node: Node) -> Refusal | None:
        """Why it does not take a node, None if it does."""
        return refusal(self.session, node)

    def compile(self, graph: Graph) -> Executable:
        """Compiles a graph in normal form, and counts it."""
        with self._counting:
            self.graphs += 1
        with self._watched("compile"):
            return self.session.compile(graph, Options(name=graph.name))

    def empty(self, type_: TensorType) -> Handle:
        """A new buffer for a tensor."""
        handle = self.session.allocate(self.session.buffer_bytes(type_))
        with self._counting:
            self.live += 1
        return handle

    def upload(self, array: Array, type_: TensorType) -> Handle:
        """A new buffer with values."""
        handle = self.empty(type_)
        self.write(handle, type_, array)
        return handle

    def write(self, handle: Handle, type_: TensorType, array: Array) -> None:
        """Overwrites a buffer."""
        with self._watched("write"):
            self.session.write(handle, type_, as_memory(array))

    def read(self, handle: Handle, type_: TensorType) -> Array:
        """The values of a buffer."""
        out = np.empty(type_.static_shape, type_.dtype.numpy)
        with self._watched("read"):
            self.session.wait(handle)
            self.session.read(handle, type_, as_memory(out))
        return out

    def free(self, handles: Sequence[Handle]) -> None:
        """Gives buffers back."""
        for handle in handles:
            self.session.free(handle)
            with self._counting:
                self.live -= 1

    def run(
        self, executable: Executable, inputs: Sequence[Handle], types: Sequence[TensorType]
    ) -> list[Handle]:
        """Runs an executable into new buffers."""
        outputs: list[Handle] = []
        try:
            outputs.extend(self.empty(type_) for type_ in types)
            with self._watched("run"):
                executable.run(inputs, outputs)
                self.session.wait(None)
        except BaseException:
            self.free(outputs)
            raise
        return outputs

    @contextmanager
    def holding(self) -> Iterator[Callable[[Sequence[Handle]], Any]]:
        """A scope; buffers handed to the function it gives are freed at its end."""
        held: list[Handle] = []
        try:
            yield held.extend
        finally:
            self.free(held)

    def close(self) -> None:
        """Closes the session."""
        self.session.close()


def open_backend(backend: Backend, index: int = 0) -> Device:
    """Opens a device of a backend object, installed or not.

    Raises:
        BackendUnavailable: it has no device of that number.
    """
    found = backend.probe()
    if isinstance(found, Unavailable):
        raise BackendUnavailable(f"{backend.name} is not available: {found.reason}", fix=found.fix)
    for info in found:
        if info.index == index:
            return Device(f"{backend.name}:{index}", backend, info, backend.open(info))
    have = ", ".join(f"{backend.name}:{info.index}" for info in found)
    raise BackendUnavailable(
        f"there is no device {backend.name}:{index}", fix=f"it has {have or 'none'}"
    )
