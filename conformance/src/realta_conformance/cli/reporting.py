"""Reporting: ``report``, ``diff`` and ``badge``: what to make of reports that were written."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from rich.console import Console

from realta_conformance.rendering import badge, markdown, page
from realta_conformance.report import as_json, print_summary
from realta_conformance.reports import compare, merge, read_report

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Adds the commands of this module to the parser."""
    report = commands.add_parser("report", help="a report for people, from one or all shards")
    report.set_defaults(run=_report)
    report.add_argument("files", nargs="+", type=Path, help="a JSON report, or one of each shard")
    report.add_argument("--json", type=Path, help="where to write the whole report")
    report.add_argument("--markdown", type=Path, help="where to add a summary for a CI job")
    report.add_argument("--html", type=Path, help="where to write a page")
    diff = commands.add_parser("diff", help="what changed since a baseline; 1 if it got worse")
    diff.set_defaults(run=_diff)
    diff.add_argument("baseline", type=Path, help="a JSON report")
    diff.add_argument("other", type=Path, help="a later one")
    diff.add_argument("--strict", action="store_true", help="any change fails")
    mark = commands.add_parser("badge", help="what is certified, for shields.io")
    mark.set_defaults(run=_badge)
    mark.add_argument("file", type=Path, help="a JSON report")
    mark.add_argument("--output", type=Path, help="where to write it; printed if left out")


def _report(options: argparse.Namespace, console: Console) -> int:
    report = merge([read_report(path) for path in options.files])
    print_summary(console, report)
    if options.json:
        options.json.write_text(as_json(report), "utf-8")
    if options.markdown:
        # Added, since $GITHUB_STEP_SUMMARY may hold what other steps say.
        with options.markdown.open("a", encoding="utf-8") as file:
            file.write(markdown(report))
    if options.html:
        options.html.write_text(page(report), "utf-8")
    if report["stale"]:
        return 2
    return int(any(level["verdict"] in ("FAILS", "BLOCKED") for level in report["levels"]))


def _diff(options: argparse.Namespace, console: Console) -> int:
    changes = compare(read_report(options.baseline), read_report(options.other))
    for change in changes:
        console.print(str(change), highlight=False, markup=False)
    worse = sum(change.worse for change in changes)
    console.print(f"{worse} worse, {len(changes) - worse} better", highlight=False)
    return int(bool(changes) if options.strict else worse > 0)


def _badge(options: argparse.Namespace, console: Console) -> int:
    text = json.dumps(badge(read_report(options.file)), ensure_ascii=False)
    if options.output:
        options.output.write_text(text + "\n", "utf-8")
    else:
        print(text)
    return 0
