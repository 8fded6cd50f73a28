"""Lowered: the kernels that compute one fusion group, and the memory they pass on to each other."""

from __future__ import annotations

from realta.codegen.ir import Kernel
from realta.graph import Value
from realta.records import Record
from realta.types import DType

__all__ = ["Argument", "Launch", "Lowered", "Temporary"]


class Temporary(Record):
    """Memory that lives from one launch of a group to a later one.

    Args:
        number: tells it from the others of the group.
        dtype: storage type.
        size: number of elements.
    """

    __slots__ = ("dtype", "number", "size")

    number: int
    dtype: DType
    size: int

    def __init__(self, number: int, dtype: DType, size: int) -> None:
        self._set(dtype, number, size)


Argument = Value | Temporary
"""What a kernel's buffer is bound to: a value of the graph (stored dense and row-major) or a
temporary."""


class Launch(Record):
    """One kernel with what its buffers are bound to, in order."""

    __slots__ = ("arguments", "kernel")

    kernel: Kernel
    arguments: tuple[Argument, ...]

    def __init__(self, kernel: Kernel, arguments: tuple[Argument, ...]) -> None:
        self._set(arguments, kernel)


class Lowered(Record):
    """What computes a fusion group: launches in order, each seeing what the earlier ones wrote.

    Args:
        launches: at least one, unless all outputs are empty.
        schedule: the schedule in a few words, for `explain`.
    """

    __slots__ = ("launches", "schedule")

    launches: tuple[Launch, ...]
    schedule: str

    def __init__(self, launches: tuple[Launch, ...], schedule: str) -> None:
        self._set(launches, schedule)
