"""Expectations: reasons are required, and declarations are strict both ways."""

import pytest
from realta.errors import ArgumentError
from realta_conformance.expectations import Expectation, apply, read
from realta_conformance.outcome import Outcome


def outcome(kind="failed", op="exp", dtype="float16", check="values"):
    return Outcome(f"math/{op}-f16-17/graph", "math", op, dtype, check, kind, "8 ulp")


def write(tmp_path, text):
    path = tmp_path / "conformance.toml"
    path.write_text(text)
    return path


GOOD = '[[expect]]\nop = "exp"\ndtype = "float16"\ncheck = "values"\nreason = "known"\n'


def test_a_declared_failure_is_declared(tmp_path):
    found, stale = apply([outcome()], read(write(tmp_path, GOOD)))
    assert [o.kind for o in found] == ["declared"]
    assert found[0].reason == "known [8 ulp]"
    assert stale == []


def test_other_failures_stay_failures(tmp_path):
    others = [outcome(op="log"), outcome(dtype="float32"), outcome(check="repeat")]
    found, _ = apply(others, read(write(tmp_path, GOOD)))
    assert [o.kind for o in found] == ["failed"] * 3


def test_a_declaration_that_nothing_fails_is_stale(tmp_path):
    given = read(write(tmp_path, GOOD))
    assert apply([outcome("passed")], given)[1] == list(given)


def test_a_declaration_of_what_did_not_run_is_not_stale(tmp_path):
    given = read(write(tmp_path, GOOD))
    assert apply([outcome("passed", op="log")], given)[1] == []


def test_stars_stand_for_all():
    given = [Expectation("*", "*", "values", "all of them")]
    found, stale = apply([outcome(), outcome(op="log")], given)
    assert [o.kind for o in found] == ["declared", "declared"]
    assert stale == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace('reason = "known"', ""), "has no reason"),
        (GOOD.replace('"known"', '"  "'), "has no reason"),
        (GOOD + 'until = "2030"\n', "unknown field 'until'"),
        (GOOD.replace('"values"', '"speed"'), "no check 'speed'"),
        ("[[expect]", "is no TOML"),
    ],
)
def test_bad_files_say_what_is_wrong(tmp_path, text, message):
    with pytest.raises(ArgumentError, match=message):
        read(write(tmp_path, text))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(ArgumentError, match="cannot be read"):
        read(tmp_path / "none.toml")
