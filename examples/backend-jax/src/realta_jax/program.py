"""Program: a graph that XLA has compiled as a whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from realta.backend import (
    EMPTY,
    CompilationError,
    DeviceFault,
    Graph,
    KernelReport,
    OutOfMemory,
    UnsupportedOp,
    Value,
)

from realta_jax.lowering import LOWERINGS, OPS

__all__ = ["Buffer", "Program"]


class Buffer:
    """A handle: the JAX array of one tensor. Arrays never change, so that several may share one."""

    __slots__ = ("array",)

    def __init__(self, array: Any = None) -> None:
        self.array = array


def given(buffer: Buffer, value: Value) -> Any:
    """The array of an input; nobody writes a tensor without elements."""
    if value.type.size == 0:
        return jnp.empty(value.type.static_shape, value.type.dtype.numpy)
    return buffer.array


class Program:
    """An executable.

    Args:
        graph: what it computes.
        name: its name in JAX's dumps.

    Raises:
        UnsupportedOp: it has an op for which there is no lowering.
        CompilationError: XLA could not compile it.
    """

    reentrant = True
    temporary_bytes = 0
    kernels: Sequence[KernelReport]

    def __init__(self, graph: Graph, name: str) -> None:
        for node in graph.nodes:
            # The dtype by which an op is declared: that of the first data operand, or the result's.
            found = node.op.data_dtype([value.type for value in node.operands], node.types)
            if found not in OPS.get(node.op.name, ()):
                raise UnsupportedOp(
                    f"jax has no {node.op.name} of {found}", fix="ask the capabilities"
                )
        self.graph = graph
        wanted = [
            jax.ShapeDtypeStruct(value.type.static_shape, value.type.dtype.numpy)
            for value in graph.inputs
        ]
        with jax.enable_x64(True):  # 64-bit types, without changing anybody else's JAX
            try:
                lowered = jax.jit(self.trace, keep_unused=True).lower(*wanted)
                self.compiled = lowered.compile()
            except Exception as error:
                raise CompilationError(
                    f"XLA does not compile the graph {name}: {type(error).__name__}", log=str(error)
                ) from error
        self.kernels = (self.report(name),) if graph.nodes else ()

    def trace(self, *inputs: Any) -> tuple[Any, ...]:
        """The outputs of the graph; called once, with JAX's tracers."""
        values: dict[Value, Any] = dict(zip(self.graph.inputs, inputs, strict=True))
        for node in self.graph.nodes:
            operands = [values[value] for value in node.operands]
            result = LOWERINGS[node.op.name](node, *operands)
            values[node] = result.astype(node.types[0].dtype.numpy)
        return tuple([values[value] for value in self.graph.outputs])

    def report(self, name: str) -> KernelReport:
        """The graph as one kernel: what XLA makes of it inside is its own."""
        return KernelReport(
            name,
            tuple(range(len(self.graph.nodes))),
            sum(value.type.nbytes for value in self.graph.inputs),
            sum(value.type.nbytes for value in self.graph.outputs),
            schedule="one program of XLA",
        )

    def run(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        *,
        donated: frozenset[int] = frozenset(),
        dims: Mapping[str, int] = EMPTY,
    ) -> None:
        """Starts the program; it may be running still when this returns."""
        pairs = zip(inputs, self.graph.inputs, strict=True)
        with jax.enable_x64(True):
            try:
                found = self.compiled(*[given(buffer, value) for buffer, value in pairs])
            except MemoryError as error:
                raise OutOfMemory(f"XLA has no memory: {error}") from error
            except RuntimeError as error:
                raise DeviceFault(f"XLA could not run the graph: {error}") from error
        for buffer, array in zip(outputs, found, strict=True):
            buffer.array = array

    def close(self) -> None:
        """The program goes with its last reference."""
