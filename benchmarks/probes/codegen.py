"""Code generation probe: how long it takes to make the source of the kernels of each workload.

    python -m benchmarks.probes.codegen

From a planned group to the text that a driver gets, without the driver: lowering, simplification,
rendering. Prints the seconds a kernel, by workload, and the worst of them.
"""

from __future__ import annotations

import json
import statistics
import sys
import time

import realta
from realta.codegen import CPU_PROFILE
from realta.codegen.dialects import OPENCL
from realta.codegen.lowering import lower
from realta.codegen.rendering import translation_unit
from realta.fusion import plan
from realta.passes import normalize

from benchmarks.peers.realta_modes import FORMULAS
from benchmarks.workloads import WORKLOADS

__all__ = ["main"]

REPEATS = 9


def per_kernel(name: str) -> float:
    """The seconds that one kernel of a workload takes, the median over repeats."""
    types = [realta.TensorType("float32", s, "reference:0") for s in WORKLOADS[name].shapes]
    graph = normalize(realta.stage(FORMULAS[name])(*types).graph, keeps=lambda _node: False)
    planned = plan(graph)
    found = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        lowered = [lower(group, CPU_PROFILE) for group in planned.groups]
        kernels = [launch.kernel for part in lowered for launch in part.launches]
        translation_unit(kernels, OPENCL, CPU_PROFILE)
        found.append((time.perf_counter() - start) / len(kernels))
    return statistics.median(found)


def main(_arguments: list[str]) -> int:
    """Prints the figures of all workloads."""
    found = {name: per_kernel(name) for name in FORMULAS}
    print(json.dumps(found | {"worst": max(found.values())}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
