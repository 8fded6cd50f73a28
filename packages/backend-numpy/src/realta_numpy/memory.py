"""Memory: aligned blocks of host memory, and typed views on handles.

A handle of this backend is any C-contiguous array whose first bytes are the elements of a tensor in
row-major order: a block of bytes from `allocate_block`, or an array of the tensor's own dtype and
shape.
"""

from __future__ import annotations

import mmap
from contextlib import suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.backend import OutOfMemory

__all__ = ["ALIGNMENT", "allocate_block", "as_bytes", "typed"]

ALIGNMENT: Final = 64
HUGE_PAGE: Final = 2 << 20
_MAPPED_FROM: Final = 4 << 20
"""Blocks from this size on are mapped with huge pages: first touching small pages costs several
times the computation on large elementwise work."""
_BYTE: Final = np.dtype(np.uint8)


def allocate_block(nbytes: int) -> NDArray[np.uint8]:
    """A block of bytes whose address is a multiple of 64, of 2 MiB for large ones.

    Contents are arbitrary. The memory goes back to the system with the last view of the block.

    Raises:
        OutOfMemory: the system does not give that much.
    """
    try:
        if nbytes < _MAPPED_FROM:
            return _aligned(np.empty(nbytes + ALIGNMENT, _BYTE), nbytes, ALIGNMENT)
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


def _aligned(raw: NDArray[np.uint8], nbytes: int, alignment: int) -> NDArray[np.uint8]:
    start = -int(raw.__array_interface__["data"][0]) % alignment
    return raw[start : start + nbytes]


def typed(handle: Any, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """The handle as an array of this shape and dtype; the handle itself where it already is one."""
    if handle.dtype is dtype and handle.shape == shape:
        return handle  # type: ignore[no-any-return]
    return np.ndarray(shape, dtype, handle)


def as_bytes(handle: Any, nbytes: int) -> NDArray[np.uint8]:
    """The first bytes of a handle."""
    return np.ndarray((nbytes,), _BYTE, handle)
