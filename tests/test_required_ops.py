"""Required ops: the table follows the registry, and versions are compared as numbers."""

import pytest
from realta.ops import all_ops, define, get_op, undefine

from tools import backend_sizes, required_ops


def test_core_asks_for_the_ops_of_its_level():
    found = {op.name for op in required_ops.required("1.0")["core"]}
    wanted = {op.name for op in all_ops() if op.primitive and op.level == "core"}
    assert found == wanted - {"constant"}
    assert 20 <= len(found) <= 30


@pytest.fixture
def later():
    old = get_op("tanh")
    define(
        "later", rule=old.rule, reference=old.reference, doc="An op of a later version.",
        dtypes=old.dtypes, level="core", since="1.10",
    )  # fmt: skip
    yield
    undefine("later")


def test_an_op_of_a_later_version_is_in_the_difference(later):
    assert required_ops.versions() == ["1.0", "1.10"]
    assert required_ops.difference("1.0", "1.10") == ["+ core: later"]
    assert required_ops.difference("1.10", "1.0") == ["- core: later"]
    assert "later" not in {op.name for op in required_ops.required("1.9")["core"]}
    block = required_ops.required_block()
    assert "### Spec 1.10\n" in block
    assert "Over 1.0:\n\n```text\n+ core: later\n```" in block


def test_versions_are_numbers():
    assert sorted(["1.10", "1.9", "1.0"], key=required_ops.parsed) == ["1.0", "1.9", "1.10"]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('"""Doc.\n\nMore.\n"""\n\n# comment\nx = 1\n', 1),
        ('def f():\n    """Doc."""\n    return 1  # one\n', 2),
        ("", 0),
    ],
)
def test_code_is_counted_without_what_explains_it(text, lines):
    assert backend_sizes.code_lines(text) == lines


def test_the_sizes_are_those_of_the_sources():
    block = backend_sizes.sizes_block()
    rows = [int(line.split("|")[3]) for line in block.splitlines()[2:]]
    assert len(rows) == len(backend_sizes.COUNTED)
    assert all(10 < size < 600 for size in rows)
    assert rows[0] <= 30
