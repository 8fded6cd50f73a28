"""Units: a level's work in pieces, each of which one process does at one go.

What a unit finds depends on the unit alone, never on what ran before it in the same process; so
reports are equal however the units are spread.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from realta_conformance.contexts import (
    contexts_cases,
    named_cases,
    run_portion,
    watched_compilations,
)
from realta_conformance.device import Device
from realta_conformance.levels import by_name
from realta_conformance.outcome import Outcome
from realta_conformance.packing import packs_of
from realta_conformance.probes import probes_of
from realta_conformance.running import (
    left_out,
    level_cases,
    probe_outcomes,
    refusal_cases,
    refusal_outcome,
    run_cases,
    to_run_alone,
)
from realta_conformance.selection import select

__all__ = ["Plan", "Result", "Unit", "crashed", "halves", "perform", "plan", "singled_out"]

Kind = Literal["plan", "probe", "cases", "refusals", "modes"]


@dataclass(frozen=True, slots=True)
class Unit:
    """A piece of a level.

    Args:
        level: name of the level.
        kind: what it does: list the level's other units, try a probe, run cases through the
            contract, ask for refusals, or run cases in every mode of the user's API.
        names: the probe, or ids of the cases.
        owners: the op and the dtype of each name, for outcomes of a process that died.
        alone: those of the cases that are run alone too.
        sample: whether the level is sampled.
    """

    level: str
    kind: Kind
    names: tuple[str, ...] = ()
    owners: tuple[tuple[str, str], ...] = ()
    alone: frozenset[str] = frozenset()
    sample: bool = False

    def taking(self, numbers: Iterable[int]) -> Unit:
        """The unit with some of its names only."""
        kept = list(numbers)
        return replace(
            self,
            names=tuple([self.names[n] for n in kept]),
            owners=tuple([self.owners[n] for n in kept]),
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """What a level consists of on a device.

    Args:
        units: its units.
        outcomes: those of cases that are left out.
    """

    units: tuple[Unit, ...]
    outcomes: tuple[Outcome, ...]


@dataclass(slots=True)
class Result:
    """What a unit found.

    Args:
        outcomes: its outcomes.
        graphs: graphs that the session compiled.
        programs: digests of the graphs that core had compiled; units may share some.
        plan: of a unit that plans.
    """

    outcomes: list[Outcome] = field(default_factory=list)
    graphs: int = 0
    programs: frozenset[str] = frozenset()
    plan: Plan | None = None

    def add(self, other: Result) -> None:
        """Takes in what another part of the same work found."""
        self.outcomes += other.outcomes
        self.graphs += other.graphs
        self.programs |= other.programs


def plan(device: Device, level: str, *, sample: bool = False) -> Plan:
    """The units of a level."""
    units = [Unit(level, "probe", (p.name,), ((p.name, ""),)) for p in probes_of(level)]
    if by_name(level).kind == "integration":
        for portion in packs_of(contexts_cases(device, sample) if level == "contexts" else ()):
            names, owners = tuple(c.id for c in portion), tuple(map(_owner, portion))
            units.append(Unit(level, "modes", names, owners, sample=sample))
        return Plan(tuple(units), ())
    selection = select(device, level_cases(level, device, sample=sample))
    chosen = frozenset(case.id for case in to_run_alone(selection.taken))
    for portion in packs_of(selection.taken):
        names, owners = tuple(c.id for c in portion), tuple(map(_owner, portion))
        alone = chosen.intersection(names)
        units.append(Unit(level, "cases", names, owners, alone, sample))
    refused = refusal_cases(device, level)
    if refused:
        names, owners = tuple(c.id for c in refused), tuple(map(_owner, refused))
        units.append(Unit(level, "refusals", names, owners))
    return Plan(tuple(units), tuple(left_out(selection)))


def _owner(case: object) -> tuple[str, str]:
    return case.op, case.dtype.name  # type: ignore[attr-defined]


def perform(device: Device, unit: Unit) -> Result:
    """Does a unit's work."""
    if unit.kind == "plan":
        return Result(plan=plan(device, unit.level, sample=unit.sample))
    before = device.graphs
    if by_name(unit.level).kind == "integration":
        with watched_compilations(device) as programs:
            found = _integration_outcomes(device, unit)
        return Result(found, device.graphs - before, frozenset(programs))
    return Result(_device_outcomes(device, unit), device.graphs - before)


def _integration_outcomes(device: Device, unit: Unit) -> list[Outcome]:
    if unit.kind == "probe":
        return list(probe_outcomes(device, unit.level, unit.names))
    return run_portion(device, named_cases(device, unit.sample, set(unit.names)))


def _device_outcomes(device: Device, unit: Unit) -> list[Outcome]:
    if unit.kind == "probe":
        return list(probe_outcomes(device, unit.level, unit.names))
    wanted = set(unit.names)
    if unit.kind == "refusals":
        cases = [c for c in refusal_cases(device, unit.level) if c.id in wanted]
        return [refusal_outcome(device, case) for case in cases]
    found = [c for c in level_cases(unit.level, device) if c.id in wanted]
    return run_cases(device, found, frozenset(c for c in found if c.id in unit.alone))


def halves(unit: Unit) -> tuple[Unit, Unit]:
    """A unit in two parts."""
    middle = len(unit.names) // 2
    return unit.taking(range(middle)), unit.taking(range(middle, len(unit.names)))


def singled_out(unit: Unit, wanted: Sequence[bool]) -> list[Unit]:
    """A unit in parts: each wanted name on its own, and the rest together."""
    alone = [unit.taking([n]) for n, single in enumerate(wanted) if single]
    rest = [n for n, single in enumerate(wanted) if not single]
    return [*alone, unit.taking(rest)] if rest else alone


def crashed(unit: Unit, check: Literal["crash", "hang"], reason: str) -> Outcome:
    """The outcome of a unit whose process did not come back, counted under its first name."""
    if not unit.names:
        return Outcome(f"{unit.level}/plan", unit.level, "plan", "", check, "failed", reason)
    name, (op, dtype) = unit.names[0], unit.owners[0]
    if unit.kind == "probe":
        name = f"{unit.level}/{name}"
    elif unit.kind == "modes":
        name = f"{unit.level}/{name.partition('/')[2]}/eager"
    else:
        name = f"{name}/{'refusal' if unit.kind == 'refusals' else 'graph'}"
    return Outcome(name, unit.level, op, dtype, check, "failed", reason)
