"""Worker: the process of one peer, which prepares workloads and measures windows when asked.

    python -m benchmarks.worker PEER

Reads one JSON object a line and answers each with one: `{"prepare": ID}`, `{"window": SECONDS}`,
`{"release": true}`. What goes wrong is answered as `{"failure": TEXT}`; the worker lives on.
"""

from __future__ import annotations

import gc
import json
import os
import statistics
import sys
import time
import timeit
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from benchmarks import peers
from benchmarks.workloads import WORKLOADS, Workload

__all__ = ["Worker", "main"]

SAMPLE_SECONDS = 1e-3  # shorter statements are repeated until one sample takes this long
LEAST_SAMPLES = 3


def deviation(workload: Workload, result: NDArray[Any]) -> float:
    """How far a result is from what NumPy computes, or draws from the normal distribution.

    The mean and the variance of n draws deviate by about 1/sqrt(n); a hundredth of that deviation
    is given back, so that the tolerance of the other workloads fits.
    """
    if workload.expected is not None:
        return float(np.max(np.abs(result - workload.expected(*workload.inputs()))))
    draws = result.astype(np.float64)
    return max(abs(float(draws.mean())), abs(float(draws.var()) - 1)) / 100


class Worker:
    """One peer and the workload that it is ready to compute.

    Args:
        peer: a name in `peers.MODULES`.
    """

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.timer: timeit.Timer | None = None
        self.repeats = 1

    def prepare(self, workload: Workload) -> dict[str, Any]:
        """Makes a workload ready, compares its result with NumPy's, and finds the sample length.

        Raises:
            ValueError: the result differs from NumPy's by more than the workload's tolerance.
        """
        self.release()
        prepared = peers.load(self.peer)(self.peer, workload)
        difference = 0.0
        if prepared.result is not None:
            difference = deviation(workload, prepared.result())
        if not difference <= workload.tolerance:
            raise ValueError(
                f"{self.peer} differs from NumPy by {difference:.3g} on {workload.id}; "
                f"{workload.tolerance:.3g} is allowed"
            )
        # timeit switches the collector off; a user has it on.
        self.timer = timeit.Timer(
            prepared.statement, "gc.enable()", globals=prepared.names | {"gc": gc}
        )
        self.repeats = 1
        while self.timer.timeit(self.repeats) < SAMPLE_SECONDS:
            self.repeats *= 2
        return {"difference": difference}

    def window(self, seconds: float) -> dict[str, Any]:
        """Measures for so long, at least three samples, and returns their median per statement.

        Raises:
            RuntimeError: nothing was prepared.
        """
        if self.timer is None:
            raise RuntimeError("no workload is prepared")
        self.timer.timeit(1)  # another process had the processor: not part of what is measured
        samples: list[float] = []
        end = time.perf_counter() + seconds
        while len(samples) < LEAST_SAMPLES or time.perf_counter() < end:
            samples.append(self.timer.timeit(self.repeats) / self.repeats)
        return {"seconds": statistics.median(samples)}

    def release(self) -> dict[str, Any]:
        """Drops the workload and its memory."""
        self.timer = None
        gc.collect()
        return {}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Does what one request says."""
        if "prepare" in request:
            return self.prepare(WORKLOADS[request["prepare"]])
        if "window" in request:
            return self.window(float(request["window"]))
        return self.release()


def serve(worker: Worker, requests: TextIO, answers: TextIO) -> None:
    """Answers requests until there are no more."""
    for line in requests:
        try:
            answer = worker.answer(json.loads(line))
        except Exception as error:
            worker.release()
            answer = {"failure": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


def main(arguments: list[str]) -> int:
    """Serves one peer on standard input and output; what libraries print goes to standard error."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    serve(Worker(arguments[0]), sys.stdin, answers)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
