"""Certification: levels in order, each with its verdict; what a report is made of."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from realta.backend import SPEC

from realta_conformance.device import Description, Device
from realta_conformance.executor import Executor, InProcess
from realta_conformance.expectations import Expectation, Usage, apply, in_force, isolated
from realta_conformance.levels import (
    LEVELS,
    Declaring,
    Level,
    by_name,
    required,
    required_dtypes,
)
from realta_conformance.outcome import Outcome
from realta_conformance.shard import WHOLE, Shard
from realta_conformance.units import Plan, Result, Unit

__all__ = ["Certificate", "LevelResult", "certify", "certify_with", "judge", "with_needs"]

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
        required: what it asks for, as ``op/dtype``.
        asked: float dtypes that it asks for.
        blocked_by: the level that failed before, if it is blocked.
    """

    level: Level
    verdict: VerdictName
    outcomes: list[Outcome] = field(default_factory=list)
    required_total: int = 0
    required_covered: int = 0
    missing: list[str] = field(default_factory=list)
    floats: list[str] = field(default_factory=list)
    required: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
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
        usages: what became of each expectation that is in force.
        shard: which part of the run it is.
        sample: whether only a third of the cases ran.
        spec: the version of the spec that it is about.
    """

    device: Description
    results: list[LevelResult]
    usages: list[Usage] = field(default_factory=list)
    shard: Shard = WHOLE
    sample: bool = False
    spec: str = SPEC

    @property
    def stale(self) -> list[Expectation]:
        """Expectations that nothing fails any more; only a whole run can tell."""
        if self.sample or not self.shard.whole:
            return []
        return [usage.expectation for usage in self.usages if usage.stale]

    def result(self, name: str) -> LevelResult:
        """The result of a level."""
        return next(r for r in self.results if r.level.name == name)

    @property
    def unused(self) -> list[Expectation]:
        """Expectations that ran and that nothing failed, in a run that is not the whole."""
        return [u.expectation for u in self.usages if u.stale and u.expectation not in self.stale]

    def failures(self) -> list[Outcome]:
        """Everything that failed and is not declared."""
        return [o for r in self.results for o in r.outcomes if o.kind == "failed"]

    def exit_code(self, strict: bool = False) -> int:
        """0: conforms, or is partial with declared reasons; 1: does not; 2: stale expectation."""
        if self.stale:
            return 2
        strict = strict and self.shard.whole  # a shard cannot cover what is required
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


Progress = Callable[[LevelResult], None]


def certify(
    device: Device,
    levels: Sequence[Level] = LEVELS,
    expectations: Sequence[Expectation] = (),
    *,
    sample: bool = False,
    integration: bool = False,
    progress: Progress | None = None,
) -> Certificate:
    """Runs levels in this process, in order; one whose needs failed is blocked and does not run.

    Args:
        device: the device.
        levels: the levels, in order.
        expectations: declared failures.
        sample: whether to run a third of the cases only.
        integration: whether to run integration levels, which need the device by its name.
        progress: called with each level's result.
    """
    wanted = [level for level in levels if integration or level.kind == "device"]
    return certify_with(InProcess(device), wanted, expectations, sample=sample, progress=progress)


def certify_with(
    executor: Executor,
    levels: Sequence[Level] = LEVELS,
    expectations: Sequence[Expectation] = (),
    *,
    sample: bool = False,
    shard: Shard = WHOLE,
    progress: Progress | None = None,
) -> Certificate:
    """Runs levels wherever an executor does; see `certify`.

    Units of different levels may run at once; what ran of a level that turns out to be blocked is
    dropped, so that the certificate is the same however many processes there are.
    """
    course = _Course(executor, levels, expectations, shard, sample, progress)
    for number, level in enumerate(levels):
        course.open_units[level.name] = 1
        executor.submit(number, Unit(level.name, "plan", sample=sample))
    for unit, result in executor.results():
        course.take(unit, result)
    return course.certificate()


class _Course:
    """A certification on its way: results come in any order, levels are judged in theirs."""

    def __init__(
        self,
        executor: Executor,
        levels: Sequence[Level],
        expectations: Sequence[Expectation],
        shard: Shard,
        sample: bool,
        progress: Progress | None,
    ) -> None:
        self.executor = executor
        self.levels = list(levels)
        self.expectations = in_force(expectations, executor.description)
        self.shard = shard
        self.sample = sample
        self.progress = progress
        self.open_units: dict[str, int] = {}
        self.found: dict[str, Result] = {level.name: Result() for level in levels}
        self.done: dict[str, LevelResult] = {}

    def take(self, unit: Unit, result: Result) -> None:
        """Takes in a unit's result, and judges every level that it completes."""
        name = unit.level
        if name in self.done:
            return  # it was blocked meanwhile
        self.open_units[name] -= 1
        if result.plan is not None:
            self._submit(name, result.plan)
        self.found[name].add(result)
        while len(self.done) < len(self.levels):
            level = self.levels[len(self.done)]
            blocker = self._blocker(level)
            if not blocker and self.open_units[level.name]:
                return
            self._judge(level, blocker)

    def _submit(self, name: str, plan: Plan) -> None:
        number = [level.name for level in self.levels].index(name)
        units = [u for n, u in enumerate(plan.units) if self.shard.takes(n)]
        if self.shard.takes(0):
            self.found[name].outcomes += plan.outcomes
        for unit in units:
            for part in isolated(unit, self.expectations):
                self.open_units[name] += 1
                self.executor.submit(number, part)

    def _blocker(self, level: Level) -> str:
        verdicts = {n: self.done[n].verdict for n in level.needs if n in self.done}
        return next((n for n, v in verdicts.items() if v in ("FAILS", "BLOCKED")), "")

    def _judge(self, level: Level, blocker: str) -> None:
        device = self.executor.description
        if blocker:
            self.executor.cancel(level.name)
            self.found[level.name] = Result()
            result = LevelResult(level, "BLOCKED", blocked_by=blocker)
        else:
            found = self.found[level.name]
            outcomes, _ = apply(found.outcomes, self.expectations)
            result = judge(device, level, outcomes, whole=self.shard.whole)
            result.graphs = found.graphs + len(found.programs)
        self.done[level.name] = result
        if self.progress is not None:
            self.progress(result)

    def certificate(self) -> Certificate:
        """What was found out."""
        raw = [o for result in self.found.values() for o in result.outcomes]
        _, usages = apply(raw, self.expectations)
        results = list(self.done.values())
        return Certificate(self.executor.description, results, usages, self.shard, self.sample)


def judge(
    device: Declaring, level: Level, outcomes: Sequence[Outcome], *, whole: bool = True
) -> LevelResult:
    """The verdict on a level from its outcomes; one that is not whole is partial at best."""
    # Refusing what is not declared is right, and covers nothing.
    passed = {(o.op, o.dtype) for o in outcomes if o.kind == "passed" and o.check != "refusal"}
    spoilt = {(o.op, o.dtype) for o in outcomes if o.kind in ("failed", "declared")}
    wanted = [(op, d.name) for op, d in required(level.name, device)]
    missing = [pair for pair in wanted if pair not in passed or pair in spoilt]
    floats = [d.name for d in required_dtypes(device) if d.is_float]
    lacking = {dtype for _, dtype in missing}
    covered = [d for d in floats if d not in lacking]
    base = lacking - set(floats)
    kinds = {o.kind for o in outcomes}
    verdict: VerdictName = "CONFORMS"
    if "failed" in kinds:
        verdict = "FAILS"
    elif "declared" in kinds or base or (wanted and not covered) or not whole:
        verdict = "PARTIAL"
    return LevelResult(
        level,
        verdict,
        sorted(outcomes, key=lambda o: (o.id, o.check)),
        len(wanted),
        len(wanted) - len(missing),
        [f"{op}/{dtype}" for op, dtype in missing],
        covered if wanted else [],
        [f"{op}/{dtype}" for op, dtype in wanted],
        floats,
    )
