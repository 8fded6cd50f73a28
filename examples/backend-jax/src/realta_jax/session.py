"""Session: the processor as JAX has it: memory, what it can do, and how a graph is compiled."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from numpy.typing import NDArray
from realta.backend import (
    Capabilities,
    DeviceFault,
    Graph,
    Handle,
    Limits,
    Node,
    Numerics,
    Options,
    Refusal,
    TensorType,
    allocate_block,
)

from realta_jax.lowering import DTYPES, OPS
from realta_jax.program import Buffer, Program

__all__ = ["JaxSession"]

LIMITS = Limits(rank=32)


class JaxSession:
    """The session. Any thread may call; JAX keeps work in order by what it reads."""

    pooled = False  # a buffer owns no memory before a program fills it

    def __init__(self) -> None:
        self.device = jax.devices("cpu")[0]
        self.fingerprint = f"jax-{jax.__version__}-{self.device.device_kind}"
        self.capabilities = Capabilities(
            storage=DTYPES,
            ops=OPS,
            limits=LIMITS,
            # XLA rearranges a graph as a whole, so that it has other bits than its ops one by one,
            # and its threads flush subnormals.
            numerics=Numerics(modes="repeatable", subnormals="flush"),
        )

    def supports(self, node: Node) -> Refusal | None:
        ranks = [value.type.rank for value in node.operands] + [t.rank for t in node.types]
        if max(ranks, default=0) > LIMITS.rank:
            return Refusal(f"tensors have at most {LIMITS.rank} axes here", "merge axes by reshape")
        return None

    def buffer_bytes(self, type: TensorType) -> int:
        return type.nbytes

    def allocate(self, nbytes: int) -> Handle:
        """A buffer without an array: programs bring their own memory."""
        return Buffer()

    def free(self, handle: Any) -> None:
        handle.array = None

    def write(self, dst: Any, type: TensorType, src: memoryview) -> None:
        block = allocate_block(type.nbytes)  # aligned, so that JAX takes it as it is
        block[:] = np.frombuffer(src, np.uint8, type.nbytes)
        array = block.view(type.dtype.numpy).reshape(type.static_shape)
        with jax.enable_x64(True):
            dst.array = jax.device_put(array, self.device).block_until_ready()

    def read(self, src: Any, type: TensorType, dst: memoryview) -> None:
        dst[: type.nbytes] = self.bytes_of(src, type).data

    def copy(self, src: Any, dst: Any, type: TensorType) -> None:
        dst.array = src.array

    def view(self, handle: Any, type: TensorType) -> memoryview | None:
        """JAX's own memory, which nobody may write to."""
        return self.bytes_of(handle, type).data.toreadonly() if type.size else None

    def bytes_of(self, handle: Any, type: TensorType) -> NDArray[np.uint8]:
        """The bytes of a tensor; waits for it."""
        if handle.array is None:  # nobody writes a tensor without elements
            return np.empty(0, np.uint8)
        try:
            array = np.ascontiguousarray(handle.array)
        except RuntimeError as error:
            raise DeviceFault(f"XLA failed: {error}") from error
        return array.reshape(-1).view(np.uint8)

    def compile(self, graph: Graph, options: Options) -> Program:
        return Program(graph, options.name)

    def wait(self, handle: Any = None) -> None:
        if handle is not None and handle.array is not None:
            try:
                handle.array.block_until_ready()
            except RuntimeError as error:
                raise DeviceFault(f"XLA failed: {error}") from error

    def close(self) -> None:
        """Arrays go with their last references."""
