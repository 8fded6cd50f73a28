"""The array API's own suite: how its outcomes are sorted, and the result that is committed."""

import json

import pytest

from tools import array_api
from tools.array_api import EXPECTED, RESULT, read_declared, sort_out

STANDARD, DECLARED = read_declared(EXPECTED.read_text(encoding="utf-8"))
FEW = """
standard = "2025.12"
[[absent]]
what = "complex"
reason = "there are none"
tests = ["test_a.py::test_b*"]
[[expected]]
reason = "values"
tests = ["test_a.py::test_c[[]x > 0 -> y]"]
"""


def outcome(name, ended):
    return {"nodeid": f"array_api_tests/{name}", "outcome": ended}


def test_outcomes_are_sorted():
    _, declared = read_declared(FEW)
    found = sort_out(
        [
            outcome("test_a.py::test_a", "passed"),
            outcome("test_a.py::test_bb", "failed"),
            outcome("test_a.py::test_b", "passed"),
            outcome("test_a.py::test_c[x > 0 -> y]", "failed"),
            outcome("test_a.py::test_c[x < 0 -> y]", "failed"),
            outcome("test_a.py::test_d", "error"),
            outcome("test_a.py::test_e", "skipped"),
        ],
        declared,
    )
    assert (found.passed, found.skipped, found.run) == (2, 1, 6)
    assert found.failed == ["test_a.py::test_c[x < 0 -> y]", "test_a.py::test_d"]
    assert [one.kind for one in found.declared] == ["complex", "expected"]
    assert found.declared[declared[0]] == ["test_a.py::test_bb"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (FEW.replace('reason = "values"', 'reason = ""'), "no reason"),
        (FEW.replace('"test_a.py::test_c[[]x > 0 -> y]"', '"test_a.py::*"'), "whole module"),
        (FEW.replace('"test_a.py::test_c[[]x > 0 -> y]"', '"test_a.py"'), "whole module"),
        (FEW.replace('["test_a.py::test_c[[]x > 0 -> y]"]', str(["a::b"] * 16)), "at most 15"),
    ],
    ids=["no reason", "stars", "module", "too many"],
)
def test_expectations_are_few_and_reasoned(text, complaint):
    with pytest.raises(ValueError, match=complaint):
        read_declared(text)


def test_the_committed_result():
    result = json.loads(RESULT.read_text(encoding="utf-8"))
    assert result["standard"] == STANDARD
    assert result["suite"].startswith("data-apis/array-api-tests ")
    assert not result["suite"].endswith("-dirty")
    assert result["failed"] == []
    assert result["passed"] >= array_api.LEAST
    counted = sum(row["count"] for row in result["declared"])
    assert result["run"] == result["passed"] + counted
    known = {(one.kind, one.pattern, one.reason) for one in DECLARED}
    found = {(row["kind"], row["tests"], row["reason"]) for row in result["declared"]}
    assert found == known, "an expectation that nothing meets, or an outcome of an older table"


def test_patterns_match_what_they_name():
    floor = [d for d in DECLARED if "floor" in d.pattern]
    assert len(floor) == 6
    case = "(x1_i is +infinity and isfinite(x2_i) and x2_i > 0) -> +infinity"
    name = f"test_special_cases.py::test_iop[__ifloordiv__{case}]"
    found = sort_out([outcome(name, "failed")], DECLARED)
    assert not found.failed
    other = sort_out([outcome(name.replace("floor", "true"), "failed")], floor)
    assert other.failed
