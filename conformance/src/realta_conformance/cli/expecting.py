"""Expecting: ``expectations update`` brings a file of declared failures in line with a report."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from rich.console import Console

from realta_conformance.reports import read_report
from realta_conformance.updating import update

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Adds the commands of this module to the parser."""
    parser = commands.add_parser("expectations", help="a file of declared failures")
    actions = parser.add_subparsers(dest="action", required=True)
    text = "takes out stale entries and adds what failed, for you to give reasons"
    command = actions.add_parser("update", help=text, description=text)
    command.set_defaults(run=_update)
    command.add_argument("file", type=Path, help="the file, conformance.toml")
    command.add_argument("report", type=Path, help="the JSON report of a whole run with it")


def _update(options: argparse.Namespace, console: Console) -> int:
    added, removed = update(options.file, read_report(options.report))
    for name in removed:
        console.print(f"removed {name}", highlight=False)
    for name in added:
        console.print(f"added {name}", highlight=False)
    console.print(f"{len(added)} added, {len(removed)} removed: {options.file}", highlight=False)
    return 0
