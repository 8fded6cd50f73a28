"""Certification: levels in order, each with its verdict; what a report is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from realta_conformance.device import Device
from realta_conformance.expectations import Expectation, apply
from realta_conformance.levels import LEVELS, Level, by_name, required, required_dtypes
from realta_conformance.outcome import Outcome
from realta_conformance.running import run_level

__all__ = ["Certificate", "LevelResult", "certify", "with_needs"]

VerdictName = Literal["CONFORMS", "PARTIAL", "FAILS", "BLOCKED"]


@dataclass(slots=True)
class LevelResult:
    """A level's outcome.

    Args:
        level: the level.
        verdict: its verdict.
        outcomes: every outcome, by id.
        required_total: pairs of op and dtype that it asks for.
        required_covered: those that passed.
        missing: those that did not.
        floats: float dtypes for which everything required passed.
        graphs: graphs that were compiled.
        blocked_by: the level that failed before, if it is blocked.
    """

    level: Level
    verdict: VerdictName
    outcomes: list[Outcome] = field(default_factory=list)
    required_total: int = 0
    required_covered: int = 0
    missing: list[str] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    graphs: int = 0
    blocked_by: str = ""

    def counts(self) -> Counter[str]:
        """How many outcomes of each kind."""
        return Counter(o.kind for o in self.outcomes)


@dataclass(slots=True)
class Certificate:
    """What a run found out.

    Args:
        device: the device.
        results: the levels in order.
        stale: expectations that nothing fails any more.
    """

    device: Device
    results: list[LevelResult]
    stale: list[Expectation]

    def result(self, name: str) -> LevelResult:
        """The result of a level."""
        return next(r for r in self.results if r.level.name == name)

    def failures(self) -> list[Outcome]:
        """Everything that failed and is not declared."""
        return [o for r in self.results for o in r.outcomes if o.kind == "failed"]

    def exit_code(self, strict: bool = False) -> int:
        """0: conforms, or is partial with declared reasons; 1: does not; 2: stale expectation."""
        if self.stale:
            return 2
        allowed = ("CONFORMS",) if strict else ("CONFORMS", "PARTIAL")
        return 0 if all(r.verdict in allowed for r in self.results) else 1


def with_needs(names: Iterable[str]) -> list[Level]:
    """The levels of these names and all that they need, in order.

    Raises:
        KeyError: there is no such level.
    """
    wanted: set[str] = set()
    waiting = [by_name(n) for n in names]
    while waiting:
        level = waiting.pop()
        wanted.add(level.name)
        waiting += [by_name(n) for n in level.needs if n not in wanted]
    return [level for level in LEVELS if level.name in wanted]


Runner = Callable[[Device, str, bool], list[Outcome]]
"""``run(device, level, sample)``: the outcomes of an integration level."""


def certify(
    device: Device,
    levels: Sequence[Level] = LEVELS,
    expectations: Sequence[Expectation] = (),
    *,
    sample: bool = False,
    integration: Runner | None = None,
    progress: Callable[[LevelResult], None] | None = None,
) -> Certificate:
    """Runs levels in order; a level whose needs failed is blocked and does not run.

    Args:
        device: the device.
        levels: the levels, in order.
        expectations: declared failures.
        sample: whether to run a third of the cases only.
        integration: runs an integration level; those levels are left out without it.
        progress: called with each level's result.
    """
    done: dict[str, LevelResult] = {}
    outcomes: list[Outcome] = []
    for level in levels:
        if level.kind == "integration" and integration is None:
            continue
        blocker = next(
            (n for n in level.needs if n in done and done[n].verdict in ("FAILS", "BLOCKED")), ""
        )
        if blocker:
            result = LevelResult(level, "BLOCKED", blocked_by=blocker)
        else:
            before = device.graphs
            if level.kind == "device" or integration is None:
                raw = run_level(device, level.name, sample=sample)
            else:
                raw = integration(device, level.name, sample)
            found, _ = apply(raw, expectations)
            result = judge(device, level, found)
            result.graphs = device.graphs - before
            outcomes += found
        done[level.name] = result
        if progress is not None:
            progress(result)
    _, stale = apply(outcomes, expectations)
    used = {o.reason.partition(" [")[0] for o in outcomes if o.kind == "declared"}
    return Certificate(device, list(done.values()), [e for e in stale if e.reason not in used])


def judge(device: Device, level: Level, outcomes: Sequence[Outcome]) -> LevelResult:
    """The verdict on a level from its outcomes."""
    # Refusing what is not declared is right, and covers nothing.
    passed = {(o.op, o.dtype) for o in outcomes if o.kind == "passed" and o.check != "refusal"}
    spoilt = {(o.op, o.dtype) for o in outcomes if o.kind in ("failed", "declared")}
    wanted = [(op, d.name) for op, d in required(level.name, device)]
    missing = [pair for pair in wanted if pair not in passed or pair in spoilt]
    floats = [d.name for d in required_dtypes(device) if d.is_float]
    lacking = {dtype for _, dtype in missing}
    whole = [d for d in floats if d not in lacking]
    base = lacking - set(floats)
    kinds = {o.kind for o in outcomes}
    verdict: VerdictName = "CONFORMS"
    if "failed" in kinds:
        verdict = "FAILS"
    elif "declared" in kinds or base or (wanted and not whole):
        verdict = "PARTIAL"
    return LevelResult(
        level,
        verdict,
        sorted(outcomes, key=lambda o: (o.id, o.check)),
        len(wanted),
        len(wanted) - len(missing),
        [f"{op}/{dtype}" for op, dtype in missing],
        whole if wanted else [],
    )
