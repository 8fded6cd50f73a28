"""The command ``realta-conformance``: run, smoke, list, replay, show.

Exit codes: 0 the requested levels conform (or are partial with declared reasons, unless
``--strict``), 1 they do not, 2 the run itself is wrong: an unknown device, level or case, or a
stale expectation.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from realta.errors import ArgumentError, RealtaError
from realta.ops import find_op
from realta.ops.tolerances import tolerance
from realta.plugins import backends, device_info, load_backend, resolve_device_name
from realta.types import FLOATS
from rich.console import Console

from realta_conformance.case import cases_of
from realta_conformance.certification import LevelResult, certify, with_needs
from realta_conformance.contexts import run_contexts
from realta_conformance.corpus import corpus_rows
from realta_conformance.device import Device
from realta_conformance.expectations import read
from realta_conformance.levels import LEVELS
from realta_conformance.probes import probes_of
from realta_conformance.replaying import replay
from realta_conformance.report import as_json, print_failures, print_summary, to_dict
from realta_conformance.running import level_cases

__all__ = ["main", "open_named"]

_SMOKE: Final = ("manifest", "memory", "core")


def open_named(name: str) -> Device:
    """Opens a device of an installed backend for the suite, apart from core's own session of it.

    Raises:
        BackendNotFound, BackendUnavailable, DeviceError: there is none of that name.
    """
    canonical = resolve_device_name(name)
    info = device_info(canonical)
    backend = load_backend(canonical.partition(":")[0])
    return Device(canonical, backend, info, backend.open(info))


def _distribution(name: str) -> str:
    backend = name.partition(":")[0]
    return next((e.distribution for e in backends() if e.name == backend), "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="realta-conformance", description="Does a backend tell the truth?"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for name, text in (
        ("run", "certify a device"),
        ("smoke", "the first levels, a sample of cases"),
    ):
        command = commands.add_parser(name, help=text, description=text)
        command.add_argument("--device", required=True, help="as in numpy:0")
        command.add_argument(
            "--levels", default="", help="names, separated by commas, and what they need"
        )
        command.add_argument("--level", default="", help="one name, and what it needs")
        command.add_argument("--strict", action="store_true", help="partial levels fail the run")
        command.add_argument("--sample", action="store_true", help="a third of the cases")
        command.add_argument("--expectations", type=Path, help="declared failures, a TOML file")
        command.add_argument("--json", type=Path, help="where to write the report")
    listing = commands.add_parser("list", help="levels and case ids")
    listing.add_argument("--level", default="", help="only this one")
    listing.add_argument(
        "--corpus", action="store_true", help="ids of the bug corpus with their cases"
    )
    listing.add_argument("--device", default="reference:0", help="whose graphs are listed")
    again = commands.add_parser("replay", help="one case, alone and in its graph")
    again.add_argument("id", help="id of a case, as in a report")
    again.add_argument("--device", required=True)
    showing = commands.add_parser("show", help="an op: its bounds and its cases")
    showing.add_argument("op", help="name of an op, with or without its level")
    return parser


def _run(options: argparse.Namespace, console: Console) -> int:
    smoke = options.command == "smoke"
    names = [n for n in f"{options.levels},{options.level}".split(",") if n]
    levels = with_needs(names or (_SMOKE if smoke else [level.name for level in LEVELS]))
    expectations = read(options.expectations) if options.expectations else ()
    device = open_named(options.device)

    def tell(result: LevelResult) -> None:
        if sys.stderr.isatty():
            print(f"{result.level.name}: {result.verdict}", file=sys.stderr)

    try:
        certificate = certify(
            device, levels, expectations, sample=options.sample or smoke,
            integration=run_contexts, progress=tell,
        )  # fmt: skip
        file = options.expectations.name if options.expectations else ""
        report = to_dict(certificate, _distribution(device.name), file)
    finally:
        device.close()
    print_summary(console, report)
    print_failures(console, certificate, device.name)
    for expectation in certificate.stale:
        console.print(
            f"stale expectation: {expectation} ({expectation.reason}) does not fail any more; "
            "remove it",
            highlight=False,
        )
    if options.json:
        options.json.write_text(as_json(report), "utf-8")
        console.print(f"report: {options.json}", highlight=False)
    return certificate.exit_code(options.strict)


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


_COMMANDS: Final[dict[str, Callable[[argparse.Namespace, Console], int]]] = {
    "run": _run,
    "smoke": _run,
    "list": _list,
    "replay": _replay,
    "show": _show,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120, soft_wrap=True)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            return _COMMANDS[options.command](options, console)
        except (RealtaError, KeyError) as error:
            text = error.args[0] if isinstance(error, KeyError) else str(error)
            print(f"realta-conformance: {text}", file=sys.stderr)
            return 2


if __name__ == "__main__":
    sys.exit(main())
