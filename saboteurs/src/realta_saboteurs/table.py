"""Table: every saboteur with its fault off and on, and what the suite said."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from multiprocessing import get_context
from typing import Final

from realta_conformance.certification import Certificate, certify, with_needs
from realta_conformance.device import open_backend

from realta_saboteurs.control_faults import CONTROL_FAULTS
from realta_saboteurs.fault import Fault
from realta_saboteurs.generated_faults import GENERATED_FAULTS, GeneratedFault, failing
from realta_saboteurs.healthy import Saboteur
from realta_saboteurs.kernel_faults import KERNEL_FAULTS
from realta_saboteurs.session_faults import SESSION_FAULTS
from realta_saboteurs.window_faults import WINDOW_FAULTS

__all__ = ["FAULTS", "Row", "examine", "rows"]

FAULTS: Final[tuple[Fault, ...]] = (
    *KERNEL_FAULTS,
    *WINDOW_FAULTS,
    *CONTROL_FAULTS,
    *SESSION_FAULTS,
    *GENERATED_FAULTS,
)


@dataclass(frozen=True, slots=True)
class Row:
    """What the suite said about one saboteur.

    Args:
        fault: its fault.
        found: the checks that failed with the fault on.
        before: levels before the failing one that did not conform.
        off: why it does not certify with the fault off; empty if it does.
    """

    fault: Fault
    found: frozenset[str]
    before: tuple[str, ...]
    off: str

    @property
    def right(self) -> bool:
        """Whether exactly the declared checks failed, at the declared level and no earlier."""
        return self.found == self.fault.fails and not self.before and not self.off

    @property
    def problem(self) -> str:
        """What is not as declared."""
        parts = []
        if self.off:
            parts.append(f"with the fault off: {self.off}")
        if missed := sorted(self.fault.fails - self.found):
            parts.append(f"not caught: {', '.join(missed)}")
        if extra := sorted(self.found - self.fault.fails):
            parts.append(f"also failed: {', '.join(extra)}")
        if self.before:
            parts.append(f"levels before it: {', '.join(self.before)}")
        return "; ".join(parts)


def _certificate(saboteur: Saboteur, level: str, sample: bool) -> Certificate:
    device = open_backend(saboteur)
    try:
        return certify(device, with_needs([level]), sample=sample)
    finally:
        device.close()


@cache
def _healthy_problem(level: str, lacks: frozenset[str], sample: bool) -> str:
    """Why the backend does not certify without a fault; without one all saboteurs are the same."""
    for result in _certificate(Saboteur(Fault(lacks=lacks)), level, sample).results:
        if result.verdict == "CONFORMS" or (lacks and result.verdict == "PARTIAL"):
            continue
        first = next((o for o in result.outcomes if o.kind == "failed"), None)
        reason = f"{first.id}: {first.reason}" if first else "something required is missing"
        return f"{result.level.name} {result.verdict}, {reason}"
    return ""


def examine(fault: Fault, *, sample: bool = False) -> Row:
    """Certifies a backend with the fault off, then on.

    Args:
        fault: the fault.
        sample: a third of the cases; else every case.
    """
    if isinstance(fault, GeneratedFault):
        off = ", ".join(sorted(failing(fault, on=False, sample=sample)))
        return Row(fault, failing(fault, on=True, sample=sample), (), off)
    off = _healthy_problem(fault.level, fault.lacks, sample)
    certificate = _certificate(Saboteur(fault), fault.level, sample)
    found = frozenset(o.key for o in certificate.failures())
    before = tuple(
        f"{r.level.name} {r.verdict}"
        for r in certificate.results
        if r.level.name != fault.level and r.verdict != "CONFORMS"
    )
    return Row(fault, found, before, off)


def rows(faults: Sequence[Fault] = FAULTS, *, sample: bool = False, jobs: int = 1) -> Iterator[Row]:
    """The row of each fault, in order.

    Args:
        faults: the faults.
        sample: a third of the cases; else every case.
        jobs: processes to share the work.
    """
    if jobs == 1:
        for fault in faults:
            yield examine(fault, sample=sample)
        return
    # Spawned, not forked: threads of NumPy's BLAS do not survive a fork.
    with ProcessPoolExecutor(jobs, get_context("spawn")) as pool:
        numbers = [FAULTS.index(fault) for fault in faults]
        for fault, found in zip(faults, pool.map(partial(_found, sample), numbers), strict=True):
            yield Row(fault, *found)


def _found(sample: bool, number: int) -> tuple[frozenset[str], tuple[str, ...], str]:
    """What was found about a fault, without the fault: its kernels cannot be sent anywhere."""
    row = examine(FAULTS[number], sample=sample)
    return row.found, row.before, row.off
