"""Module limits: length, docstring, function length, and TODOs without an issue.

    python tools/check_limits.py [ROOT]

Prints one line a problem, as PATH:LINE: what is wrong, and exits 1 if there is one.
"""

from __future__ import annotations

import ast
import re
import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
MODULES = (
    "packages/*/src/**/*.py",
    "packages/backend-cuda/emulator/src/**/*.py",
    "conformance/src/**/*.py",
    "saboteurs/src/**/*.py",
    "examples/**/*.py",
    "benchmarks/**/*.py",
    "tools/**/*.py",
    "noxfile.py",
)
SEARCHED_FOR_TODO = (
    *MODULES,
    "tests/**/*.py",
    "packages/*/tests/**/*.py",
    "packages/backend-cuda/emulator/tests/**/*.py",
    "conformance/tests/**/*.py",
)
MODULE_LINES = 500
MEDIAN_LINES = 150
FUNCTION_LINES = 60
TODO = re.compile(r"#\s*(TODO|FIXME|XXX)\b(?!\(#\d+\))")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def matching(root: Path, patterns: tuple[str, ...]) -> list[Path]:
    """Lists the files under a root that match one of the patterns, each once."""
    found = {path for pattern in patterns for path in root.glob(pattern)}
    return sorted(path for path in found if not path.relative_to(root).parts[0].startswith("."))


def body_lines(function: Function) -> int:
    """Counts the lines of a function without its decorators and its docstring."""
    assert function.end_lineno is not None, "parsed source has line numbers"  # noqa: S101
    lines = function.end_lineno - function.lineno + 1
    if ast.get_docstring(function) is None:
        return lines
    docstring = function.body[0]
    assert docstring.end_lineno is not None, "parsed source has line numbers"  # noqa: S101
    return lines - (docstring.end_lineno - docstring.lineno + 1)


def module_problems(text: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the description of each limit that a module breaks."""
    lines = len(text.splitlines())
    if lines > MODULE_LINES:
        yield 1, f"{lines} lines, {MODULE_LINES} allowed: which second concept is in here?"
    tree = ast.parse(text)
    docstring = ast.get_docstring(tree)
    first_line = docstring.splitlines()[0] if docstring else ""
    if len(first_line.split()) < 2:
        yield 1, "the module docstring's first line must name the concept"
    for node in ast.walk(tree):
        if isinstance(node, Function) and body_lines(node) > FUNCTION_LINES:
            yield (
                node.lineno,
                (
                    f"{node.name} has {body_lines(node)} lines, {FUNCTION_LINES} allowed: "
                    "name its steps"
                ),
            )


def todo_problems(text: str) -> Iterator[tuple[int, str]]:
    """Yields each comment that leaves work for later and names no issue."""
    for number, line in enumerate(text.splitlines(), 1):
        if found := TODO.search(line):
            yield number, f"{found[1]} without an issue: write {found[1]}(#NUMBER)"


def problems(root: Path = ROOT) -> list[str]:
    """Lists what breaks a limit, one line each."""
    found = []
    lengths = []
    for path in matching(root, MODULES):
        text = path.read_text(encoding="utf-8")
        lengths.append(len(text.splitlines()))
        found += [f"{path.relative_to(root)}:{n}: {what}" for n, what in module_problems(text)]
    for path in matching(root, SEARCHED_FOR_TODO):
        text = path.read_text(encoding="utf-8")
        found += [f"{path.relative_to(root)}:{n}: {what}" for n, what in todo_problems(text)]
    if lengths and statistics.median(lengths) > MEDIAN_LINES:
        median = statistics.median(lengths)
        found.append(f"the median module has {median:g} lines, {MEDIAN_LINES} allowed")
    return found


def main(arguments: list[str]) -> int:
    """Checks the tree named by the only argument, or this one."""
    root = Path(arguments[0]).resolve() if arguments else ROOT
    found = problems(root)
    for line in found:
        print(line)
    print(f"{len(matching(root, MODULES))} modules, {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
