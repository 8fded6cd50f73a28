"""Launch probe: the Python that a launch of a compiled graph costs on an OpenCL device.

    python -m benchmarks.probes.launches [DEVICE]

A chain of kernels that may not be fused is called with the driver's launch replaced by nothing, and
so is a chain of half its length; the difference over the launches between them is what this
library does for each. The driver's own time is measured beside it.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pyopencl
import realta
from realta import F

__all__ = ["main"]

SHORT, LONG = 50, 100
ROUNDS = 30
CALLS = 20


def nothing(*_arguments: Any, **_options: Any) -> None:
    """Stands in for the driver; a function, since a mock object costs more than a launch."""


def chain(length: int, device: str, size: int) -> tuple[Callable[..., Any], Any]:
    """A compiled chain of so many kernels, and its input."""

    def compute(x: realta.Tensor) -> realta.Tensor:
        for _ in range(length):
            x = F.barrier(x + 1.0)
        return x

    kind = realta.TensorType("float32", (size,), device)
    compiled = realta.compile(compute)(kind)
    x = realta.Tensor(np.zeros(size, np.float32), device=device)
    compiled(x).realize()
    return compiled, x


def seconds(compiled: Callable[..., Any], x: Any) -> float:
    """The seconds of one call."""
    start = time.perf_counter()
    for _ in range(CALLS):
        compiled(x)
    return (time.perf_counter() - start) / CALLS


def per_launch(device: str, size: int) -> float:
    """The seconds that one more launch adds to a call, the median over rounds."""
    short, long = chain(SHORT, device, size), chain(LONG, device, size)
    differences = []
    for _ in range(ROUNDS):
        differences.append(seconds(*long) - seconds(*short))
        realta.synchronize()
    return statistics.median(differences) / (LONG - SHORT)


def main(arguments: list[str]) -> int:
    """Prints the seconds of Python, and of Python with the driver."""
    device = arguments[0] if arguments else "opencl:pocl"
    whole = per_launch(device, 16)
    # Executables bind the function when they are made; another size makes new ones.
    with mock.patch.object(pyopencl, "enqueue_nd_range_kernel", nothing):
        python = per_launch(device, 32)
    print(json.dumps({"python": python, "with_driver": whole}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
