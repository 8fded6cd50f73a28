"""Inspecting: ``list``, ``show`` and ``replay``: what is tested, by which bound, and one case."""

from __future__ import annotations

import argparse
from typing import Any

from realta.errors import ArgumentError
from realta.ops import find_op
from realta.ops.tolerances import tolerance
from realta.types import FLOATS
from rich.console import Console

from realta_conformance.case import cases_of
from realta_conformance.certification import with_needs
from realta_conformance.corpus import corpus_rows
from realta_conformance.levels import LEVELS
from realta_conformance.opening import open_named
from realta_conformance.probes import probes_of
from realta_conformance.replaying import replay
from realta_conformance.running import level_cases

__all__ = ["add_commands"]


def add_commands(commands: Any) -> None:
    """Adds the commands of this module to the parser."""
    listing = commands.add_parser("list", help="levels and case ids")
    listing.set_defaults(run=_list)
    listing.add_argument("--level", default="", help="only this one")
    listing.add_argument(
        "--corpus", action="store_true", help="ids of the bug corpus with their cases"
    )
    listing.add_argument("--device", default="reference:0", help="whose graphs are listed")
    again = commands.add_parser("replay", help="one case, alone and in its graph")
    again.set_defaults(run=_replay)
    again.add_argument("id", help="id of a case, as in a report")
    again.add_argument("--device", required=True)
    showing = commands.add_parser("show", help="an op: its bounds and its cases")
    showing.set_defaults(run=_show)
    showing.add_argument("op", help="name of an op, with or without its level")


def _list(options: argparse.Namespace, console: Console) -> int:
    if options.corpus:
        for row in corpus_rows():
            where = ", ".join(row.cases) if row.cases else f"not yet: {row.later}"
            print(f"{row.id:4} {row.trigger}\n     {row.right}\n     -> {where}")
        return 0
    device = open_named(options.device)
    for level in with_needs([options.level]) if options.level else LEVELS:
        if options.level not in ("", level.name):
            continue
        print(f"{level.name}: {level.promise}")
        for probe in probes_of(level.name):
            print(f"  {level.name}/{probe.name}")
        for case in level_cases(level.name, device):
            print(f"  {case.id}")
    return 0


def _replay(options: argparse.Namespace, console: Console) -> int:
    device = open_named(options.device)
    try:
        return replay(device, options.id, print)
    finally:
        device.close()


def _show(options: argparse.Namespace, console: Console) -> int:
    name = options.op.partition("/")[2] or options.op
    op = find_op(name)
    if op is None:
        raise ArgumentError(f"there is no op {name!r}", fix="see `realta ops` for the list")
    print(f"{op.signature()}\n  {op.doc}\n  level {op.level}")
    row = tolerance(op.tolerance)
    for dtype in sorted(FLOATS & op.dtypes, key=lambda d: d.name):
        print(f"  {dtype.name}: {row.describe(dtype)}")
    for case in cases_of(op):
        print(f"  {case.id}{': ' + case.note if case.note else ''}")
    return 0
