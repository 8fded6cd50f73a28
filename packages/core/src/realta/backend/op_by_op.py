"""OpByOpBackend: tier 1 of the contract: a table of kernels; core derives the rest.

A subclass sets ``name`` and ``kernels`` and, if its native values are not NumPy arrays,
``from_host`` and ``to_host``::

    class Mine(OpByOpBackend):
        name = "mine"
        kernels = {"add": lambda node, x, y: x + y, "neg": lambda node, x: -x}

A kernel gets the node (for its attributes and types) and its operands as native values, and returns
a new native value, or a tuple of them for an op with several results. It must not change an
operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np

from realta.errors import CompilationError, DeviceFault, UnsupportedOp
from realta.fusion.arithmetic import operations_of
from realta.fusion.limits import Limits
from realta.graph import Graph, Node, Value, call_text
from realta.ops import find_op
from realta.runtime.contract import (
    EMPTY,
    SPEC,
    Capabilities,
    DeviceInfo,
    Handle,
    KernelReport,
    Numerics,
    Options,
    Refusal,
)
from realta.runtime.host import array_from_bytes, as_bytes, empty_array
from realta.types import DTYPES, DType, TensorType

__all__ = ["Kernel", "OpByOpBackend", "OpByOpExecutable", "OpByOpSession"]

Kernel = Callable[..., Any]
"""``kernel(node, *native operands) -> native value | tuple``."""


class OpByOpBackend:
    """A backend given by a table of kernels; it has one host device.

    Attributes:
        name: backend name, as in ``name:0``.
        kernels: kernels by op name; composites named here are claimed whole.
        dtypes: the dtypes it takes; None for all.
        limits: device limits.
        numerics: promises about bits.
    """

    name: ClassVar[str] = ""
    spec: ClassVar[str] = SPEC
    kernels: Mapping[str, Kernel] = EMPTY
    dtypes: ClassVar[frozenset[DType] | None] = None
    limits: ClassVar[Limits] = Limits(rank=32)
    numerics: ClassVar[Numerics] = Numerics()

    def from_host(self, array: np.ndarray[Any, Any]) -> Any:
        """The native value of an array that nobody will change; by default the array itself."""
        return array

    def to_host(self, value: Any, type: TensorType) -> np.ndarray[Any, Any]:
        """The array of a native value, of the dtype and shape of ``type``."""
        return value  # type: ignore[no-any-return]

    def probe(self) -> Sequence[DeviceInfo]:
        """Its one device."""
        return (DeviceInfo(0, f"{self.name} (op by op)", kind="host"),)

    def open(self, device: DeviceInfo) -> OpByOpSession:
        """Opens the device."""
        return OpByOpSession(self)


class Box:
    """A handle: holds the native value of one tensor."""

    __slots__ = ("value",)

    def __init__(self, value: Any = None) -> None:
        self.value = value


class _OpTable(Mapping[str, frozenset[DType]]):
    """Ops by dtypes, as capabilities list them; follows ops defined later."""

    def __init__(self, backend: OpByOpBackend, primitive: bool) -> None:
        self.backend = backend
        self.primitive = primitive

    def __getitem__(self, name: str) -> frozenset[DType]:
        op = find_op(name)
        if op is None or op.primitive is not self.primitive or name not in self.backend.kernels:
            raise KeyError(name)
        dtypes = self.backend.dtypes
        return op.dtypes if dtypes is None else op.dtypes & dtypes

    def __iter__(self) -> Iterator[str]:
        return (name for name in self.backend.kernels if name in self)

    def __contains__(self, name: object) -> bool:
        op = find_op(name) if isinstance(name, str) else None
        return op is not None and op.primitive is self.primitive and name in self.backend.kernels

    def __len__(self) -> int:
        return sum(1 for _ in self)


class OpByOpSession:
    """The session of an `OpByOpBackend`."""

    pooled: ClassVar[bool] = False
    """Handles own no fixed buffer, so that nothing is worth keeping for reuse."""

    def __init__(self, backend: OpByOpBackend) -> None:
        self.backend = backend
        self.fingerprint = f"{backend.name}-op-by-op"
        self.capabilities = Capabilities(
            storage=frozenset(DTYPES) if backend.dtypes is None else backend.dtypes,
            ops=_OpTable(backend, primitive=True),
            composites=_OpTable(backend, primitive=False),
            limits=backend.limits,
            numerics=backend.numerics,
        )

    def supports(self, node: Node) -> Refusal | None:
        """Refuses what has more axes than the limit."""
        most = self.backend.limits.rank
        ranks = [value.type.rank for value in node.operands] + [type.rank for type in node.types]
        if max(ranks, default=0) > most:
            return Refusal(f"tensors have at most {most} axes here", "merge axes with reshape")
        return None

    def buffer_bytes(self, type: TensorType) -> int:
        """Bytes of the elements."""
        return type.nbytes

    def allocate(self, nbytes: int) -> Handle:
        """An empty box; kernels bring their own memory."""
        return Box()

    def free(self, handle: Handle) -> None:
        """Lets the value go."""
        _box(handle).value = None

    def write(self, dst: Handle, type: TensorType, src: memoryview) -> None:
        # The bytes may be reused by the caller, the array may be kept by the backend.
        array = array_from_bytes(memoryview(bytes(src)), type)
        _box(dst).value = self.backend.from_host(array)

    def read(self, src: Handle, type: TensorType, dst: memoryview) -> None:
        dst[:] = as_bytes(self._host(_box(src).value, type))

    def copy(self, src: Handle, dst: Handle, type: TensorType) -> None:
        # Values are never changed, so the two may share one.
        _box(dst).value = _box(src).value

    def view(self, handle: Handle, type: TensorType) -> memoryview | None:
        if type.size == 0:
            return None
        return as_bytes(self._host(_box(handle).value, type)).toreadonly()

    def adopt(self, array: np.ndarray[Any, Any]) -> Handle:
        """A handle for an array that nobody will change."""
        return Box(self.backend.from_host(array))

    def _host(self, value: Any, type: TensorType) -> np.ndarray[Any, Any]:
        array = np.asarray(self.backend.to_host(value, type))
        problem = misfit(array, type)
        if problem:
            raise DeviceFault(f"{self.backend.name} holds {problem}")
        return array

    def compile(self, graph: Graph, options: Options) -> OpByOpExecutable:
        """Resolves the kernels.

        Raises:
            UnsupportedOp: there is no kernel for an op.
        """
        return OpByOpExecutable(self.backend, graph)

    def wait(self, handle: Handle | None = None) -> None:
        """Everything is done when its call is back."""

    def close(self) -> None:
        """Holds nothing itself."""


def _box(handle: Handle) -> Box:
    if not isinstance(handle, Box):
        raise CompilationError(f"an op-by-op session got a handle of type {type(handle).__name__}")
    return handle


def misfit(array: np.ndarray[Any, Any], type: TensorType) -> str:
    """What an array is, if it is not of a type; else an empty string."""
    if array.dtype == type.dtype.numpy and array.shape == type.shape:
        return ""
    return f"{array.dtype}{list(array.shape)} where the graph has {type}"


class _Instruction:
    __slots__ = ("drops", "kernel", "node", "reads", "writes")

    def __init__(
        self, kernel: Kernel, node: Node, reads: tuple[int, ...], writes: tuple[int, ...]
    ) -> None:
        self.kernel = kernel
        self.node = node
        self.reads = reads
        self.writes = writes
        self.drops: tuple[int, ...] = ()


class OpByOpExecutable:
    """A graph as a list of kernel calls."""

    reentrant: Final = True
    temporary_bytes: Final = 0

    def __init__(self, backend: OpByOpBackend, graph: Graph) -> None:
        self.backend = backend
        numbers: dict[Value, int] = {value: n for n, value in enumerate(graph.inputs)}
        self._inputs = len(numbers)
        # Nobody writes a tensor without elements, so its box is empty.
        self._empty = [(n, v.type) for n, v in enumerate(graph.inputs) if v.type.size == 0]
        self._instructions = []
        for node in graph.nodes:
            reads = tuple([numbers[value] for value in node.operands])
            for result in node.outputs:
                numbers[result] = len(numbers)
            writes = tuple([numbers[result] for result in node.outputs])
            self._instructions.append(_Instruction(self._kernel(node), node, reads, writes))
        self._values = len(numbers)
        self._results = tuple([numbers[value] for value in graph.outputs])
        self._set_drops()
        self.kernels = tuple([_report(n, node) for n, node in enumerate(graph.nodes)])

    def _kernel(self, node: Node) -> Kernel:
        kernel = self.backend.kernels.get(node.op.name)
        if kernel is None:
            raise UnsupportedOp(
                f"{self.backend.name} has no kernel for {node.op.name}",
                where=call_text(node.op, [value.type for value in node.operands]),
                fix="add it to the backend's kernels",
            )
        return kernel

    def _set_drops(self) -> None:
        seen = set(self._results)
        for instruction in reversed(self._instructions):
            touched = {*instruction.reads, *instruction.writes}
            instruction.drops = tuple(touched - seen)
            seen |= touched

    def run(
        self,
        inputs: Sequence[Handle],
        outputs: Sequence[Handle],
        *,
        donated: frozenset[int] = frozenset(),
        dims: Mapping[str, int] = EMPTY,
    ) -> None:
        values: list[Any] = [None] * self._values
        values[: self._inputs] = [_box(handle).value for handle in inputs]
        for slot, type in self._empty:
            values[slot] = self.backend.from_host(empty_array(type))
        for number, instruction in enumerate(self._instructions):
            results = self._call(number, instruction, values)
            for slot, result in zip(instruction.writes, results, strict=True):
                values[slot] = result
            for slot in instruction.drops:
                values[slot] = None
        for handle, slot in zip(outputs, self._results, strict=True):
            _box(handle).value = values[slot]

    def _call(self, number: int, instruction: _Instruction, values: list[Any]) -> tuple[Any, ...]:
        node = instruction.node
        try:
            found = instruction.kernel(node, *[values[slot] for slot in instruction.reads])
        except (DeviceFault, MemoryError):
            raise
        except Exception as error:
            raise DeviceFault(
                f"the {self.backend.name} kernel of {node.op.name} raised "
                f"{type(error).__name__}: {error}",
                fix="tensors this launch was to fill stay unusable; other work is unaffected",
                node=number,
                detail=repr(error),
            ) from error
        results = found if isinstance(found, tuple) else (found,)
        problem = _problem(results, node)
        if problem:
            raise DeviceFault(
                f"the {self.backend.name} kernel of {node.op.name} returned {problem}",
                fix="this is a fault of the backend; report it",
                node=number,
            )
        return results

    def close(self) -> None:
        """Holds nothing that outlives it."""


def _problem(results: tuple[Any, ...], node: Node) -> str:
    if len(results) != len(node.types):
        return f"{len(results)} result(s) where the op has {len(node.types)}"
    for result, expected in zip(results, node.types, strict=True):
        # Other native values are checked when they come back to the host.
        if isinstance(result, np.ndarray | np.generic):
            problem = misfit(result, expected)  # type: ignore[arg-type]
            if problem:
                return problem
    return ""


def _report(number: int, node: Node) -> KernelReport:
    read = sum([value.type.nbytes for value in node.operands])
    written = sum([type.nbytes for type in node.types])
    return KernelReport(
        node.op.name, (number,), read, written, reason="this backend runs one op at a time",
        operations=operations_of((node,)),
    )  # fmt: skip
