"""Running: ``run`` and ``smoke`` certify a device."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from realta.errors import ArgumentError
from realta.plugins import resolve_device_name
from rich.console import Console

from realta_conformance.certification import Certificate, LevelResult, certify_with, with_needs
from realta_conformance.executor import InProcess
from realta_conformance.expectations import Expectation, read
from realta_conformance.levels import LEVELS, Level
from realta_conformance.opening import distribution_of, is_installed, open_named
from realta_conformance.pool import Pool
from realta_conformance.report import as_json, print_failures, print_summary, to_dict
from realta_conformance.shard import Shard, parse_shard
from realta_conformance.watchdog import DEFAULT_SECONDS

__all__ = ["add_commands", "certified", "jobs_of"]

_SMOKE: Final = ("manifest", "memory", "core")


def add_commands(commands: Any) -> None:
    """Adds the commands of this module to the parser."""
    for name, text in (
        ("run", "certify a device"),
        ("smoke", "the first levels, a sample of the cases; less than a minute"),
    ):
        command: argparse.ArgumentParser = commands.add_parser(name, help=text, description=text)
        command.set_defaults(run=_run, smoke=name == "smoke")
        command.add_argument("--device", required=True, help="as in numpy:0")
        command.add_argument(
            "--levels", default="", help="names, separated by commas, and what they need"
        )
        command.add_argument("--level", default="", help="one name, and what it needs")
        command.add_argument("--strict", action="store_true", help="partial levels fail the run")
        command.add_argument("--sample", action="store_true", help="a third of the cases")
        command.add_argument("--expectations", type=Path, help="declared failures, a TOML file")
        command.add_argument("--json", type=Path, help="where to write the report")
        add_execution(command)


def add_execution(command: argparse.ArgumentParser) -> None:
    """The options that say in which processes cases run; none of them changes a report."""
    command.add_argument("--jobs", default="1", help="worker processes: a number, or auto")
    command.add_argument("--shard", default="1/1", help="2/3 for the second of three parts")
    command.add_argument(
        "--watchdog", type=float, default=DEFAULT_SECONDS, metavar="SECONDS",
        help="how long the device may stay in one call, compiling excepted; 0 for ever",
    )  # fmt: skip
    command.add_argument(
        "--in-process", action="store_true", help="no worker processes: a crash ends the run"
    )


def jobs_of(text: str) -> int:
    """How many worker processes ``--jobs`` asks for.

    Raises:
        ArgumentError: it is no number above 0, and not ``auto``.
    """
    if text == "auto":
        return len(os.sched_getaffinity(0))
    if not text.isdigit() or not int(text):
        raise ArgumentError(f"{text!r} is no number of jobs", fix="give a number, or auto")
    return int(text)


def _tell(result: LevelResult) -> None:
    if sys.stderr.isatty():
        print(f"{result.level.name}: {result.verdict}", file=sys.stderr)


def certified(
    options: argparse.Namespace,
    levels: Sequence[Level],
    expectations: Sequence[Expectation] = (),
    *,
    sample: bool = False,
) -> Certificate:
    """A certificate, made in the processes that the options ask for."""
    shard: Shard = parse_shard(options.shard)
    jobs = jobs_of(options.jobs)
    name = resolve_device_name(options.device)
    settings: dict[str, Any] = {"sample": sample, "shard": shard, "progress": _tell}
    if options.in_process or not is_installed(name):
        device = open_named(name)
        try:
            return certify_with(InProcess(device), levels, expectations, **settings)
        finally:
            device.close()
    with Pool(name, jobs, seconds=options.watchdog) as pool:
        return certify_with(pool, levels, expectations, **settings)


def _run(options: argparse.Namespace, console: Console) -> int:
    names = [n for n in f"{options.levels},{options.level}".split(",") if n]
    levels = with_needs(names or (_SMOKE if options.smoke else [level.name for level in LEVELS]))
    expectations = read(options.expectations) if options.expectations else ()
    sample = options.sample or options.smoke
    certificate = certified(options, levels, expectations, sample=sample)
    file = options.expectations.name if options.expectations else ""
    report = to_dict(certificate, distribution_of(certificate.device.name), file)
    print_summary(console, report)
    print_failures(console, certificate)
    for expectation in certificate.stale:
        console.print(
            f"stale expectation: {expectation} ({expectation.reason}) does not fail any more; "
            "remove it",
            highlight=False,
        )
    for expectation in certificate.unused:
        console.print(
            f"unused expectation: {expectation} did not fail in this part of a run",
            highlight=False,
        )
    if options.json:
        options.json.write_text(as_json(report), "utf-8")
        console.print(f"report: {options.json}", highlight=False)
    return certificate.exit_code(options.strict)
