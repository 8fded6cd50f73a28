"""Groups probe: how many kernels `explain()` shows for a compiled workload.

python -m benchmarks.probes.groups WORKLOAD
"""

from __future__ import annotations

import json
import sys

import realta

from benchmarks.peers.realta_modes import compiled
from benchmarks.workloads import WORKLOADS

__all__ = ["main"]


def main(arguments: list[str]) -> int:
    """Prints the number of kernels."""
    explanation = realta.explain(compiled(WORKLOADS[arguments[0]]))
    print(json.dumps({"groups": len(explanation.kernels)}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
