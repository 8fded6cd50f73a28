"""The acceptance files: every item names tests, commands or rows that exist; no part is empty."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from benchmarks.checks import CHECKS, FIRST_LIGHT, OPENCL
from tools.acceptance import ROOT, load

FILES = sorted((ROOT / "acceptance").glob("*.toml"))
ITEMS = {f"{file.stem}/{item.id}": item for file in FILES for item in load([file])}
ROWS = {f"{name}.json": {row.id for row in check.rows} for name, check in CHECKS.items()}


@cache
def functions(path):
    """The test functions of a file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


@pytest.mark.parametrize("item", ITEMS.values(), ids=ITEMS)
def test_what_shows_an_item_exists(item):
    for test in item.tests:
        name, _, function = test.partition("::")
        assert (ROOT / name).exists(), test
        if function:
            assert function.partition("[")[0] in functions(ROOT / name), test
    if item.result:
        name, _, row = item.result.partition("#")
        assert row in ROWS[name]
    if item.command.startswith("python tools/"):
        assert (ROOT / item.command.split()[1]).exists()


@pytest.mark.parametrize(
    ("file", "parts", "rows"),
    [("first-light.toml", "1234567", FIRST_LIGHT), ("opencl.toml", "123456", OPENCL)],
)
def test_every_part_of_the_issue_has_items(file, parts, rows):
    items = load([ROOT / "acceptance" / file])
    sections = Counter(item.section for item in items)
    assert set(sections) == {"deliver", "speed", "bad-input", "done"}
    numbers = [i.id.removeprefix("opencl-").split("-")[1] for i in items if i.section == "deliver"]
    assert set(numbers) == set(parts)
    shown = {item.result.partition("#")[2] for item in items if item.result}
    assert shown == {row.id for row in rows}
