"""Storage: memory of this process with its address at hand, which kernels are called with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.runtime import allocate_block

__all__ = ["ALIGNMENT", "Memory", "new_memory"]

ALIGNMENT = 64
"""Bytes that the start of every block is a multiple of: the largest vectors, and a cache line."""


class Memory:
    """A block of bytes.

    Args:
        array: the block.
        address: where it is.
    """

    __slots__ = ("address", "array")

    def __init__(self, array: NDArray[Any], address: int) -> None:
        self.array = array
        self.address = address

    def bytes(self, nbytes: int) -> NDArray[np.uint8]:
        """The first bytes as an array that shares them."""
        return self.array[:nbytes]

    def part(self, offset: int, nbytes: int) -> Memory:
        """A part of the block."""
        return Memory(self.array[offset : offset + nbytes], self.address + offset)


def new_memory(nbytes: int) -> Memory:
    """A new block with arbitrary contents.

    Raises:
        OutOfMemory: the system does not give it.
    """
    array = allocate_block(max(nbytes, 1), ALIGNMENT)
    return Memory(array, array.__array_interface__["data"][0])
