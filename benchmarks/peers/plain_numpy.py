"""NumPy as a peer: the formulas of the workloads as they stand, a fresh array an operation."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.peers import Prepared
from benchmarks.workloads import DRAWN, Workload

__all__ = ["prepare"]


def prepare(_peer: str, workload: Workload) -> Prepared:
    """Binds the inputs; a workload of one addition is timed as the expression itself."""
    inputs = workload.inputs()
    names: dict[str, Any] = dict(zip("xyz", inputs, strict=False))
    compute = workload.expected
    if compute is None:
        names["generator"] = np.random.default_rng(0)
        statement = f"result = generator.standard_normal({DRAWN}, dtype='float32')"
        return Prepared(statement, names, None)
    if workload.id == "W8a":
        statement = "result = x + y"
    else:
        statement = f"result = compute({', '.join(names)})"
        names["compute"] = compute
    return Prepared(statement, names, lambda: compute(*inputs))
