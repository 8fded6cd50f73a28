"""NumPy as a peer: the formulas of the workloads as they stand, a fresh array an operation."""

from __future__ import annotations

from typing import Any

from benchmarks.peers import Prepared
from benchmarks.workloads import Workload

__all__ = ["prepare"]


def prepare(_peer: str, workload: Workload) -> Prepared:
    """Binds the inputs; a workload of one addition is timed as the expression itself."""
    inputs = workload.inputs()
    names: dict[str, Any] = dict(zip("xyz", inputs, strict=False))
    if workload.id == "W8a":
        statement = "result = x + y"
    else:
        statement = f"result = compute({', '.join(names)})"
        names["compute"] = workload.expected
    return Prepared(statement, names, lambda: workload.expected(*inputs))
