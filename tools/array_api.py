"""Array API: runs data-apis/array-api-tests against `realta.array_api` and writes what came of it.

    python tools/array_api.py --suite PATH [--examples N] [--result FILE] [-- pytest's options]

PATH is a checkout of that suite with its submodule; none of its code is kept here. What is expected
to fail stands in conformance/array-api.toml. Prints each failing test that is not expected, and
exits 1 if there is one, or if fewer tests ran than ought to.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parent.parent
EXPECTED: Final = ROOT / "conformance" / "array-api.toml"
RESULT: Final = ROOT / "conformance" / "array-api.json"
LEAST: Final = 1000
"""Tests that must have run; fewer means that the suite found nothing to test."""
MOST_EXPECTED: Final = 15
"""Patterns of tests that may fail, besides those of what is absent."""


@dataclass(frozen=True, slots=True)
class Declared:
    """A pattern of tests that are expected to fail, and why."""

    kind: str
    pattern: str
    reason: str


@dataclass(slots=True)
class Outcome:
    """How the tests of a run ended."""

    passed: int = 0
    skipped: int = 0
    failed: list[str] = field(default_factory=list)
    declared: dict[Declared, list[str]] = field(default_factory=dict)

    @property
    def run(self) -> int:
        """How many tests ran."""
        return self.passed + len(self.failed) + sum(map(len, self.declared.values()))


def read_declared(text: str) -> tuple[str, list[Declared]]:
    """The standard's version, and what is expected to fail.

    Raises:
        ValueError: too many expectations, one without a reason, or one of a whole module.
    """
    data = tomllib.loads(text)
    found = []
    for key in ("absent", "expected"):
        for entry in data.get(key, []):
            for pattern in entry["tests"]:
                kind = entry["what"] if key == "absent" else "expected"
                found.append(Declared(kind, pattern, entry["reason"]))
    mere = [d for d in found if d.kind == "expected"]
    if len(mere) > MOST_EXPECTED:
        raise ValueError(f"{len(mere)} expectations, at most {MOST_EXPECTED}")
    for one in found:
        if not one.reason:
            raise ValueError(f"{one.pattern} has no reason")
    for one in mere:
        if one.pattern.partition("::")[2].strip("*") == "":
            raise ValueError(f"{one.pattern} is a whole module")
    return data["standard"], found


def sort_out(tests: Sequence[Mapping[str, Any]], declared: Sequence[Declared]) -> Outcome:
    """How tests ended, those that failed compared with what is expected.

    Args:
        tests: pytest-json-report's ``tests``.
        declared: what is expected to fail.
    """
    outcome = Outcome()
    for test in tests:
        name = test["nodeid"].removeprefix("array_api_tests/")
        if test["outcome"] == "passed":
            outcome.passed += 1
        elif test["outcome"] == "skipped":
            outcome.skipped += 1
        else:
            for one in declared:
                if fnmatch.fnmatchcase(name, one.pattern):
                    outcome.declared.setdefault(one, []).append(name)
                    break
            else:
                outcome.failed.append(name)
    return outcome


def suite_version(suite: Path) -> str:
    """The release of a checkout, or its commit."""
    described = subprocess.run(
        ["git", "describe", "--tags", "--always", "--dirty"],
        cwd=suite,
        capture_output=True,
        text=True,
        check=True,
    )
    return described.stdout.strip()


def run_suite(suite: Path, standard: str, examples: int, options: Sequence[str]) -> list[Any]:
    """Runs the suite in another process; the tests as pytest-json-report has them."""
    environment = {
        **os.environ,
        "ARRAY_API_TESTS_MODULE": "realta.array_api",
        "ARRAY_API_TESTS_VERSION": standard,
        "ARRAY_API_TESTS_SKIP_DTYPES": "complex64,complex128",
    }
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        command = [
            *(sys.executable, "-m", "pytest", "array_api_tests", "--quiet", "--tb=short"),
            *("-p", "no:cacheprovider", "--disable-deadline", f"--max-examples={examples}"),
            *("--json-report", f"--json-report-file={report}", "--json-report-omit=log"),
            *options,
        ]
        # Fixed examples: the result of a commit is the same whenever it is run.
        ended = subprocess.run(
            [*command, "--hypothesis-derandomize"], cwd=suite, env=environment, check=False
        )
        if not report.exists():
            raise SystemExit(f"the suite did not run: pytest exited with {ended.returncode}")
        tests: list[Any] = json.loads(report.read_text())["tests"]
        return tests


def as_json(outcome: Outcome, suite: str, standard: str, examples: int) -> dict[str, Any]:
    """The result as plain data."""
    declared = [
        {"kind": one.kind, "tests": one.pattern, "count": len(names), "reason": one.reason}
        for one, names in outcome.declared.items()
    ]
    return {
        "suite": f"data-apis/array-api-tests {suite}",
        "standard": standard,
        "examples": examples,
        "run": outcome.run,
        "passed": outcome.passed,
        "skipped": outcome.skipped,
        "failed": sorted(outcome.failed),
        "declared": sorted(declared, key=lambda d: (d["kind"], d["tests"])),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command; its exit status."""
    parser = argparse.ArgumentParser(description="Runs array-api-tests against realta.array_api.")
    parser.add_argument("--suite", type=Path, required=True, help="a checkout of array-api-tests")
    parser.add_argument("--examples", type=int, default=20, help="examples of each property")
    parser.add_argument("--result", type=Path, default=RESULT, help="where the JSON is written")
    parser.add_argument("options", nargs="*", help="further options of pytest")
    given = parser.parse_args(arguments)
    standard, declared = read_declared(EXPECTED.read_text())
    suite = given.suite.resolve()
    tests = run_suite(suite, standard, given.examples, given.options)
    outcome = sort_out(tests, declared)
    result = as_json(outcome, suite_version(suite), standard, given.examples)
    given.result.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    for name in outcome.failed:
        print(f"FAILED {name}")
    counted = sum(map(len, outcome.declared.values()))
    print(
        f"{outcome.run} tests of array-api-tests {result['suite'].split()[-1]} ran: "
        f"{outcome.passed} passed, {counted} failed as declared, {len(outcome.failed)} failed"
    )
    return int(bool(outcome.failed) or outcome.run < LEAST)


if __name__ == "__main__":
    sys.exit(main())
