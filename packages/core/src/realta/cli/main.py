"""The command ``realta``: parses the arguments, runs one command, prints text or JSON."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import Any, Final, Protocol

from realta.cli import backends, cache, devices, doctor, explain, new_backend, ops
from realta.cli.output import show_json
from realta.errors import RealtaError

__all__ = ["main"]


class Command(Protocol):
    """What a module of a command offers."""

    NAME: str
    __doc__: str | None

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Declares its arguments."""

    def collect(self, arguments: argparse.Namespace) -> dict[str, Any]:
        """What it found, as plain data."""

    def show(self, data: dict[str, Any]) -> None:
        """Prints that as text."""


COMMANDS: Final[tuple[Any, ...]] = (
    devices,
    backends,
    ops,
    explain,
    cache,
    new_backend,
    doctor,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line.

    Returns:
        0 if all went well, 1 if `doctor` found that nothing computes, 2 for an error.
    """
    given = _parser().parse_args(arguments)
    command = given.command
    try:
        data = command.collect(given)
    except RealtaError as error:
        print(f"realta {command.NAME}: {error}", file=sys.stderr)
        return 2
    if given.json:
        show_json(data)
    else:
        command.show(data)
    return doctor.exit_code(data) if command is doctor else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="realta", description="What can compute here, and how.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for command in COMMANDS:
        summary = _summary(command)
        added = commands.add_parser(command.NAME, help=summary, description=summary)
        command.add_arguments(added)
        added.add_argument("--json", action="store_true", help="print JSON instead of text")
        added.set_defaults(command=command)
    return parser


def _summary(command: Command) -> str:
    head = (command.__doc__ or "").partition("\n")[0]
    return head.partition(": ")[2].rstrip(".")
