"""Golden certificates: what a conformance report says in short, kept beside an example backend.

    python tools/golden.py REPORT GOLDEN [--write]

A certificate names the device's promises, and for each level its verdict, the float types it is
certified for, what it lacks and what it declares. Counts of cases are left out: the suite grows.
Without ``--write`` the report is compared with the golden one; differences are printed, exit 1.
"""

from __future__ import annotations

import difflib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any


def certificate(report: dict[str, Any]) -> dict[str, Any]:
    """What stays the same from run to run and from one version of the suite to the next."""
    return {
        "device": report["device"],
        "spec": report["spec"],
        "numerics": report["numerics"],
        "levels": {level["name"]: _level(level) for level in report["levels"]},
    }


def _level(level: dict[str, Any]) -> dict[str, Any]:
    problems = [case for case in level["not_passed"] if case["outcome"] in ("failed", "declared")]
    return {
        "verdict": level["verdict"],
        "certified_for": level["dtypes"],
        "missing": _by_op(level["missing"]),
        "not_passed": sorted({f"{c['op']} × {c['dtype']} × {c['check']}" for c in problems}),
    }


def _by_op(pairs: Sequence[str]) -> dict[str, str]:
    """The element types that are missing, by op."""
    found: dict[str, list[str]] = {}
    for pair in sorted(set(pairs)):
        op, _, dtype = pair.rpartition("/")
        found.setdefault(op, []).append(dtype)
    return {op: " ".join(dtypes) for op, dtypes in found.items()}


def text(report: dict[str, Any]) -> str:
    """A certificate as JSON."""
    return json.dumps(certificate(report), indent=1, ensure_ascii=False) + "\n"


def main(arguments: Sequence[str]) -> int:
    """Compares or writes; returns the exit code."""
    report, golden = (Path(name) for name in arguments[:2])
    found = text(json.loads(report.read_text("utf-8")))
    if "--write" in arguments:
        golden.write_text(found, "utf-8")
        return 0
    wanted = golden.read_text("utf-8")
    difference = list(
        difflib.unified_diff(
            wanted.splitlines(), found.splitlines(), str(golden), str(report), lineterm=""
        )
    )
    print("\n".join(difference) or f"{golden}: as the report says")
    return 1 if difference else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
