"""Report: a run as JSON that can be diffed, and as a table for people."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from realta_conformance.certification import Certificate, LevelResult
from realta_conformance.expectations import Usage
from realta_conformance.outcome import Outcome
from realta_conformance.values import SEED
from realta_conformance.versions import SUITE, version_of

__all__ = ["SCHEMA", "as_json", "print_failures", "print_summary", "to_dict"]

SCHEMA: Final = 1
_SHOWN: Final = 10


def _cases(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """One entry a case: the modes that passed, the largest distance from the truth, launches."""
    found: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        name, _, mode = outcome.id.rpartition("/")
        if outcome.check in ("contract", "refusal"):
            name, mode = outcome.id, outcome.check
        case = found.setdefault(name, {"id": name, "op": outcome.op, "dtype": outcome.dtype})
        if outcome.kind == "passed":
            case.setdefault("passed", []).append(mode)
        for key in ("max_ulp", "bound_use"):
            if getattr(outcome, key) > case.get(key, 0):
                case[key] = _short(getattr(outcome, key))
        if outcome.launches:
            case["launches"] = outcome.launches
    return [found[name] for name in sorted(found)]


def _short(number: float) -> float:
    return float(f"{number:.4g}")


def _problem(outcome: Outcome) -> dict[str, str]:
    found = {
        "id": outcome.id, "op": outcome.op, "dtype": outcome.dtype, "check": outcome.check,
        "outcome": outcome.kind, "reason": outcome.reason,
    }  # fmt: skip
    more = {"about": outcome.help, "graph": outcome.graph, "operands": outcome.operands}
    wanted = outcome.kind in ("failed", "declared")
    return found | {key: text for key, text in more.items() if wanted and text}


def _ops(outcomes: Sequence[Outcome]) -> list[dict[str, Any]]:
    """For each op and dtype: how many outcomes of each kind, the worst ulp and use of a bound."""
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for outcome in outcomes:
        key = (outcome.op, outcome.dtype)
        entry = found.setdefault(
            key, {"op": outcome.op, "dtype": outcome.dtype, "counts": Counter(),
                  "max_ulp": 0.0, "bound_use": 0.0},
        )  # fmt: skip
        entry["counts"][outcome.kind] += 1
        entry["max_ulp"] = max(entry["max_ulp"], _short(outcome.max_ulp))
        entry["bound_use"] = max(entry["bound_use"], _short(outcome.bound_use))
    for entry in found.values():
        entry["counts"] = dict(sorted(entry["counts"].items()))
    return [found[key] for key in sorted(found)]


def _level(result: LevelResult) -> dict[str, Any]:
    return {
        "name": result.level.name,
        "kind": result.level.kind,
        "promise": result.level.promise,
        "verdict": result.verdict,
        "blocked_by": result.blocked_by,
        "counts": dict(sorted(result.counts().items())),
        "asked": sorted(result.asked),
        "required": sorted(result.required),
        "required_total": result.required_total,
        "required_covered": result.required_covered,
        "missing": sorted(result.missing),
        "dtypes": sorted(result.floats),
        "graphs": result.graphs,
        "ops": _ops(result.outcomes),
        "cases": _cases(result.outcomes),
        "not_passed": [_problem(o) for o in result.outcomes if o.kind != "passed"],
    }


def _expectation(usage: Usage) -> dict[str, Any]:
    entry = usage.expectation
    return {
        "op": entry.op, "dtype": entry.dtype, "check": entry.check, "level": entry.level,
        "outcome": entry.outcome, "reason": entry.reason, "link": entry.link,
        "until": entry.until, "ran": usage.ran, "met": usage.met,
    }  # fmt: skip


def to_dict(
    certificate: Certificate, distribution: str = "", expectations: str = ""
) -> dict[str, Any]:
    """A run as plain data: no times and no paths, so that two reports differ where the device does.

    Args:
        certificate: the run.
        distribution: the distribution that the backend comes from.
        expectations: name of the expectation file.
    """
    device = certificate.device
    numerics = device.capabilities.numerics
    return {
        "schema": SCHEMA,
        "spec": certificate.spec,
        "realta": version_of("realta"),
        "suite": SUITE,
        "device": device.name,
        "backend": {
            "name": device.backend,
            "spec": device.spec,
            "distribution": distribution,
            "version": version_of(distribution) if distribution else "",
            "fingerprint": device.fingerprint,
        },
        "numerics": {
            "modes": numerics.modes,
            "subnormals": numerics.subnormals,
            "looser": {f"{op}/{d.name}": u for (op, d), u in sorted(numerics.ulp.items(), key=str)},
        },
        "seed": SEED,
        "sample": certificate.sample,
        "shard": str(certificate.shard),
        "expectations": expectations,
        "expected": [_expectation(usage) for usage in certificate.usages],
        "stale": [str(e) for e in certificate.stale],
        "levels": [_level(r) for r in certificate.results],
    }


def as_json(report: dict[str, Any]) -> str:
    """A report as text: keys sorted, a line for each case."""
    lines: list[str] = []
    parts = dict(report)
    levels = parts.pop("levels")
    lines.append(json.dumps(parts, indent=1, sort_keys=True, ensure_ascii=False)[:-2] + ",")
    lines.append(' "levels": [')
    for n, level in enumerate(levels):
        rows = {name: level.pop(name) for name in ("ops", "cases", "not_passed")}
        text = json.dumps(level, sort_keys=True, ensure_ascii=False)[:-1]
        for name, entries in rows.items():
            shown = ",\n".join(f"   {json.dumps(e, ensure_ascii=False)}" for e in entries)
            text += f', "{name}": [\n{shown}\n  ]' if entries else f', "{name}": []'
        level.update(rows)
        lines.append(f"  {text}}}" + ("," if n + 1 < len(levels) else ""))
    lines.append(" ]\n}\n")
    return "\n".join(lines)


_STYLES: Final = {"CONFORMS": "green", "PARTIAL": "yellow", "FAILS": "red", "BLOCKED": "dim"}


def print_summary(console: Console, report: dict[str, Any]) -> None:
    """The head, the table of levels and the certificate line."""
    backend, numerics = report["backend"], report["numerics"]
    origin = f"{backend['distribution']} {backend['version']}".strip() or "not installed"
    console.print(
        f"device    {report['device']}  ({origin})      spec {report['spec']}      "
        f"realta {report['realta']}, suite {report['suite']}",
        highlight=False,
    )
    looser = f", looser bounds for {', '.join(numerics['looser'])}" if numerics["looser"] else ""
    console.print(
        f"numerics  {numerics['modes']}, subnormals {numerics['subnormals']}{looser}      "
        f"seed {report['seed']}      expectations {report['expectations'] or 'none'}",
        highlight=False,
    )
    console.print(_table(report["levels"]))
    console.print(_certified(report), highlight=False)


def _table(levels: list[dict[str, Any]]) -> Table:
    table = Table(box=None, pad_edge=False)
    for name in ("level", "verdict"):
        table.add_column(name)
    for name in ("passed", "failed", "declared", "n/a", "limited", "required", "graphs"):
        table.add_column(name, justify="right")
    table.add_column("")
    for level in levels:
        counts = level["counts"]
        style = _STYLES[level["verdict"]]
        note = f"needs {level['blocked_by']}" if level["blocked_by"] else ""
        if level["missing"] and not note:
            note = f"missing {', '.join(level['missing'][:3])}"
            note += f" and {len(level['missing']) - 3} more" if len(level["missing"]) > 3 else ""
        table.add_row(
            level["name"],
            f"[{style}]{level['verdict']}[/]",
            *[
                str(counts.get(k, 0))
                for k in ("passed", "failed", "declared", "not-applicable", "limited")
            ],
            f"{level['required_covered']}/{level['required_total']}",
            str(level["graphs"]),
            note,
        )
    return table


def _certified(report: dict[str, Any]) -> str:
    good = [v for v in report["levels"] if v["verdict"] == "CONFORMS"]
    if not good:
        return "certified: nothing"
    dtypes = [set(v["dtypes"]) for v in good if v["required_total"]]
    common = sorted(set.intersection(*dtypes)) if dtypes else []
    shown = f" for {', '.join(common)}" if common else ""
    return f"certified: {', '.join(v['name'] for v in good)} @ spec {report['spec']}{shown}"


def print_failures(console: Console, certificate: Certificate) -> None:
    """What failed, grouped by op and check, each with the command that replays its first case."""
    device = certificate.device.name
    groups: dict[str, list[Outcome]] = {}
    for outcome in certificate.failures():
        groups.setdefault(outcome.key, []).append(outcome)
    for key, outcomes in list(groups.items())[:_SHOWN]:
        first = outcomes[0]
        console.print(f"\n[red]failed[/] {key} ({len(outcomes)} cases)", highlight=False)
        console.print(f"  {first.id}: {first.reason}", highlight=False, markup=False)
        if first.help:
            console.print(f"  about: {first.help}", highlight=False, markup=False)
        console.print(
            f"  replay: realta-conformance replay {first.id} --device {device}", highlight=False
        )
    if len(groups) > _SHOWN:
        console.print(f"\n{len(groups) - _SHOWN} more groups failed; see the JSON report")
