"""Fault: one thing that a backend does wrong, and the checks that must catch it.

The methods are the places at which a saboteur can go wrong; here each does what is right. A fault
overrides one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.backend import DeviceInfo, Node, TensorType, UnsupportedOp, Value
from realta.backend.reference import call_reference
from realta.ops import as_arrays

__all__ = ["Array", "Fault", "KernelFault"]

Array = NDArray[Any]
Kernel = Callable[..., Any]
"""``kernel(right, node, *operands)``: ``right()`` is what a healthy backend computes."""


@dataclass(eq=False)
class Fault:
    """A fault, by default none.

    Args:
        name: its name.
        tells: what goes wrong, in one sentence.
        fails: the checks that must fail, as ``level/op/check``, and no others.
        lacks: ops that the backend does not have.
    """

    name: str = "healthy"
    tells: str = "nothing is wrong"
    fails: frozenset[str] = frozenset()
    lacks: frozenset[str] = field(default=frozenset(), kw_only=True)

    @property
    def level(self) -> str:
        """The level at which it must be caught."""
        return min(self.fails).partition("/")[0] if self.fails else ""

    def fingerprint(self, text: str) -> str:
        """The session's fingerprint."""
        return text

    def probe(self, infos: Sequence[DeviceInfo]) -> Sequence[DeviceInfo]:
        """What probing finds."""
        return infos

    def write(self, buffer: Any, type_: TensorType, source: Array) -> None:
        """Bytes into a buffer."""
        buffer.memory[: source.size] = source

    def read(self, buffer: Any, type_: TensorType) -> Array:
        """Bytes out of a buffer."""
        return np.asarray(buffer.memory[: type_.nbytes])

    def copy(self, source: Any, target: Any) -> None:
        """One buffer into another."""
        target.memory[:] = source.memory

    def free(self, buffer: Any) -> None:
        """Before a buffer is given back."""

    def close(self) -> None:
        """When the session closes."""

    def check(self, node: Node) -> None:
        """When a node is compiled."""

    def refusal(self, node: Node) -> Exception | None:
        """What is raised for a node that is not declared; None to compile it all the same."""
        return UnsupportedOp(f"saboteurs do not have {node.op.name}", fix="decompose it")

    def reports(self, node: Node) -> bool:
        """Whether the executable reports a kernel for a node."""
        return True

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        """The results of a node."""
        return self.right(node, operands)

    def right(self, node: Node, operands: Sequence[Array]) -> tuple[Array, ...]:
        """What a node's results truly are (by the registry's reference)."""
        return as_arrays(call_reference(node, *operands))

    def finish(self, executable: Any, number: int, value: Value, array: Array, buffer: Any) -> None:
        """A result into the buffer of an output."""
        data = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
        count = min(data.size, buffer.memory.size)
        buffer.memory[:count] = data[:count]


@dataclass(eq=False)
class KernelFault(Fault):
    """A fault in the kernel of one op, or of several.

    Args:
        ops: their names.
        kernel: the wrong kernel.
    """

    ops: tuple[str, ...] = ()
    kernel: Kernel | None = None

    def call(
        self, executable: Any, node: Node, operands: Sequence[Array], values: Mapping[Value, Array]
    ) -> tuple[Array, ...]:
        if node.op.name not in self.ops or self.kernel is None:
            return self.right(node, operands)
        with np.errstate(all="ignore"):
            found = self.kernel(lambda: self.right(node, operands)[0], node, *operands)
        return tuple(np.asarray(v) for v in (found if isinstance(found, tuple) else (found,)))
