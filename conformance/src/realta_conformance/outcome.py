"""Outcome: what became of one case in one mode, or of one probe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["CHECKS", "Kind", "Outcome"]

Kind = Literal["passed", "failed", "declared", "not-applicable", "limited", "blocked"]

CHECKS = {
    "run": "it compiles and runs without raising",
    "claims": "what the capabilities declare is there",
    "values": "every element is within its bound of the truth",
    "inputs": "operands are as they were before",
    "alias": "results share no memory with operands, with each other, or with an earlier call",
    "repeat": "a second call computes anew, and the same operands give the same bits",
    "constants": "operands given as constants give the same bits",
    "company": "alone, without other ops in the graph, the bits are the same",
    "fused": "a graph gives the same bits as its ops one by one",
    "launches": "the work is done by a kernel that the executable reports",
    "refusal": "what is not declared is refused with UnsupportedOp",
    "contract": "the method of the contract keeps its promise",
    "mode": "every mode of the user API gives the same bits",
    "crash": "the process survives it",
    "hang": "the device comes back from it",
}
"""Each check and what it asks for; expectation files and reports use these names."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one case in one mode.

    Args:
        id: id of the case, then a slash and the mode: ``core/add-f32-17/graph``.
        level: its level.
        op: the op, or the name of the probe.
        dtype: name of the dtype that is counted, or empty.
        check: the check that failed; of a passed outcome the one it was made for.
        kind: what became of it.
        reason: why it failed, is declared, limited, blocked or not applicable.
        max_ulp: the largest distance from the truth.
        launches: kernels that took part, work declared to run on the host not counted.
        help: what to look at if it fails.
        bound_use: the largest share of its bound that an element uses.
        graph: of a failed case, the graph.
        operands: of a failed case, the smallest operands known to fail.
    """

    id: str
    level: str
    op: str
    dtype: str
    check: str
    kind: Kind
    reason: str = ""
    max_ulp: float = 0.0
    launches: int = 0
    help: str = ""
    bound_use: float = 0.0
    graph: str = ""
    operands: str = ""

    @property
    def key(self) -> str:
        """Level, op and check, as expectation files and saboteurs name them."""
        return f"{self.level}/{self.op}/{self.check}"
