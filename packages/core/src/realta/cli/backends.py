"""``realta backends``: every installed backend, with the reason if it cannot be used."""

from __future__ import annotations

import argparse
from typing import Any, Final

from realta.cli.output import show_table
from realta.plugins import backends

__all__ = ["NAME", "add_arguments", "collect", "show"]

NAME: Final = "backends"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """``--no-load`` reads metadata only."""
    parser.add_argument("--no-load", action="store_true", help="only read metadata, load no plugin")


def collect(arguments: argparse.Namespace) -> dict[str, Any]:
    """What `realta.backends` lists."""
    return {"backends": [entry._asdict() for entry in backends(probe=not arguments.no_load)]}


def show(data: dict[str, Any]) -> None:
    """A table, and below it how to mend what does not work."""
    entries = data["backends"]
    rows = [(e["name"], e["state"], f"{e['distribution']} {e['version']}".strip()) for e in entries]
    show_table(("backend", "state", "distribution"), rows)
    for entry in entries:
        if entry["reason"]:
            print(f"\n{entry['name']}: {entry['reason']}\n  fix: {entry['fix']}")
