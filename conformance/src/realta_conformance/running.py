"""Running: a level on a device, from its cases and probes to outcomes."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from realta.backend import Options, UnsupportedOp
from realta.ops import all_ops
from realta.types import DTYPES

from realta_conformance.case import Case, OpCase, cases_of, op_cases
from realta_conformance.device import Device
from realta_conformance.evidence import evidence
from realta_conformance.execution import Findings, raised, run_alone, run_constants, run_pack
from realta_conformance.graphs import graph_cases
from realta_conformance.levels import is_sent
from realta_conformance.oracle import same_bits
from realta_conformance.outcome import CHECKS, Kind, Outcome
from realta_conformance.packing import packs_of
from realta_conformance.probes import probes_of
from realta_conformance.selection import Selection
from realta_conformance.stepwise import step_by_step

__all__ = [
    "left_out", "level_cases", "probe_outcomes", "refusal_cases", "refusal_outcome", "run_cases",
    "to_run_alone",
]  # fmt: skip

_SAMPLED = 3
_GRAPH_CHECKS = ("run", "claims", "values", "inputs", "alias", "launches")
_MODES = {"repeat": "twice", "constants": "constants", "company": "alone", "fused": "stepwise"}


def level_cases(level: str, device: Device, *, sample: bool = False) -> list[Case]:
    """The cases of a level, those of ops before those of graphs.

    Args:
        level: the level.
        device: the device that is to run them.
        sample: a third of the cases of each op and dtype, other ones for each dtype, and all with
            special values.
    """
    storage = device.capabilities.storage
    found = [*op_cases(level), *graph_cases(level, storage, rounds=device.exact)]
    found = [case for case in found if is_sent(device, case.elements)]
    if not sample:
        return found
    groups: dict[tuple[str, str], list[Case]] = {}
    for case in found:
        groups.setdefault((case.op, case.dtype.name), []).append(case)
    kept: set[Case] = set()
    for group in groups.values():
        turn = DTYPES.index(group[0].dtype)
        third = [c for n, c in enumerate(group) if (n + turn) % _SAMPLED == 0]
        kept.update(third or group[:1])
    return [c for c in found if c in kept or c.id.endswith("-special")]


def probe_outcomes(
    device: Device, level: str, names: Collection[str] | None = None
) -> Iterator[Outcome]:
    """The outcomes of a level's probes, or of those of these names."""
    for probe in probes_of(level):
        if names is not None and probe.name not in names:
            continue
        prefix = f"{level}/{probe.name}"
        try:
            findings = list(probe.function(device))
        except Exception as error:
            reason = raised(error)[1]
            yield Outcome(
                prefix, level, probe.name, "", "contract", "failed", reason, help=probe.help
            )
            continue
        for finding in findings:
            kind: Kind = "failed" if finding.wrong else "passed"
            if finding.skipped:
                kind = "not-applicable"
            name = f"{prefix}-{finding.name}" if finding.name else prefix
            yield Outcome(
                name, level, probe.name, finding.dtype, "contract", kind,
                finding.wrong or finding.skipped, help=probe.help,
            )  # fmt: skip


def left_out(selection: Selection) -> list[Outcome]:
    """The outcomes of cases that a device is not to run."""
    found = [_plain(c, "graph", "run", "not-applicable", why) for c, why in selection.absent]
    return found + [_plain(c, "graph", "run", "limited", why) for c, why in selection.limited]


def _plain(case: Case, mode: str, check: str, kind: Kind, reason: str = "") -> Outcome:
    return Outcome(
        f"{case.id}/{mode}", case.level, case.op, case.dtype.name, check, kind, reason,
        help=case.note,
    )  # fmt: skip


def run_cases(
    device: Device, cases: Sequence[Case], alone: Collection[Case] | None = None
) -> list[Outcome]:
    """Runs cases in every device mode: packed, twice, with constants, alone, step by step.

    Args:
        device: the device.
        cases: the cases.
        alone: those to run alone too; chosen by `to_run_alone` if left out.
    """
    found: list[Outcome] = []
    chosen = to_run_alone(cases) if alone is None else alone
    for portion in packs_of(cases):
        findings = run_pack(device, portion)
        fixed = [f for f in findings if _takes_constants(device, f)]
        if fixed:
            run_constants(device, [f.case for f in fixed], fixed)
        for finding in findings:
            if finding.case in chosen and not finding.failures and device.exact:
                _alone(device, finding)
        graphs = [f for f in findings if not isinstance(f.case, OpCase) and f.results]
        if graphs and device.exact:
            step_by_step(device, graphs)
        for finding in findings:
            _confirm(device, finding, len(portion))
            found += _outcomes(finding, finding in fixed, finding.case in chosen, finding in graphs)
    return found


def _takes_constants(device: Device, finding: Findings) -> bool:
    declared = device.capabilities.ops.get("constant", frozenset())
    types = finding.case.types
    return bool(types and finding.results) and all(t.dtype in declared for t in types)


def to_run_alone(cases: Sequence[Case]) -> set[Case]:
    """One inexact case of each op and dtype: only inexact work can depend on its company."""
    first: dict[tuple[str, str], Case] = {}
    for case in cases:
        if not case.exact and case.elements > 16:
            first.setdefault((case.op, case.dtype.name), case)
    return set(first.values())


def _alone(device: Device, finding: Findings) -> None:
    single = run_alone(device, finding.case)
    if single.failures:
        check, reason = next(iter(single.failures.items()))
        finding.fail("company", f"alone, {check} fails: {reason}")
        return
    pairs = zip(finding.results, single.results, strict=True)
    if not all(same_bits(a, b) for a, b in pairs):
        finding.fail("company", "alone, the bits are not those that it gave among other ops")


def _confirm(device: Device, finding: Findings, company: int) -> None:
    """Says whether a failure needs company, so that whoever mends it knows where to look."""
    if company == 1 or not finding.failures or "run" in finding.failures:
        return
    if not run_alone(device, finding.case).failures and "company" not in finding.failures:
        for check, reason in finding.failures.items():
            if check in _GRAPH_CHECKS:
                finding.failures[check] = f"{reason}; only in the company of other cases"


def _outcomes(finding: Findings, fixed: bool, alone: bool, stepped: bool) -> list[Outcome]:
    case = finding.case
    wrong = [(c, r) for c, r in finding.failures.items() if c in _GRAPH_CHECKS]
    made = [_scored(finding, "graph", c, "failed", r) for c, r in wrong]
    if not made:
        made.append(_scored(finding, "graph", "values", "passed"))
    if "run" in finding.failures or "claims" in finding.failures:
        return made
    asked = {"repeat": True, "constants": fixed, "company": alone, "fused": stepped}
    for check, wanted in asked.items():
        if not wanted:
            continue
        reason = finding.failures.get(check)
        kind: Kind = "passed" if reason is None else "failed"
        made.append(_plain(case, _MODES[check], check, kind, reason or ""))
    return made


def _scored(finding: Findings, mode: str, check: str, kind: Kind, reason: str = "") -> Outcome:
    case = finding.case
    graph, operands = evidence(case, finding.worst) if kind == "failed" else ("", "")
    return Outcome(
        f"{case.id}/{mode}", case.level, case.op, case.dtype.name, check, kind, reason,
        finding.max_ulp, finding.launches, case.note or CHECKS[check], finding.bound_use,
        graph, operands,
    )  # fmt: skip


def refusal_cases(device: Device, level: str) -> list[OpCase]:
    """A case for each op of a level that the device does not declare for some dtype it stores."""
    declared = device.capabilities
    found = []
    for op in all_ops():
        table = declared.ops if op.primitive else declared.composites
        if op.level != level or op.name == "transfer":
            continue
        for dtype in sorted(declared.storage, key=lambda d: d.name):
            if dtype not in op.dtypes or dtype in table.get(op.name, frozenset()):
                continue
            case = next((c for c in cases_of(op) if c.dtype is dtype), None)
            if case is not None:
                found.append(case)
                break  # one dtype stands for all: capabilities are one table
    return found


def refusal_outcome(device: Device, case: OpCase) -> Outcome:
    """What is not declared must be refused: by `supports`, or by `compile` with UnsupportedOp."""
    graph = case.graph()
    try:
        refused = device.session.supports(graph.nodes[-1]) is not None
        if not refused:
            device.session.compile(graph, Options(name=graph.name)).close()
            reason = "it was compiled although it is not declared"
    except UnsupportedOp:
        refused = True
    except Exception as error:
        reason = f"refused with {raised(error, declared=False)[1]}"
    kind: Kind = "passed" if refused else "failed"
    return _plain(case, "refusal", "refusal", kind, "" if refused else reason)
