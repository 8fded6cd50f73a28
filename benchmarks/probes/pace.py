"""Pace probe: how fast this machine is now, beside the one that absolute targets were set on.

    python -m benchmarks.probes.pace

Machines differ by a factor of three, and one machine by two from one minute to the next, so a
target in microseconds says nothing by itself. The targets come from a machine on which NumPy adds
ten float32 numbers in 0.25 µs; a time is divided by how much longer that takes here and now.
"""

from __future__ import annotations

import json
import sys
from timeit import Timer

import numpy as np

__all__ = ["REFERENCE_SECONDS", "main", "pace"]

REFERENCE_SECONDS = 0.25e-6
CALLS, ROUNDS = 2000, 100


def pace() -> float:
    """How many times longer than on the reference machine a small addition takes here, now."""
    x = np.ones(10, np.float32)
    timer = Timer("x + y", globals={"x": x, "y": x.copy()})
    return min(timer.timeit(CALLS) / CALLS for _ in range(ROUNDS)) / REFERENCE_SECONDS


def main(_arguments: list[str]) -> int:
    """Prints it."""
    print(json.dumps({"pace": pace()}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
