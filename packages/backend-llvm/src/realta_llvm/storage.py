"""Storage: memory of this process with its address at hand, which kernels are called with."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.runtime import allocate_block

__all__ = ["ALIGNMENT", "Memory", "new_memory", "small_block"]

ALIGNMENT = 64
"""Bytes that the start of every block is a multiple of: the largest vectors, and a cache line."""


class Memory:
    """A block of bytes.

    Args:
        owner: what the block belongs to and lives as long as: an array, or an array of ctypes.
        address: where it is.
    """

    __slots__ = ("_array", "address", "owner")

    def __init__(self, owner: Any, address: int) -> None:
        self.owner = owner
        self.address = address
        self._array: NDArray[np.uint8] | None = None

    @property
    def array(self) -> NDArray[np.uint8]:
        """The block as bytes; made when it is first asked for."""
        if self._array is None:
            owner = self.owner
            self._array = owner if isinstance(owner, np.ndarray) else np.frombuffer(owner, np.uint8)
        return self._array

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


@cache
def small_block(nbytes: int) -> Callable[[], Any]:
    """What makes small blocks, aligned to 16 bytes, in a third of the time of an array."""
    return ctypes.c_ubyte * max(nbytes, 1)
