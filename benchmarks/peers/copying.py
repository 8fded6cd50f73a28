"""The copy limit: the time to copy a workload's first input into memory that is already there.

No kernel that reads its input and writes its output can be faster, so this is measured in the same
run as everything else: all processors, 64-byte-aligned blocks, pages touched before.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import Prepared
from benchmarks.workloads import Workload

__all__ = ["prepare"]

ALIGNMENT = 64


def aligned(size: int) -> NDArray[np.float32]:
    """Allocates a float32 array whose first element is 64-byte aligned, and touches its pages."""
    block = np.zeros(size * 4 + ALIGNMENT, dtype=np.uint8)
    start = -block.ctypes.data % ALIGNMENT
    block.fill(0)
    return block[start : start + size * 4].view(np.float32)


class Copy:
    """Copies one array into another, a contiguous part a processor.

    Args:
        source: the array to copy; it is copied into an aligned block first.
    """

    def __init__(self, source: NDArray[np.float32]) -> None:
        self.source = aligned(source.size)
        self.source[:] = source.ravel()
        self.target = aligned(source.size)
        processors = len(os.sched_getaffinity(0))
        edges = np.linspace(0, source.size, processors + 1).astype(int) // 16 * 16
        edges[-1] = source.size
        self.parts = [slice(int(a), int(b)) for a, b in pairwise(edges)]
        self.pool = ThreadPoolExecutor(max(1, processors - 1))

    def part(self, part: slice) -> None:
        """Copies one part."""
        np.copyto(self.target[part], self.source[part])

    def __call__(self) -> None:
        others = [self.pool.submit(self.part, part) for part in self.parts[1:]]
        self.part(self.parts[0])
        for other in others:
            other.result()


def prepare(_peer: str, workload: Workload) -> Prepared:
    """Makes both blocks.

    Raises:
        ValueError: the copy is not complete.
    """
    copy = Copy(workload.inputs()[0])
    copy()
    if not np.array_equal(copy.source, copy.target):
        raise ValueError(f"the copy of {workload.id}'s input is not complete")
    return Prepared("copy()", {"copy": copy}, None)
