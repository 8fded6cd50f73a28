"""Temporaries: blocks for intermediates between kernels, kept for the next run."""

from __future__ import annotations

import threading
from typing import Any, Final

from numpy.typing import NDArray

from realta_numpy.memory import allocate_block

__all__ = ["Temporaries"]

_SMALLEST: Final = 1 << 12
_MOST_KEPT: Final = 256 << 20


class Temporaries:
    """Free blocks by size, up to a limit; thread-safe."""

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._free: dict[int, list[NDArray[Any]]] = {}
        self._kept = 0

    @property
    def kept(self) -> int:
        """Bytes waiting for the next run."""
        return self._kept

    def take(self, nbytes: int) -> NDArray[Any]:
        """A block of at least that many bytes; arbitrary contents.

        Raises:
            OutOfMemory: the system does not give it.
        """
        size = max(_SMALLEST, 1 << (nbytes - 1).bit_length() if nbytes else 0)
        if nbytes > 1 << 20:  # finer steps where memory counts
            step = 1 << ((nbytes - 1).bit_length() - 4)
            size = -(-nbytes // step) * step
        with self._lock:
            blocks = self._free.get(size)
            if blocks:
                self._kept -= size
                return blocks.pop()
        return allocate_block(size)

    def give(self, block: NDArray[Any]) -> None:
        """Gives a block back."""
        size = block.nbytes
        with self._lock:
            if self._kept + size <= self._most:
                self._free.setdefault(size, []).append(block)
                self._kept += size

    def clear(self) -> None:
        """Frees what is kept."""
        with self._lock:
            self._free.clear()
            self._kept = 0
