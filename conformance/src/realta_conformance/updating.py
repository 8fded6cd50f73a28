"""Updating: an expectation file brought in line with a report: stale entries out, failures in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from realta.errors import ArgumentError

from realta_conformance.expectations import Expectation, read
from realta_conformance.versions import SUITE

__all__ = ["update"]

_HEAD: Final = "[[expect]]"
_DEADLY: Final = ("crash", "hang")


def update(path: Path, report: dict[str, Any]) -> tuple[list[str], list[str]]:
    """Rewrites the file; other entries and comments stay as they are.

    Args:
        path: the file; made if there is none.
        report: a report of a whole run with that file.

    Returns:
        The entries that were added, and those that were removed.

    Raises:
        ArgumentError: the report is of a part of a run, or the file cannot be read.
    """
    if report["sample"] or report["shard"] != "1/1":
        raise ArgumentError(
            "the report is of a part of a run, which cannot tell what is stale",
            fix="run every case; merge the reports of shards with `report --json`",
        )
    known = read(path) if path.exists() else ()
    blocks = _blocks(path.read_text("utf-8") if path.exists() else "")
    stale = {e.line for e in known if _is_stale(e, report["expected"])}
    kept = [text for number, text in enumerate(blocks) if number not in stale]
    added = _failures(report)
    text = "".join(kept).rstrip()
    new = "\n\n".join(_written(entry) for entry in added)
    path.write_text("\n\n".join(filter(None, (text, new))) + "\n", "utf-8")
    removed = [str(e) for e in known if e.line in stale]
    return [f"{e['op']} × {e['dtype']} × {e['check']}" for e in added], removed


def _blocks(text: str) -> list[str]:
    """What is before the first entry, and then each entry with what follows it."""
    blocks = [""]
    for line in text.splitlines(keepends=True):
        if line.strip() == _HEAD:
            blocks.append("")
        blocks[-1] += line
    return blocks


def _is_stale(entry: Expectation, expected: Sequence[dict[str, Any]]) -> bool:
    names = ("op", "dtype", "check", "level", "outcome", "reason")
    same = [e for e in expected if all(e[name] == getattr(entry, name) for name in names)]
    return entry.outcome != "flaky" and any(e["ran"] and not e["met"] for e in same)


def _failures(report: dict[str, Any]) -> list[dict[str, str]]:
    """One entry for each op, dtype and check that failed and is not declared."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for level in report["levels"]:
        for problem in level["not_passed"]:
            if problem["outcome"] == "failed":
                key = (level["name"], problem["op"], problem["dtype"], problem["check"])
                found.setdefault(key, {**problem, "level": level["name"]})
    return list(found.values())


def _written(problem: dict[str, str]) -> str:
    major, minor = ([*SUITE.split("."), "0"])[:2]
    fields = {
        "op": problem["op"],
        "dtype": problem["dtype"] or "*",
        "check": problem["check"],
        "level": problem["level"],
        "reason": f"not looked into: {problem['id']}: {problem['reason']}",
        "until": f"{major}.{int(minor) + 1}" if minor.isdigit() else "",
    }
    if problem["check"] in _DEADLY:
        fields["outcome"] = problem["check"]
    # Text of JSON is text of TOML, but for the names of some control characters.
    lines = [f"{key} = {json.dumps(value, ensure_ascii=False)}" for key, value in fields.items()]
    return "\n".join([_HEAD, *[line for line in lines if not line.endswith('""')]])
