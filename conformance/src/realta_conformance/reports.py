"""Reports: files of JSON that were written before, read, merged from shards, and compared."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from realta.errors import ArgumentError

from realta_conformance.report import SCHEMA

__all__ = ["Change", "Report", "compare", "merge", "read_report"]

Report = dict[str, Any]
_ORDER: Final = ("CONFORMS", "PARTIAL", "FAILS", "BLOCKED")
_IDENTITY: Final = ("schema", "spec", "realta", "suite", "device", "backend", "seed", "sample")


def read_report(path: Path) -> Report:
    """A report from its file.

    Raises:
        ArgumentError: there is none, or it is of another schema.
    """
    try:
        found = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ArgumentError(
            f"{path} cannot be read: {error}", fix="give the path of a report"
        ) from None
    except ValueError as error:
        raise ArgumentError(f"{path} is no JSON: {error}", fix="write it anew") from None
    schema = found.get("schema") if isinstance(found, dict) else None
    if schema != SCHEMA:
        raise ArgumentError(
            f"{path} is a report of schema {schema}, this suite reads {SCHEMA}",
            fix="use the suite that wrote it, or run it again",
        )
    report: Report = found
    return report


# -- merging --------------------------------------------------------------------------------------


def merge(reports: Sequence[Report]) -> Report:
    """The report of a run from those of all its shards.

    Raises:
        ArgumentError: they are not all the shards of one run.
    """
    first = reports[0]
    if len(reports) == 1 and first["shard"] == "1/1":
        return first
    for key in _IDENTITY:
        if any(report[key] != first[key] for report in reports):
            raise ArgumentError(
                f"the reports differ in {key!r}", fix="give the shards of one run on one device"
            )
    found = sorted(report["shard"] for report in reports)
    count = int(first["shard"].partition("/")[2])
    wanted = sorted(f"{n}/{count}" for n in range(1, count + 1))
    if found != wanted:
        raise ArgumentError(
            f"these are the shards {', '.join(found)}",
            fix=f"give one report for each of {', '.join(wanted)}",
        )
    expected = [
        {**entries[0], "ran": any(e["ran"] for e in entries), "met": any(e["met"] for e in entries)}
        for entries in zip(*[report["expected"] for report in reports], strict=True)
    ]
    stale = [
        f"{e['op']} × {e['dtype']} × {e['check']}"
        for e in expected
        if e["ran"] and not e["met"] and e["outcome"] != "flaky" and not first["sample"]
    ]
    levels = [_merged(list(parts)) for parts in zip(*[r["levels"] for r in reports], strict=True)]
    return {**first, "shard": "1/1", "expected": expected, "stale": stale, "levels": levels}


def _merged(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """One level from its parts; it is blocked if one of them met a failure before it."""
    blocked = next((p for p in parts if p["verdict"] == "BLOCKED"), None)
    if blocked is not None:
        return blocked
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part["counts"])
    cases = sorted((c for p in parts for c in p["cases"]), key=lambda c: c["id"])
    problems = sorted(
        (c for p in parts for c in p["not_passed"]), key=lambda c: (c["id"], c["check"])
    )
    passed = {f"{c['op']}/{c['dtype']}" for c in cases if set(c.get("passed", ())) - {"refusal"}}
    spoilt = {f"{c['op']}/{c['dtype']}" for c in problems if c["outcome"] in ("failed", "declared")}
    required = parts[0]["required"]
    missing = [pair for pair in required if pair not in passed or pair in spoilt]
    return {
        **parts[0],
        "verdict": _verdict(counts, required, missing, parts[0]["asked"]),
        "counts": dict(sorted(counts.items())),
        "required_covered": len(required) - len(missing),
        "missing": missing,
        "dtypes": _floats(required, missing, parts[0]["asked"]),
        "graphs": sum(p["graphs"] for p in parts),
        "ops": _merged_ops([entry for p in parts for entry in p["ops"]]),
        "cases": cases,
        "not_passed": problems,
    }


def _floats(required: list[str], missing: list[str], asked: list[str]) -> list[str]:
    lacking = {pair.rpartition("/")[2] for pair in missing}
    return sorted(d for d in asked if d not in lacking) if required else []


def _verdict(
    counts: Counter[str], required: list[str], missing: list[str], asked: list[str]
) -> str:
    if counts["failed"]:
        return "FAILS"
    base = {pair.rpartition("/")[2] for pair in missing} - set(asked)
    if counts["declared"] or base or (required and not _floats(required, missing, asked)):
        return "PARTIAL"
    return "CONFORMS"


def _merged_ops(entries: list[dict[str, Any]]) -> list[dict[str, Any]]:
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in entries:
        key = (entry["op"], entry["dtype"])
        known = found.get(key)
        if known is None:
            found[key] = dict(entry)
            continue
        counts = Counter(known["counts"]) + Counter(entry["counts"])
        known["counts"] = dict(sorted(counts.items()))
        for name in ("max_ulp", "bound_use"):
            known[name] = max(known[name], entry[name])
    return [found[key] for key in sorted(found)]


# -- comparing ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Change:
    """A difference between two reports.

    Args:
        what: the level, or the id of the case with its mode.
        before: its verdict or outcome in the baseline; ``absent`` if it was not there.
        after: the same in the other report.
        worse: whether the other report says less.
    """

    what: str
    before: str
    after: str
    worse: bool

    def __str__(self) -> str:
        return f"{'worse' if self.worse else 'better'}: {self.what}: {self.before} -> {self.after}"


def compare(baseline: Report, other: Report) -> list[Change]:
    """What changed from a baseline to another report, level by level, then outcome by outcome.

    A case that only one of them has is no change.
    """
    changes = []
    levels = {level["name"]: level for level in other["levels"]}
    for level in baseline["levels"]:
        now = levels.get(level["name"])
        if now is None:
            continue
        if now["verdict"] != level["verdict"]:
            worse = _ORDER.index(now["verdict"]) > _ORDER.index(level["verdict"])
            changes.append(Change(level["name"], level["verdict"], now["verdict"], worse))
        if "BLOCKED" not in (now["verdict"], level["verdict"]):
            changes += _compared(_outcomes(level), _outcomes(now))
    return changes


def _outcomes(level: dict[str, Any]) -> dict[str, str]:
    """The outcome of each case in each mode."""
    found = {}
    for case in level["cases"]:
        for mode in case.get("passed", ()):
            own = mode in ("contract", "refusal")
            found[case["id"] if own else f"{case['id']}/{mode}"] = "passed"
    for problem in level["not_passed"]:
        found[problem["id"]] = problem["outcome"]
    return found


def _compared(before: dict[str, str], after: dict[str, str]) -> list[Change]:
    changes = []
    for name in sorted(before.keys() & after.keys()):
        old, new = before[name], after[name]
        if old != new:
            changes.append(Change(name, old, new, worse=_rank(new) > _rank(old)))
    return changes


def _rank(outcome: str) -> int:
    return ("passed", "limited", "not-applicable", "declared", "failed").index(outcome)
