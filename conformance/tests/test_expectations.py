"""Expectations: reasons are required, and declarations are strict both ways."""

import pytest
from realta.errors import ArgumentError
from realta_conformance import expectations
from realta_conformance.expectations import Expectation, apply, in_force, isolated, read
from realta_conformance.outcome import Outcome
from realta_conformance.units import Unit


def outcome(kind="failed", op="exp", dtype="float16", check="values"):
    return Outcome(f"math/{op}-f16-17/graph", "math", op, dtype, check, kind, "8 ulp")


def write(tmp_path, text):
    path = tmp_path / "conformance.toml"
    path.write_text(text)
    return path


GOOD = '[[expect]]\nop = "exp"\ndtype = "float16"\ncheck = "values"\nreason = "known"\n'


def test_a_declared_failure_is_declared(tmp_path):
    found, usages = apply([outcome()], read(write(tmp_path, GOOD)))
    assert [o.kind for o in found] == ["declared"]
    assert found[0].reason == "known [8 ulp]"
    assert [(u.ran, u.met, u.stale) for u in usages] == [(True, True, False)]


def test_other_failures_stay_failures(tmp_path):
    others = [outcome(op="log"), outcome(dtype="float32"), outcome(check="repeat")]
    found, _ = apply(others, read(write(tmp_path, GOOD)))
    assert [o.kind for o in found] == ["failed"] * 3


def test_a_declaration_that_nothing_fails_is_stale(tmp_path):
    given = read(write(tmp_path, GOOD))
    assert [u.stale for u in apply([outcome("passed")], given)[1]] == [True]


def test_a_declaration_of_what_did_not_run_is_not_stale(tmp_path):
    given = read(write(tmp_path, GOOD))
    others = [outcome("passed", op="log"), outcome("not-applicable"), outcome("limited")]
    assert [u.stale for u in apply(others, given)[1]] == [False]


def test_stars_stand_for_all():
    given = [Expectation("*", "*", "values", "all of them")]
    found, _ = apply([outcome(), outcome(op="log")], given)
    assert [o.kind for o in found] == ["declared", "declared"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (GOOD.replace('reason = "known"', ""), "has no reason"),
        (GOOD.replace('"known"', '"  "'), "has no reason"),
        (GOOD + 'expires = "2030"\n', "unknown field 'expires'"),
        (GOOD + 'until = "0.1"\n', "accepted until suite 0.1"),
        (GOOD + 'outcome = "odd"\n', "no outcome 'odd'"),
        (GOOD + 'outcome = "flaky"\n', "has no link"),
        (GOOD + "when = { time = 'noon' }\n", "patterns for device, driver, os"),
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


def test_what_is_flaky_may_pass_or_fail(tmp_path):
    text = GOOD + 'outcome = "flaky"\nlink = "https://example.org/1"\n'
    given = read(write(tmp_path, text))
    found, usages = apply([outcome("passed"), outcome()], given)
    assert [o.kind for o in found] == ["passed", "declared"]
    assert not usages[0].stale
    assert not apply([outcome("passed")], given)[1][0].stale


def test_crashes_and_hangs_are_checks_of_their_own(tmp_path):
    text = '[[expect]]\nop = "exp"\ndtype = "*"\nreason = "known"\noutcome = "crash"\n'
    (entry,) = read(write(tmp_path, text))
    assert entry.check == "crash"
    assert [o.kind for o in apply([outcome(check="crash")], [entry])[0]] == ["declared"]
    assert [o.kind for o in apply([outcome(check="values")], [entry])[0]] == ["failed"]


def test_what_is_to_crash_runs_apart(tmp_path):
    unit = Unit("math", "cases", ("a", "b", "c"), (("exp", "x"), ("log", "x"), ("exp", "y")))
    deadly = Expectation("exp", "*", "crash", "known", outcome="crash")
    assert [u.names for u in isolated(unit, [deadly])] == [("a",), ("c",), ("b",)]
    assert isolated(unit, [Expectation("exp", "*", "values", "known")]) == [unit]


def test_conditions_say_where_an_entry_holds(reference):
    device = reference.description

    def holds(**when):
        return bool(in_force([Expectation("*", "*", "values", "x", when=(*when.items(),))], device))

    assert holds()
    assert holds(device="reference:*", os="lin*")
    assert holds(driver=device.fingerprint)
    assert not holds(driver="other-*")
    assert not holds(device="reference:*", os="win*")


def test_entries_expire_by_the_version_of_the_suite(tmp_path, monkeypatch):
    path = write(tmp_path, GOOD + 'until = "0.3"\n')
    monkeypatch.setattr(expectations, "SUITE", "0.2.9")
    assert read(path)[0].until == "0.3"
    monkeypatch.setattr(expectations, "SUITE", "0.3")
    with pytest.raises(ArgumentError, match=r"accepted until suite 0\.3"):
        read(path)
