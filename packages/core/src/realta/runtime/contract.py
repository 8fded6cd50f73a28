"""The backend contract, spec 1.0: what a plugin provides and what core promises it in return.

Backends import these names from `realta.backend`; they are defined here, below everything that uses
them. The prose rules are in ``docs/spec/contract.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, Literal, Protocol, runtime_checkable

from realta.fusion.limits import Limits
from realta.graph import Graph, Node
from realta.runtime.spec import SPEC
from realta.types import DType, TensorType

__all__ = [
    "EMPTY", "SPEC", "Backend", "Capabilities", "DeviceInfo", "Executable", "Handle",
    "KernelReport", "Limits", "Numerics", "Options", "Refusal", "Session", "Unavailable",
]  # fmt: skip

Handle = object
"""Opaque to core: one dense tensor in a layout only the session knows."""
EMPTY: Final[Mapping[Any, Any]] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device that a backend found.

    Args:
        index: number in the backend's own stable order.
        name: human-readable name.
        uid: an identifier that survives re-ordering, if the driver has one.
        aliases: other names, as ``pocl`` in ``opencl:pocl``.
        kind: host memory, an accelerator, or a simulator (the suite sends it the tiny tier).
        memory_bytes: size of its memory, if known.
        exclusive: only one process may hold it.
    """

    index: int
    name: str
    uid: str = ""
    aliases: tuple[str, ...] = ()
    kind: Literal["host", "accelerator", "simulator"] = "accelerator"
    memory_bytes: int | None = None
    exclusive: bool = False


@dataclass(frozen=True, slots=True)
class Unavailable:
    """A backend cannot run on this machine: why, and how to change that."""

    reason: str
    fix: str


@dataclass(frozen=True, slots=True)
class Refusal:
    """A session does not take this node: why, and how to change that."""

    reason: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Numerics:
    """Which promises about bits a device makes.

    Args:
        modes: ``exact``: equal bits eager, lazy, fused, compiled, repeated. ``repeatable``: the
            same graph gives the same bits. ``bounded``: within the bounds of spec 5a only.
        subnormals: kept or flushed, always.
        ulp: bounds looser than spec 5a by op and dtype; shown first in every report.
    """

    modes: Literal["exact", "repeatable", "bounded"] = "exact"
    subnormals: Literal["keep", "flush"] = "keep"
    ulp: Mapping[tuple[str, DType], float] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a session can do.

    Args:
        storage: dtypes that can be held and copied.
        ops: primitive ops by the dtypes of their first data operand (of the result for ops
            without); see `realta.ops.OpDef.data_operand`.
        composites: composite ops claimed whole, by dtype.
        limits: device limits.
        numerics: promises about bits.
        features: any of ``async donation symbolic control_flow save``.
    """

    storage: frozenset[DType]
    ops: Mapping[str, frozenset[DType]]
    composites: Mapping[str, frozenset[DType]] = field(default_factory=lambda: EMPTY)
    limits: Limits = field(default_factory=Limits)
    numerics: Numerics = field(default_factory=Numerics)
    features: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Options:
    """How a graph is to be compiled.

    Args:
        numerics: ``exact`` keeps every rounding step, ``fast`` lifts that.
        name: name of the graph for dumps and profiles.
        dump: folder of this graph for sources and kernels, which core has made; or empty.
    """

    numerics: Literal["exact", "fast"] = "exact"
    name: str = "graph"
    dump: str = ""


@dataclass(frozen=True, slots=True)
class KernelReport:
    """One kernel of an executable, for `explain`, the profiler and launch counting.

    Args:
        name: kernel name.
        nodes: ordinals of its member nodes in the compiled graph.
        bytes_read: bytes it reads from buffers.
        bytes_written: bytes it writes to buffers.
        reason: why it is not one kernel with a neighbour; empty if nothing split it.
        source: the code that was generated, if any.
        host: whether the work is declared to run on the host rather than launched on the device.
        schedule: who computes what, in a few words; empty if there is nothing to tell.
        profile: the kind of device that the schedule is made for, as ``cpu`` or ``gpu``.
        operations: arithmetic operations, as `realta.fusion.operations_of` counts them; of work
            that takes several kernels, those of all of them stand with the first.
    """

    name: str
    nodes: tuple[int, ...]
    bytes_read: int = 0
    bytes_written: int = 0
    reason: str = ""
    source: str = ""
    host: bool = False
    schedule: str = ""
    profile: str = ""
    operations: int = 0


@runtime_checkable
class Executable(Protocol):
    """A compiled graph."""

    reentrant: bool
    temporary_bytes: int
    kernels: Sequence[KernelReport]

    def run(
        self,
        inputs: Sequence[Handle],
        outputs: Sequence[Handle],
        *,
        donated: frozenset[int] = frozenset(),
        dims: Mapping[str, int] = EMPTY,
    ) -> None:
        """Runs it; may return before it is done.

        Outputs are core's and never alias inputs, donated ones excepted: where an input's number is
        in ``donated``, one output handle may be the same object as that input handle.
        """

    def close(self) -> None:
        """Frees what it holds."""


@runtime_checkable
class Session(Protocol):
    """One opened device; any thread may call."""

    capabilities: Capabilities
    fingerprint: str

    def supports(self, node: Node) -> Refusal | None:
        """Whether this node can be compiled (rank, size, attributes); pure, no device work."""

    def buffer_bytes(self, type: TensorType) -> int:
        """Bytes to allocate for a tensor: padding and tiling are the session's."""

    def allocate(self, nbytes: int) -> Handle:
        """A new buffer; 0 is legal. Raises OutOfMemory."""

    def free(self, handle: Handle) -> None:
        """Gives a buffer back. Called from finalizers: never raises, never blocks."""

    def write(self, dst: Handle, type: TensorType, src: memoryview) -> None:
        """Copies C-contiguous little-endian bytes in; ``src`` is reusable on return."""

    def read(self, src: Handle, type: TensorType, dst: memoryview) -> None:
        """Copies C-contiguous little-endian bytes out; waits for ``src``."""

    def copy(self, src: Handle, dst: Handle, type: TensorType) -> None:
        """Copies one tensor on the device."""

    def view(self, handle: Handle, type: TensorType) -> memoryview | None:
        """Host-visible memory of the tensor as bytes, or None."""

    def compile(self, graph: Graph, options: Options) -> Executable:
        """Compiles a graph in normal form. Raises UnsupportedOp or CompilationError."""

    def wait(self, handle: Handle | None = None) -> None:
        """Waits for one buffer or for all work; drops the GIL. Raises DeviceFault."""

    def close(self) -> None:
        """Frees everything."""


@runtime_checkable
class Backend(Protocol):
    """A kind of device."""

    name: str
    spec: str

    def probe(self) -> Sequence[DeviceInfo] | Unavailable:
        """The devices present; never raises for missing hardware."""

    def open(self, device: DeviceInfo) -> Session:
        """Opens a device."""
