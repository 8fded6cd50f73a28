"""Scratch: the memory of a thread's tiles, kept between kernels; and tiles over threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.runtime import workers

from realta_numpy.memory import allocate_block

__all__ = ["borrowed", "share_tiles", "thread_scratch"]

_MOST_KEPT = 64 << 20
"""Larger scratch is for one kernel with very long rows, and is not kept."""
_local = threading.local()


def thread_scratch(nbytes: int) -> NDArray[Any]:
    """A block of at least that many bytes that this thread has for the kernel it runs."""
    block: NDArray[Any] | None = getattr(_local, "block", None)
    if block is not None and block.nbytes >= nbytes:
        return block
    block = allocate_block(nbytes)
    if nbytes <= _MOST_KEPT:
        _local.block = block
    return block


def borrowed(slot: int, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array for the inside of one function on tiles; the same memory at every call.

    Fresh memory would be given back to the system and faulted in again at each tile.

    Args:
        slot: tells the arrays of one function apart; functions that call each other share none.
        shape: extents.
        dtype: element type.
    """
    blocks: dict[int, NDArray[Any]] | None = getattr(_local, "borrowed", None)
    if blocks is None:
        blocks = _local.borrowed = {}
    nbytes = prod(shape) * dtype.itemsize
    block = blocks.get(slot)
    if block is None or block.nbytes < nbytes:
        block = allocate_block(nbytes)
        if nbytes <= _MOST_KEPT:
            blocks[slot] = block
    return np.ndarray(shape, dtype, block)


def share_tiles(tiles: Callable[[int, int], None], count: int, parallel: bool) -> None:
    """Runs ``tiles(first, last)`` over a range, a contiguous part for each thread."""
    pool = workers()
    shares = min(pool.count, count) if parallel else 1
    if shares == 1:
        tiles(0, count)
        return

    def share(number: int) -> None:
        tiles(count * number // shares, count * (number + 1) // shares)

    pool.run(share, shares)
