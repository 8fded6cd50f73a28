"""Acceptance: each promised item names what shows it, and that must exist and pass.

    python tools/acceptance.py [acceptance/first-light.toml ...]

An acceptance file is a list of items, each shown by exactly one of three things, or not shown yet:

    [[item]]
    id = "deliver-1-workspace"
    section = "deliver"                     # deliver, speed, bad-input or done
    what = "one version for all members"
    show = "tests/test_workspace.py::test_one_version"    # pytest ids, one or a list
    # command = "nox -s build"                            # exits 0
    # result = "first-light.json#W1"                      # a row with verdict PASS
    # missing = "nobody measured it"                      # nothing shows it, and why

A pytest id may name a folder, a file, a class, a test or one case of it; everything it names must
pass, and something must. Results are rows of benchmarks/results/. What is missing counts as not
shown. Exits 1 if an item is not shown, 2 if a file is not well formed.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
SECTIONS = ("deliver", "speed", "bad-input", "done")
PROOFS = ("show", "command", "result", "missing")


class Malformed(Exception):
    """An acceptance file that cannot be read as one."""


@dataclass(frozen=True, slots=True)
class Item:
    """One promise and what shows that it is kept."""

    id: str
    section: str
    what: str
    tests: tuple[str, ...] = ()
    command: str = ""
    result: str = ""
    missing: str = ""


@dataclass(slots=True, eq=False)  # pytest keeps its plugins in sets
class Outcomes:
    """A pytest plugin that runs what the items name and remembers how each test ended."""

    wanted: frozenset[str]
    by_test: dict[str, str] = field(default_factory=dict)

    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        """Keeps the tests that an item names."""
        split: dict[bool, list[pytest.Item]] = {True: [], False: []}
        for item in items:
            split[any(names(want, item.nodeid) for want in self.wanted)].append(item)
        config.hook.pytest_deselected(items=split[False])
        items[:] = split[True]

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remembers the worst phase of a test: an error at teardown is a failure too."""
        if report.when == "call" or report.outcome != "passed":
            before = self.by_test.get(report.nodeid)
            if before != "failed":
                self.by_test[report.nodeid] = report.outcome


def names(want: str, test: str) -> bool:
    """Says whether a pytest id names a test: itself, its folder, file or class, or all its cases.

    >>> names("tests/test_a.py::test_b", "tests/test_a.py::test_b[1]")
    True
    >>> names("tests/test_a.py::test_b", "tests/test_a.py::test_bc")
    False
    """
    return test == want or test.startswith((f"{want}::", f"{want}[", f"{want}/"))


def item_from(entry: dict[str, Any], place: str) -> Item:
    """Reads one table, or says what is wrong with it."""
    if unknown := entry.keys() - {"id", "section", "what", *PROOFS}:
        raise Malformed(f"{place}: unknown keys {sorted(unknown)}")
    if missing := {"id", "section", "what"} - entry.keys():
        raise Malformed(f"{place}: lacks {sorted(missing)}")
    if entry["section"] not in SECTIONS:
        raise Malformed(f"{place}: section {entry['section']!r} is not one of {SECTIONS}")
    proofs = [proof for proof in PROOFS if entry.get(proof)]
    if len(proofs) != 1:
        raise Malformed(f"{place}: needs exactly one of {PROOFS}, has {proofs or 'none'}")
    show = entry.get("show", [])
    return Item(
        id=entry["id"],
        section=entry["section"],
        what=entry["what"],
        tests=(show,) if isinstance(show, str) else tuple(show),
        command=entry.get("command", ""),
        result=entry.get("result", ""),
        missing=entry.get("missing", ""),
    )


def load(paths: Sequence[Path]) -> list[Item]:
    """Reads the items of acceptance files; in each file their ids are unique."""
    items: dict[tuple[Path, str], Item] = {}
    for path in paths:
        for number, entry in enumerate(tomllib.loads(path.read_text(encoding="utf-8"))["item"], 1):
            place = f"{path.name}, item {number} ({entry.get('id', 'no id')})"
            item = item_from(entry, place)
            if (path, item.id) in items:
                raise Malformed(f"{place}: the id occurs twice")
            items[path, item.id] = item
    if not items:
        raise Malformed("no items: is there an acceptance/*.toml?")
    return list(items.values())


def run_tests(items: Sequence[Item]) -> dict[str, str]:
    """Runs every test that an item names in one pytest run; maps test ids to outcomes."""
    wanted = frozenset(test for item in items for test in item.tests)
    files = sorted({test.partition("::")[0] for test in wanted})
    present = [str(ROOT / name) for name in files if (ROOT / name).exists()]
    if not present:
        return {}
    outcomes = Outcomes(wanted)
    options = [
        "--quiet",
        "--continue-on-collection-errors",
        f"--config-file={ROOT / 'pyproject.toml'}",
        f"--junitxml={ROOT / 'acceptance.xml'}",
    ]
    pytest.main([*options, *present], plugins=[outcomes])
    return outcomes.by_test


def run_commands(items: Sequence[Item]) -> dict[str, int]:
    """Runs each command once, from the root; maps it to its exit code."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    codes = {}
    for command in dict.fromkeys(item.command for item in items if item.command):
        print(f"$ {command}", flush=True)
        try:
            done = subprocess.run(
                shlex.split(command), cwd=ROOT, env={**os.environ, "PATH": path}, check=False
            )
        except FileNotFoundError:
            codes[command] = 127
        else:
            codes[command] = done.returncode
    return codes


def verdict_of(result: str) -> str:
    """Looks up a benchmark row, FILE#ROW, and returns its verdict or why there is none."""
    name, _, row_id = result.partition("#")
    path = ROOT / "benchmarks" / "results" / name
    if not path.exists():
        return f"no file {path.relative_to(ROOT)}"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    for row in rows:
        if row["id"] == row_id:
            return str(row["verdict"])
    return f"no row {row_id!r} in {name}"


def test_problem(item: Item, outcomes: dict[str, str]) -> str:
    """Says why the tests of an item do not show it, or nothing."""
    for want in item.tests:
        found = {test: outcome for test, outcome in outcomes.items() if names(want, test)}
        failed = sorted(test for test, outcome in found.items() if outcome == "failed")
        if failed:
            return f"failed: {', '.join(failed[:3])}"
        if "passed" not in found.values():
            return f"{'skipped' if found else 'no such test'}: {want}"
    return ""


def problem(item: Item, outcomes: dict[str, str], codes: dict[str, int]) -> str:
    """Says why an item is not shown, or nothing."""
    if item.missing:
        return f"missing: {item.missing}"
    if item.tests:
        return test_problem(item, outcomes)
    if item.command:
        code = codes[item.command]
        return f"exit code {code}: {item.command}" if code else ""
    verdict = verdict_of(item.result)
    return "" if verdict == "PASS" else f"{item.result}: {verdict}"


def main(arguments: list[str]) -> int:
    """Checks the acceptance files named, or all of them, and prints a line an item."""
    paths = [Path(name) for name in arguments] or sorted((ROOT / "acceptance").glob("*.toml"))
    try:
        items = load(paths)
    except Malformed as error:
        print(error, file=sys.stderr)
        return 2
    outcomes = run_tests(items)
    codes = run_commands(items)
    failed = 0
    for item in items:
        why = problem(item, outcomes, codes)
        failed += bool(why)
        print(f"{'FAIL' if why else 'pass'}  {item.id}: {item.what}{f'  [{why}]' if why else ''}")
    print(f"{len(items) - failed} of {len(items)} items are shown")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
