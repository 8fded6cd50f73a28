"""Workflow: runs the steps of a GitHub workflow or of a composite action on this machine.

    python tools/workflow.py FILE [--directory DIR] [--var NAME=VALUE] [--input NAME=VALUE]

Commands run in bash, as on a runner; steps that use an action are named and left out: what they
bring (the checkout, a Python, a store for files) is here already. Of expressions it knows
``vars.NAME``, ``inputs.NAME``, ``env.NAME``, texts in quotes, and ``||`` between them. Exits with
the code of the first step that fails.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import yaml

EXPRESSION: Final = re.compile(r"\$\{\{(.*?)\}\}")
Names = Mapping[str, str]


class Unknown(Exception):
    """An expression that this program does not know."""


def evaluated(expression: str, contexts: Mapping[str, Names]) -> str:
    """The first of the alternatives of an expression that is not empty.

    Raises:
        Unknown: it has something else in it than names, texts and ``||``.
    """
    value = ""
    for part in expression.split("||"):
        word = part.strip()
        quoted = re.fullmatch(r"'([^']*)'", word)
        name = re.fullmatch(r"(\w+)\.([\w-]+)", word)
        if quoted:
            value = quoted[1]
        elif name and name[1] in contexts:
            value = contexts[name[1]].get(name[2], "")
        else:
            raise Unknown(f"cannot evaluate {word!r}")
        if value:
            return value
    return value


def filled(text: object, contexts: Mapping[str, Names]) -> str:
    """A text with the values of its expressions."""
    return EXPRESSION.sub(lambda found: evaluated(found[1], contexts), str(text))


def steps_of(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The steps of a workflow's jobs, one job after the other, or of a composite action."""
    if "runs" in data:
        yield from data["runs"]["steps"]
    for job in data.get("jobs", {}).values():
        for step in job["steps"]:
            yield {**step, "env": {**job.get("env", {}), **step.get("env", {})}}


def run(data: dict[str, Any], directory: Path, contexts: dict[str, Names], summary: Path) -> int:
    """Runs the steps; the exit code of the first that fails."""
    common = {name: filled(value, contexts) for name, value in data.get("env", {}).items()}
    for number, step in enumerate(steps_of(data), 1):
        title = step.get("name") or step.get("uses") or step["run"].strip().splitlines()[0]
        if "run" not in step:
            print(f"--- step {number}: {title}: not run here", flush=True)
            continue
        print(f"--- step {number}: {title}", flush=True)
        inside = {**contexts, "env": common}
        own = {name: filled(value, inside) for name, value in step.get("env", {}).items()}
        variables = {**os.environ, **common, **own, "GITHUB_STEP_SUMMARY": str(summary)}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c"]
        text = filled(step["run"], inside)
        done = subprocess.run([*command, text], cwd=directory, env=variables, check=False)
        if done.returncode:
            print(f"--- step {number} failed with exit code {done.returncode}", flush=True)
            return done.returncode
    return 0


def pairs(given: Sequence[str]) -> dict[str, str]:
    """``NAME=VALUE`` texts as a table."""
    return {name: value for name, _, value in (text.partition("=") for text in given)}


def main(arguments: Sequence[str]) -> int:
    """Runs a file; returns the exit code."""
    parser = argparse.ArgumentParser(description="Runs the steps of a workflow on this machine.")
    parser.add_argument("file", type=Path)
    parser.add_argument("--directory", type=Path, default=Path())
    parser.add_argument("--var", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--input", action="append", default=[], metavar="NAME=VALUE")
    given = parser.parse_args(arguments)
    data = yaml.safe_load(given.file.read_text("utf-8"))
    inputs = {name: str(entry.get("default", "")) for name, entry in data.get("inputs", {}).items()}
    needed = [name for name, entry in data.get("inputs", {}).items() if entry.get("required")]
    own = pairs(given.input)
    lacking = [name for name in needed if name not in own]
    if lacking:
        print(f"{given.file} needs --input {lacking[0]}=VALUE", file=sys.stderr)
        return 2
    contexts: dict[str, Names] = {"vars": pairs(given.var), "inputs": {**inputs, **own}}
    with tempfile.TemporaryDirectory() as folder:
        summary = Path(folder, "summary.md")
        code = run(data, given.directory, contexts, summary)
        if summary.exists():
            print("--- summary\n" + summary.read_text("utf-8"))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
