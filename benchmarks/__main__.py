"""Command line: measures rows side by side, prints target, got and verdict, and keeps them.

python -m benchmarks                       measures everything and prints it
python -m benchmarks --check first-light   also writes results/first-light.json; exits 1 on a MISS
python -m benchmarks --row W1 --quick      one row, roughly
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from benchmarks import display, results
from benchmarks.checks import CHECKS, Check
from benchmarks.processes import Failed
from benchmarks.rows import FULL, QUICK, Measured, Settings, compare
from benchmarks.side_by_side import measure

__all__ = ["main"]


def parse(arguments: Sequence[str]) -> argparse.Namespace:
    """Reads the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--check", choices=sorted(CHECKS), help="exit 1 unless every row passes")
    parser.add_argument(
        "--row", action="append", default=[], help="measure only this row; repeatable"
    )
    parser.add_argument("--quick", action="store_true", help="tiny windows, to see that it runs")
    parser.add_argument("--json", type=Path, help="write the results here")
    chosen = parser.parse_args(arguments)
    known = {row.id for row in CHECKS[chosen.check or "first-light"].rows}
    if unknown := sorted(set(chosen.row) - known):
        parser.error(f"no row {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    return chosen


def measure_rows(
    name: str, check: Check, settings: Settings, progress: Progress
) -> list[dict[str, Any]]:
    """Measures all workloads in one interleaved run, then the other rows one by one."""
    rows = check.rows
    workloads = list(dict.fromkeys(row.workload for row in rows if row.workload))
    others = [row for row in rows if row.measure is not None]
    task = progress.add_task("preparing", total=len(workloads) * settings.rounds + len(others))

    def advance(what: str) -> None:
        progress.update(task, advance=1, description=what)

    timings = measure(
        workloads,
        rounds=settings.rounds,
        window_scale=settings.window_scale,
        peers=check.peers,
        advance=advance,
    )
    entries = [results.entry(row, compare(row, timings), name) for row in rows if row.workload]
    for row in others:
        progress.update(task, description=row.what)
        assert row.measure is not None
        try:
            measured = row.measure(settings)
        except Failed as failure:
            measured = Measured(None, note=str(failure))
        entries.append(results.entry(row, measured, name))
        advance(row.what)
    return entries


def main(arguments: Sequence[str]) -> int:
    """Measures, prints, writes, and says by its exit code whether a check passed."""
    chosen = parse(arguments)
    name = chosen.check or "first-light"
    check = CHECKS[name]
    if chosen.row:
        check = Check(tuple(row for row in check.rows if row.id in chosen.row), check.peers)
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        settings = QUICK if chosen.quick else FULL
        found = results.document(measure_rows(name, check, settings, progress))
    display.show(found, Console())
    path = chosen.json
    if path is None and chosen.check and not chosen.row and not chosen.quick:
        path = results.FOLDER / f"{chosen.check}.json"
    if path is not None:
        results.write(found, path)
    return 1 if chosen.check and not results.passed(found) else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
