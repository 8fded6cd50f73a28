"""Replay: one case by its id, alone and in the graph in which the suite runs it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from realta.errors import ArgumentError

from realta_conformance.case import Case
from realta_conformance.contexts import run_contexts_case
from realta_conformance.device import Device
from realta_conformance.levels import LEVELS
from realta_conformance.outcome import Outcome
from realta_conformance.packing import normal_graph, packs_of
from realta_conformance.probes import probes_of
from realta_conformance.running import level_cases, probe_outcomes, run_cases
from realta_conformance.selection import select

__all__ = ["replay"]

_MODES = ("graph", "twice", "constants", "alone", "stepwise", "refusal")


def replay(device: Device, id_: str, tell: Callable[[str], None]) -> int:
    """Runs one case again and tells about it.

    Args:
        device: the device.
        id_: id of a case, with or without its mode, or of a probe.
        tell: prints a line.

    Returns:
        0 if everything passes, 1 if something fails.

    Raises:
        ArgumentError: there is no such case.
    """
    level = id_.partition("/")[0]
    if level not in {v.name for v in LEVELS}:
        raise ArgumentError(
            f"there is no level {level!r} in {id_!r}", fix="take an id from a report"
        )
    if level == "contexts":
        return _told(run_contexts_case(device, id_), tell)
    if any(id_.startswith(f"{level}/{p.name}") for p in probes_of(level)):
        found = [o for o in probe_outcomes(device, level) if o.id.startswith(id_)]
        return _told(found, tell)
    name = id_.rpartition("/")[0] if id_.rpartition("/")[2] in _MODES else id_
    cases = level_cases(level, device)
    case = next((c for c in cases if c.id == name), None)
    if case is None:
        raise ArgumentError(f"there is no case {name!r}", fix=f"see `list --level {level}`")
    tell(str(normal_graph(device, case.graph())))
    taken = select(device, cases).taken
    if case not in taken:
        tell("the device does not declare what this case needs")
        return 0
    tell("alone:")
    bad = _told(run_cases(device, [case]), tell)
    tell("in company:")
    return bad | _told(_in_company(device, taken, case), tell)


def _in_company(device: Device, taken: Sequence[Case], case: Case) -> list[Outcome]:
    portion = next(p for p in packs_of(taken) if case in p)
    return [o for o in run_cases(device, portion) if o.id.startswith(f"{case.id}/")]


def _told(outcomes: Sequence[Outcome], tell: Callable[[str], None]) -> int:
    for outcome in outcomes:
        text = f"  {outcome.kind:8} {outcome.id} ({outcome.check})"
        if outcome.max_ulp:
            text += f" {outcome.max_ulp:.3g} ulp"
        tell(f"{text} {outcome.reason}".rstrip())
    return int(any(o.kind == "failed" for o in outcomes))
