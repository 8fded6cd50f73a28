"""Flatness probe: what many small eager operations leave behind.

    python -m benchmarks.probes.flatness OPERATIONS

Counts blocks of the Python allocator, objects of the collector, bytes that Python and NumPy
allocated, and bytes that the device's pool holds, before and after.
"""

from __future__ import annotations

import gc
import json
import sys
import tracemalloc

import numpy as np
import realta
from realta import F

from benchmarks.peers.realta_modes import DEVICE

__all__ = ["main"]


class Counts:
    """Objects and bytes of this process at one moment."""

    def __init__(self) -> None:
        gc.collect()
        self.blocks = sys.getallocatedblocks()
        self.objects = len(gc.get_objects())
        self.bytes = tracemalloc.get_traced_memory()[0]
        stats = realta.memory_stats(DEVICE)[DEVICE]
        self.device_bytes = stats.live + stats.pooled


def compute(operations: int) -> None:
    """Runs small eager operations of several kinds."""
    t = realta.Tensor(np.ones(10, np.float32), device=DEVICE)
    u = realta.Tensor(np.full(10, 0.25, np.float32), device=DEVICE)
    for _ in range(operations // 5):
        y = F.relu(t + u) * 0.5
        y = y[1:9]
        y.sum()


def main(arguments: list[str]) -> int:
    """Prints what grew."""
    operations = int(arguments[0])
    tracemalloc.start()
    compute(2000)
    Counts()
    before = Counts()
    compute(operations)
    after = Counts()
    print(
        json.dumps(
            {
                "objects": max(after.blocks - before.blocks, after.objects - before.objects),
                "bytes": after.bytes - before.bytes + after.device_bytes - before.device_bytes,
            }
        )
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
