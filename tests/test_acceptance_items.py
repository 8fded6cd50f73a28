"""The acceptance file: every item names tests, commands or rows that exist; no part is empty."""

import ast
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from benchmarks.checks import FIRST_LIGHT
from tools.acceptance import ROOT, load

ITEMS = load([ROOT / "acceptance" / "first-light.toml"])


@cache
def functions(path):
    """The test functions of a file."""
    tree = ast.parse(Path(path).read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return {node.name for node in tree.body if isinstance(node, kinds)}


@pytest.mark.parametrize("item", ITEMS, ids=[item.id for item in ITEMS])
def test_what_shows_an_item_exists(item):
    for test in item.tests:
        name, _, function = test.partition("::")
        assert (ROOT / name).exists(), test
        if function:
            assert function.partition("[")[0] in functions(ROOT / name), test
    if item.result:
        assert item.result.partition("#")[2] in {row.id for row in FIRST_LIGHT}
    if item.command.startswith("python tools/"):
        assert (ROOT / item.command.split()[1]).exists()


def test_every_part_of_the_issue_has_items():
    sections = Counter(item.section for item in ITEMS)
    assert set(sections) == {"deliver", "speed", "bad-input", "done"}
    deliver = Counter(i.id.split("-")[1] for i in ITEMS if i.section == "deliver")
    assert set(deliver) == set("1234567")
    shown = {item.result.partition("#")[2] for item in ITEMS if item.result}
    assert shown == {row.id for row in FIRST_LIGHT}
