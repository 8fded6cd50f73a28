"""Results: the verdict of each row, and the file that holds them.

The file is JSON: `{"machine": ..., "rows": [...], "versions": ...}`, keys and rows sorted. A row
has `id`, `what`, `target`, `got` (null if it could not be measured, and `note` says why), `unit`,
`limit` (figures of the copy limit, where there is one), `peers` (figures by peer or by step),
`verdict` (`PASS` or `MISS`) and the `command` that measures it again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.rows import LIMIT, Measured, Row

__all__ = ["FOLDER", "document", "entry", "passed", "write"]

FOLDER = Path(__file__).resolve().parent / "results"
DIGITS = 4
PATH = re.compile(r"(?<![\w/])(?:/[\w.+-]+){2,}")


def rounded(number: float) -> float:
    """Keeps the digits that mean something."""
    return float(f"{number:.{DIGITS}g}")


def rounded_up(number: float) -> float:
    """The same for a figure that is held against a target: never below what was measured."""
    kept = rounded(number)
    if kept >= number:
        return kept
    step = 10.0 ** (math.floor(math.log10(abs(number))) - DIGITS + 1)
    return rounded(kept + step)


def rounded_figures(figures: Mapping[str, float]) -> dict[str, float]:
    """Rounds the figures of one peer."""
    return {name: rounded(number) for name, number in figures.items()}


def without_paths(text: str) -> str:
    """Takes the paths of one machine out of a message; they tell nobody else anything."""
    return PATH.sub("…", text)


def entry(row: Row, measured: Measured, check: str) -> dict[str, Any]:
    """Writes a row of a check as data; it passes if its figure is known and within the target."""
    # The verdict follows from what is written, so a figure just above the target stays above.
    got = None if measured.got is None else rounded_up(measured.got)
    passes = got is not None and got <= row.target
    figures = {who: rounded_figures(of) for who, of in measured.figures.items()}
    return {
        "command": f"python -m benchmarks --check {check} --row {row.id}",
        "got": got,
        "id": row.id,
        "limit": figures.pop(LIMIT, None),
        "note": without_paths(measured.note),
        "peers": figures,
        "target": row.target,
        "unit": row.unit,
        "verdict": "PASS" if passes else "MISS",
        "what": row.what,
    }


def document(entries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Adds machine and versions to rows, sorted by id."""
    return {
        "machine": machine.facts(),
        "rows": sorted(entries, key=lambda row: str(row["id"])),
        "versions": machine.versions(),
    }


def passed(found: Mapping[str, Any]) -> bool:
    """Whether every row of a document passed, and there is one."""
    rows = found["rows"]
    return bool(rows) and all(row["verdict"] == "PASS" for row in rows)


def write(found: Mapping[str, Any], path: Path) -> None:
    """Writes a document as a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(found, indent=2, sort_keys=True, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")
