"""Host memory: aligned blocks for devices that compute in the memory of this process."""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.errors import OutOfMemory

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["allocate_block"]

ALIGNMENT: Final = 64
HUGE_PAGE: Final = 2 << 20
_MAPPED_FROM: Final = 4 << 20
"""Blocks from this size on are mapped with huge pages: first touching small pages costs several
times the computation on large elementwise work."""
_BYTE: Final = np.dtype(np.uint8)


def allocate_block(nbytes: int, alignment: int = ALIGNMENT) -> NDArray[np.uint8]:
    """A block of bytes whose address is a multiple of the alignment, of 2 MiB for large ones.

    Contents are arbitrary. The memory goes back to the system with the last view of the block.

    Args:
        nbytes: its size.
        alignment: a power of two, at most 2 MiB.

    Raises:
        OutOfMemory: the system does not give that much.
    """
    try:
        if nbytes < _MAPPED_FROM:
            return _aligned(np.empty(nbytes + alignment, _BYTE), nbytes, alignment)
        mapped = mmap.mmap(-1, nbytes + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    except (MemoryError, OSError, OverflowError, ValueError) as error:
        raise OutOfMemory(
            f"the system gives no block of {nbytes} bytes ({error})",
            fix="free tensors, use smaller ones or a smaller dtype",
        ) from error
    if hasattr(mmap, "MADV_HUGEPAGE"):
        with suppress(OSError):  # a kernel without them serves small pages: slower, but right
            mapped.madvise(mmap.MADV_HUGEPAGE, 0, _huge_bytes(nbytes))
    return _aligned(np.frombuffer(mapped, _BYTE), nbytes, HUGE_PAGE)


def _huge_bytes(nbytes: int) -> int:
    """How much of a mapping gets huge pages: what a size class may leave unused stays small pages.

    A class is at most an eighth larger than its tensor, and a huge page is memory as a whole once
    a byte of it is touched.
    """
    return max(1, nbytes * 7 // 8 // HUGE_PAGE) * HUGE_PAGE


def _aligned(raw: NDArray[Any], nbytes: int, alignment: int) -> NDArray[np.uint8]:
    start = -int(raw.__array_interface__["data"][0]) % alignment
    return raw[start : start + nbytes]
