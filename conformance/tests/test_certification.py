"""Certification: verdicts, blocking, coverage, pinned numbers of graphs, reports."""

import json
from collections.abc import Iterator

import pytest
from realta.backend import DeviceInfo, OpByOpBackend
from realta.backend.reference import Reference
from realta.types import bool_, float32, float64, int32, int64
from realta_conformance.certification import certify, judge, with_needs
from realta_conformance.device import open_backend
from realta_conformance.expectations import Expectation
from realta_conformance.levels import LEVELS, by_name, required
from realta_conformance.outcome import Outcome
from realta_conformance.report import as_json, to_dict
from realta_conformance.running import level_cases

DEVICE_LEVELS = [level for level in LEVELS if level.kind == "device"]
GRAPHS = {
    "manifest": 0, "memory": 0, "core": 52, "math": 233, "linalg": 22, "indexing": 13,
    "random": 7, "fusion": 78, "robust-device": 18,
}  # fmt: skip
"""Graphs that the sample compiles on a device with every dtype; a change is one of cost."""


class Partial(OpByOpBackend):
    """Adds and multiplies, in some dtypes, and rather wrongly if it is told to."""

    name = "partial"
    dtypes = frozenset({bool_, int32, int64, float32})

    def __init__(self, *ops, wrong=()):
        self.kernels = {op: Reference.kernels[op] for op in ops}
        for op in wrong:
            self.kernels[op] = lambda node, x, *rest: x.copy()


@pytest.fixture(scope="module")
def certificate() -> Iterator[object]:
    device = open_backend(Reference())
    yield certify(device, sample=True)
    device.close()


def test_the_reference_conforms_at_every_device_level(certificate):
    assert [r.level.name for r in certificate.results] == [v.name for v in DEVICE_LEVELS]
    assert {r.verdict for r in certificate.results} == {"CONFORMS"}
    assert certificate.exit_code(strict=True) == 0
    for result in certificate.results:
        assert result.required_covered == result.required_total
        assert not result.missing


def test_the_number_of_compiled_graphs_is_pinned(certificate):
    assert {r.level.name: r.graphs for r in certificate.results} == GRAPHS


def test_every_compute_case_launches_something(certificate):
    edges = [o for o in certificate.result("math").outcomes if o.help == "block edge"]
    computed = [o for o in edges if o.check == "values"]
    assert len(computed) > 100
    assert all(o.launches > 0 for o in computed)


def test_the_verdict_names_float_dtypes(certificate):
    assert set(certificate.result("core").floats) == {"float16", "bfloat16", "float32", "float64"}


def test_a_level_whose_needs_fail_is_blocked():
    device = open_backend(Partial("add", "mul", "neg", wrong=("mul",)))
    found = certify(device, with_needs(["math"]), sample=True)
    assert [r.verdict for r in found.results] == ["CONFORMS", "CONFORMS", "FAILS", "BLOCKED"]
    assert found.result("math").blocked_by == "core"
    assert {o.op for o in found.failures()} == {"mul", "subnormals", "truth-plus-truth"}
    assert found.exit_code() == 1


class Simulator(OpByOpBackend):
    """Runs everything, and says that it is slow."""

    name = "simulator"
    kernels = Reference.kernels

    def probe(self):
        return (DeviceInfo(0, "simulator", kind="simulator"),)


def test_simulators_are_asked_for_no_more_than_they_are_sent():
    simulator, host = open_backend(Simulator()), open_backend(Reference())
    asked = {level: set(required(level, simulator)) for level in ("core", "fusion")}
    for level, pairs in asked.items():
        sent = {(case.op, case.dtype) for case in level_cases(level, simulator)}
        assert pairs <= sent
    assert {op for op, _ in set(required("core", host)) - asked["core"]} == {"sum-of-tenths"}
    assert set(required("fusion", host)) == asked["fusion"]


def test_holes_in_the_required_list_make_it_partial():
    found = certify(open_backend(Partial("add", "mul")), with_needs(["core"]), sample=True)
    core = found.result("core")
    assert core.verdict == "PARTIAL"
    assert core.required_covered < core.required_total
    assert "exp/float32" in core.missing
    assert found.exit_code() == 0
    assert found.exit_code(strict=True) == 1


def test_what_is_not_declared_is_counted_as_not_applicable():
    found = certify(open_backend(Partial("add")), with_needs(["core"]), sample=True)
    assert found.result("core").counts()["not-applicable"] > 100


def test_declared_failures_make_it_partial_and_stale_ones_stop_it():
    device = open_backend(Partial("add", "mul", wrong=("mul",)))
    known = [
        *[
            Expectation(op, "*", "values", "known")
            for op in ("mul", "subnormals", "truth-plus-truth")
        ],
        Expectation("mul", "*", "repeat", "known too"),
    ]
    found = certify(device, with_needs(["core"]), known)
    assert found.result("core").verdict == "PARTIAL"
    assert not found.failures()
    assert [e.check for e in found.stale] == ["repeat"]
    assert found.exit_code() == 2


def test_required_lists_follow_what_a_device_computes_in():
    device = open_backend(Partial("add"))
    asked = {d for _, d in required("core", device)}
    assert asked == {bool_, int32, int64, float32}
    assert float64 not in asked


def test_graphs_that_need_other_dtypes_are_not_asked_for(reference):
    narrow = required("core", open_backend(Partial("add")))
    assert ("cast-saturates", float32) in narrow
    assert ("cast-saturates-narrow", float32) not in narrow  # it casts to uint8
    assert ("cast-saturates-narrow", float32) in required("core", reference)


def test_judging_counts_what_passed_and_nothing_else(reference):
    level = by_name("linalg")
    wanted = required("linalg", reference)
    outcomes = [Outcome(f"{o}-{d}", "linalg", o, d.name, "values", "passed") for o, d in wanted]
    assert judge(reference, level, outcomes).verdict == "CONFORMS"
    spoilt = [
        *outcomes,
        Outcome("x", "linalg", *outcomes[0].key.split("/")[1:2], "float32", "values", "limited"),
    ]
    assert judge(reference, level, spoilt).verdict == "CONFORMS"
    assert judge(reference, level, outcomes[1:]).required_covered == len(wanted) - 1


def test_reports_are_equal_run_for_run(certificate):
    device = open_backend(Reference())
    again = certify(device, with_needs(["core"]), sample=True)
    first = to_dict(certificate)
    second = to_dict(again)
    assert first["levels"][2] == second["levels"][2]
    text = as_json(second)
    assert json.loads(text) == second
    assert "time" not in first
    ids = [c["id"] for c in second["levels"][2]["cases"]]
    assert ids == sorted(ids)


def test_reports_hold_what_is_promised(certificate):
    report = to_dict(certificate, "realta")
    assert report["schema"] == 1
    assert {"device", "seed", "spec", "suite", "realta", "numerics", "levels"} <= set(report)
    level = report["levels"][2]
    assert {"verdict", "required_total", "required_covered", "graphs", "counts"} <= set(level)
    assert level["cases"][0]["passed"]
