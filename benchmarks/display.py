"""Display: the table of targets, and a plot of what was measured beside what."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.table import Table

__all__ = ["plot", "show", "table"]

BAR = 40
STYLES = {"PASS": "green", "MISS": "bold red"}
SCALES = (("s", 1.0), ("ms", 1e3), ("µs", 1e6))


def duration(seconds: float) -> str:
    """Writes a time in the unit that suits it.

    >>> duration(0.0123)
    '12.3 ms'
    """
    unit, factor = next((s for s in SCALES if seconds * s[1] >= 1), SCALES[-1])
    return f"{seconds * factor:.3g} {unit}"


def table(found: Mapping[str, Any]) -> Table:
    """Makes the table of all rows."""
    made = Table(title="Targets and what was measured", title_justify="left")
    for heading in ("row", "what", "target", "got", "verdict"):
        made.add_column(heading, justify="right" if heading in ("target", "got") else "left")
    for row in found["rows"]:
        target = f"≤ {row['target']:g} {row['unit']}"
        got = "-" if row["got"] is None else f"{row['got']:.4g}"
        verdict = f"[{STYLES[row['verdict']]}]{row['verdict']}[/]"
        made.add_row(row["id"], row["what"], target, got, verdict)
    return made


def bars(figures: Mapping[str, float]) -> list[str]:
    """Draws times as bars, the shortest first; the longest fills the width."""
    longest = max(figures.values())
    return [
        f"  {who:14} {duration(seconds):>8} {'█' * max(1, round(seconds / longest * BAR))}"
        for who, seconds in sorted(figures.items(), key=lambda item: item[1])
    ]


def details(row: Mapping[str, Any]) -> list[str]:
    """Writes what a row was computed from, or why it could not be."""
    lines = [f"  {row['note']}"] if row["note"] else []
    times = {who: of["seconds"] for who, of in row["peers"].items() if "seconds" in of}
    if row["limit"]:
        times["copy limit"] = row["limit"]["seconds"]
    if times:
        return lines + bars(times)
    for who, of in row["peers"].items():
        lines.append(f"  {who:14} " + ", ".join(f"{name} {n:.3g}" for name, n in of.items()))
    return lines


def plot(found: Mapping[str, Any]) -> str:
    """Draws each row's figures beneath its name."""
    return "\n".join(
        line for row in found["rows"] for line in (f"{row['id']}: {row['what']}", *details(row))
    )


def show(found: Mapping[str, Any], console: Console) -> None:
    """Prints plot and table."""
    console.print(plot(found), highlight=False, markup=False, soft_wrap=True)
    console.print(table(found))
