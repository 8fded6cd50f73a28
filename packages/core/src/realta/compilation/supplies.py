"""Supplies: where the inputs of a graph that are no arguments come from at each call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from realta.context import DrawInput, RandomState
from realta.graph import Input, Value
from realta.runtime import Storage
from realta.tensor import Tensor, real_tensor

__all__ = ["Captured", "Draw", "External", "Fixed", "Supply", "supply_of"]


@dataclass(frozen=True, slots=True)
class Captured:
    """A tensor from outside: the version read while tracing, or the newest of one stored to.

    Attributes:
        tensor: the user's tensor if the function stores to it, else an own handle on the version.
        stored: whether the function stores to it.
    """

    tensor: Tensor
    stored: bool

    def get(self) -> Storage:
        """The storage it names now."""
        return self.tensor._real_storage()


@dataclass(eq=False, slots=True)
class External:
    """A tensor that is read by name: a parameter or buffer of a module, or what stands for it.

    Attributes:
        names: what it is called; a tied parameter has several names.
        tensor: the handle whose newest version a call reads.
    """

    names: tuple[str, ...]
    tensor: Tensor

    def get(self) -> Storage:
        """The storage it names now."""
        return self.tensor._real_storage()


@dataclass(frozen=True, slots=True)
class Draw:
    """The state of a draw: each call takes the next counter of its stream."""

    stream: RandomState

    def get(self) -> Any:
        """The next state."""
        return self.stream.draw()


@dataclass(frozen=True, slots=True)
class Fixed:
    """A number of the traced function."""

    array: Any

    def get(self) -> Any:
        """The number as an array."""
        return self.array


Supply = Captured | Draw | External | Fixed


def supply_of(value: Value, stored: Tensor | None = None) -> Supply:
    """Where an input behind the arguments comes from.

    Args:
        value: the input.
        stored: the tensor that it stands for, if the function stores to it.
    """
    if isinstance(value, DrawInput):
        return Draw(value.stream)
    if stored is not None and isinstance(value, Input):
        value.payload = None  # or the version of the first call would live as long as the graph
        return Captured(stored, True)
    if isinstance(value.payload, Storage):
        return Captured(real_tensor(value.payload), False)
    return Fixed(value.payload)
