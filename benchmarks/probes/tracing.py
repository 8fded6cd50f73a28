"""Tracing probe: how long recording a node takes, lazily, on operands that stay pending.

python -m benchmarks.probes.tracing NODES
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import numpy as np
import realta
from realta import F

from benchmarks.peers.realta_modes import DEVICE

__all__ = ["main"]

REPEATS = 5


def record(nodes: int) -> float:
    """Records about so many nodes and returns the seconds a node.

    Raises:
        RuntimeError: something ran.
    """
    x = realta.Tensor(np.ones(10, np.float32), device=DEVICE)
    with realta.lazy():
        y = x
        start = time.perf_counter()
        for _ in range(nodes // 4):
            y = F.maximum(F.tanh(y * x + x), x)
        elapsed = time.perf_counter() - start
        if y.is_real:
            raise RuntimeError("a lazy tensor became real while it was recorded")
    return elapsed / (nodes // 4 * 4)


def main(arguments: list[str]) -> int:
    """Prints the median over some repeats."""
    nodes = int(arguments[0])
    record(1000)
    print(json.dumps({"seconds": statistics.median(record(nodes) for _ in range(REPEATS))}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
