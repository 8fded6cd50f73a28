"""The read limit: the time to read a workload's first input once, on all processors.

Nothing that has to look at every element can be faster. A dot product of a part with itself reads
each element once, and BLAS does it at the speed of memory.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers import Prepared
from benchmarks.peers.copying import Copy
from benchmarks.workloads import Workload

__all__ = ["prepare"]


class Read(Copy):
    """Reads an array, a contiguous part a processor.

    Args:
        source: the array to read; it is copied into an aligned block first.
    """

    def __init__(self, source: NDArray[np.float32]) -> None:
        super().__init__(source)
        self.sums = dict.fromkeys((part.start for part in self.parts), 0.0)

    def part(self, part: slice) -> None:
        """Reads one part."""
        view = self.source[part]
        self.sums[part.start] = float(np.dot(view, view))


def prepare(_peer: str, workload: Workload) -> Prepared:
    """Makes the block.

    Raises:
        ValueError: not every element was read.
    """
    read = Read(workload.inputs()[0])
    read()
    expected = float(np.sum(np.square(read.source, dtype=np.float64)))
    if abs(sum(read.sums.values()) / expected - 1) > 1e-3:
        raise ValueError(f"{workload.id}'s input was not read completely")
    return Prepared("read()", {"read": read}, None)
