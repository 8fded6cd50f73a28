"""Temporaries: blocks for intermediates between kernels, kept for the next run."""

from __future__ import annotations

from typing import Any, Final

from numpy.typing import NDArray

from realta_numpy.memory import allocate_block

__all__ = ["Temporaries"]

_SMALLEST: Final = 1 << 12
_MOST_KEPT: Final = 256 << 20


class Temporaries:
    """Free blocks by size, up to a limit.

    Thread-safe without a lock, which a fork could leave locked: lists are changed by one call each.
    """

    def __init__(self, most: int = _MOST_KEPT) -> None:
        self._most = most
        self._free: dict[int, list[NDArray[Any]]] = {}

    @property
    def kept(self) -> int:
        """Bytes waiting for the next run."""
        return sum([size * len(blocks) for size, blocks in list(self._free.items())])

    def take(self, nbytes: int) -> NDArray[Any]:
        """A block of at least that many bytes; arbitrary contents.

        Raises:
            OutOfMemory: the system does not give it.
        """
        size = _size(nbytes)
        try:
            return self._free[size].pop()
        except (KeyError, IndexError):
            return allocate_block(size)

    def give(self, block: NDArray[Any]) -> None:
        """Gives a block back."""
        if self.kept + block.nbytes <= self._most:
            self._free.setdefault(block.nbytes, []).append(block)

    def clear(self) -> None:
        """Frees what is kept."""
        self._free.clear()


def _size(nbytes: int) -> int:
    """Eight steps per power of two, so blocks fit again without much waste."""
    if nbytes <= _SMALLEST:
        return _SMALLEST
    step = 1 << ((nbytes - 1).bit_length() - 4)
    return -(-nbytes // step) * step
