"""Backend sizes: lines of code of the templates and of the example backends, counted."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Final

__all__ = ["code_lines", "sizes_block"]

ROOT: Final = Path(__file__).resolve().parent.parent
TEMPLATES: Final = "packages/core/src/realta/cli/templates"
COUNTED: Final = (
    (
        "op",
        "`examples/backend-minimal`: NumPy, as short as it gets",
        "examples/backend-minimal/src",
    ),
    ("op", "the template: NumPy, meant to be read", f"{TEMPLATES}/op {TEMPLATES}/host"),
    ("op", "`examples/backend-numexpr`: numexpr", "examples/backend-numexpr/src"),
    ("kernel", "`examples/backend-kernel`: the system's C compiler", "examples/backend-kernel/src"),
    ("kernel", "the template: the same, in three modules", f"{TEMPLATES}/kernel"),
    ("graph", "the template: an interpreter", f"{TEMPLATES}/graph {TEMPLATES}/host"),
    ("graph", "`examples/backend-jax`: XLA", "examples/backend-jax/src"),
)
"""Tier, what it is, and its folders."""


def code_lines(text: str) -> int:
    """Lines that are neither blank nor a comment nor part of a docstring."""
    tree = ast.parse(text)
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef)
    hidden: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, documented) and ast.get_docstring(node) is not None:
            first = node.body[0]
            hidden |= set(range(first.lineno, (first.end_lineno or first.lineno) + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(
        bool(line.strip()) and line.strip()[0] != "#" for n, line in lines if n not in hidden
    )


def _counted(folders: str) -> int:
    total = 0
    for folder in folders.split():
        for path in sorted((ROOT / folder).rglob("*.py*")):
            if path.suffix == ".py" or path.name.endswith(".py.in"):
                text = path.read_text("utf-8")
                for name in ("name", "package", "class"):
                    text = text.replace(f"@{name}@", name.capitalize())
                total += code_lines(text)
    return total


def sizes_block() -> str:
    """The table of the page on tiers."""
    rows = ["| tier | backend | lines of code |", "|---|---|---|"]
    rows += [f"| {tier} | {what} | {_counted(folders)} |" for tier, what, folders in COUNTED]
    return "\n".join(rows) + "\n"
