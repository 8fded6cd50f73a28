"""Session: the opened host device ``numpy:0``."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.backend import (
    Capabilities,
    DType,
    Graph,
    Handle,
    Limits,
    Node,
    Numerics,
    Options,
    Refusal,
    TensorType,
)
from realta.fusion import Rules, plan
from realta.ops import OpDef, OpKind, all_ops, find_op
from realta.types import DTYPES

from realta_numpy.executable import NumpyExecutable
from realta_numpy.instructions import elementwise_names
from realta_numpy.kernels import kernel_names
from realta_numpy.memory import ALIGNMENT, allocate_block, as_bytes
from realta_numpy.open_executable import OpenExecutable
from realta_numpy.temporaries import Temporaries

__all__ = ["RULES", "NumpySession"]

LIMITS: Final = Limits(rank=32, alignment=ALIGNMENT)
RULES: Final = Rules(alone=frozenset({"argmax", "argmin"}))
_KERNELS: Final = kernel_names()
_INSTRUCTIONS: Final = elementwise_names()


def _has(op: OpDef | None, primitive: bool) -> bool:
    if op is None or op.primitive is not primitive:
        return False
    if op.kind is OpKind.ELEMENTWISE:
        return op.scalar in _INSTRUCTIONS
    return op.name in _KERNELS


class _Ops(Mapping[str, frozenset[DType]]):
    """The ops there are kernels or instructions for; follows ops defined later.

    Args:
        primitive: whether it holds primitives, or composites that are taken whole.
    """

    def __init__(self, primitive: bool) -> None:
        self._primitive = primitive

    def __getitem__(self, name: str) -> frozenset[DType]:
        op = find_op(name)
        if op is None or not _has(op, self._primitive):
            raise KeyError(name)
        return op.dtypes

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and _has(find_op(name), self._primitive)

    def __iter__(self) -> Iterator[str]:
        return (op.name for op in all_ops() if _has(op, self._primitive))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class NumpySession:
    """One opened device. Everything is done when its call is back, and any thread may call.

    Attributes:
        fusion_rules: the rules by which `compile` plans kernels; `explain` plans by them too.
    """

    fusion_rules: Final = RULES

    def __init__(self) -> None:
        self.capabilities = Capabilities(
            storage=frozenset(DTYPES),
            ops=_Ops(primitive=True),
            composites=_Ops(primitive=False),
            limits=LIMITS,
            numerics=Numerics(modes="exact"),
            features=frozenset({"donation"}),
        )
        self.fingerprint = f"numpy-{np.__version__}-{platform.machine()}-1"
        self._temporaries = Temporaries()

    def supports(self, node: Node) -> Refusal | None:
        """Refuses tensors of more axes than NumPy loops have room for."""
        ranks = [v.type.rank for v in node.operands] + [t.rank for t in node.types]
        if max(ranks, default=0) > LIMITS.rank:
            return Refusal(f"tensors have at most {LIMITS.rank} axes here", "merge axes by reshape")
        return None

    def buffer_bytes(self, type: TensorType) -> int:
        """Bytes of the elements."""
        return type.nbytes

    def allocate(self, nbytes: int) -> Handle:
        """A block aligned to 64 bytes; a large one on huge pages.

        Raises:
            OutOfMemory: the system does not give it.
        """
        return allocate_block(nbytes)

    def free(self, handle: Handle) -> None:
        """The memory goes with the last reference to it."""

    def write(self, dst: Any, type: TensorType, src: memoryview) -> None:
        if type.nbytes:
            as_bytes(dst, type.nbytes)[:] = np.frombuffer(src, np.uint8, type.nbytes)

    def read(self, src: Any, type: TensorType, dst: memoryview) -> None:
        if type.nbytes:
            np.frombuffer(dst, np.uint8)[: type.nbytes] = as_bytes(src, type.nbytes)

    def copy(self, src: Any, dst: Any, type: TensorType) -> None:
        if type.nbytes:
            as_bytes(dst, type.nbytes)[:] = as_bytes(src, type.nbytes)

    def view(self, handle: Any, type: TensorType) -> memoryview | None:
        """The tensor's bytes in place."""
        return as_bytes(handle, type.nbytes).data

    def adopt(self, array: NDArray[Any]) -> Handle | None:
        """The array itself as a handle, if its elements lie in row-major order."""
        return array if array.flags.c_contiguous and array.dtype.isnative else None

    def compile(self, graph: Graph, options: Options) -> NumpyExecutable:
        """Plans the kernels and writes their code.

        Raises:
            UnsupportedOp: an op has no kernel.
            FusionError: a region that must be one kernel cannot be.
        """
        return NumpyExecutable(
            plan(graph, LIMITS, rules=self.fusion_rules), options, self._temporaries
        )

    def compile_open(self, graph: Graph, options: Options) -> OpenExecutable:
        """Prepares a graph with named extents; its `bind` gives executables for numbers."""
        return OpenExecutable(graph, options, self._temporaries, LIMITS, self.fusion_rules)

    def wait(self, handle: Handle | None = None) -> None:
        """Everything is done."""

    def close(self) -> None:
        """Frees what is kept for reuse."""
        self._temporaries.clear()
