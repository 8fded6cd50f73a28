"""Entry: parses the arguments, runs one command, returns its exit code.

Exit codes: 0 the requested levels conform (or are partial with declared reasons, unless
``--strict``), 1 they do not, 2 the run itself is wrong: an unknown device, level or case, or a
stale or expired expectation.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence

from realta.errors import RealtaError
from rich.console import Console

from realta_conformance.cli import expecting, inspecting, reporting, running

__all__ = ["main"]

_MODULES = (running, inspecting, reporting, expecting)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="realta-conformance", description="Does a backend tell the truth?"
    )
    commands = parser.add_subparsers(dest="command", required=True)
    for module in _MODULES:
        module.add_commands(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; returns the exit code."""
    options = _parser().parse_args(arguments)
    console = Console(width=None if sys.stdout.isatty() else 120, soft_wrap=True)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        try:
            return int(options.run(options, console))
        except (RealtaError, KeyError) as error:
            text = error.args[0] if isinstance(error, KeyError) else str(error)
            print(f"realta-conformance: {text}", file=sys.stderr)
            return 2
        except KeyboardInterrupt:
            print("realta-conformance: interrupted", file=sys.stderr)
            return 130
