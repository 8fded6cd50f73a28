"""The pool: equal reports from any number of processes; a crash or a hang costs one case."""

import sys
from pathlib import Path

import pytest
from realta.errors import DeviceError
from realta.types import float32
from realta_conformance.case import op_cases
from realta_conformance.certification import certify, certify_with, with_needs
from realta_conformance.executor import InProcess, Queue
from realta_conformance.pool import Pool, _Part, _tell_company
from realta_conformance.report import as_json, to_dict
from realta_conformance.shard import WHOLE, Shard
from realta_conformance.units import Result, Unit, crashed, halves

from . import deadly

OPENER = f"{deadly.__name__.rpartition('.')[2]}:opened"
CORE, MEMORY = with_needs(["core"]), with_needs(["memory"])


@pytest.fixture(autouse=True)
def _visible(monkeypatch):
    here = str(Path(__file__).parent)
    monkeypatch.setenv("PYTHONPATH", ":".join([here, *filter(None, sys.path)]))


@pytest.fixture(scope="module")
def unit():
    """A few cases of an op that lives and two of the one that does not."""
    cases = {c.id: c for c in op_cases("core") if c.dtype is float32 and c.op in ("add", "neg")}
    names = [i for i in cases if "add" in i][:3] + [i for i in cases if "neg" in i][:2]
    return Unit("core", "cases", tuple(names), tuple((cases[n].op, "float32") for n in names))


def run(name, levels, jobs=1, **settings):
    with Pool(name, jobs, opener=OPENER) as pool:
        return certify_with(pool, levels, sample=True, **settings)


def performed(name, unit, seconds=300.0):
    with Pool(name, opener=OPENER, seconds=seconds) as pool:
        pool.submit(0, unit)
        ((_, result),) = pool.results()
    return result.outcomes


def failed(outcomes):
    return [o for o in outcomes if o.kind == "failed"]


@pytest.mark.slow
def test_reports_are_equal_however_many_processes_there_are():
    here = as_json(to_dict(certify(deadly.opened("healthy:0"), CORE, sample=True)))
    assert as_json(to_dict(run("healthy:0", CORE))) == here
    assert as_json(to_dict(run("healthy:0", CORE, jobs=3))) == here


def test_two_processes_find_what_one_does():
    here = as_json(to_dict(certify(deadly.opened("healthy:0"), MEMORY, sample=True)))
    assert as_json(to_dict(run("healthy:0", MEMORY, jobs=2))) == here


def test_a_crash_costs_the_cases_that_crash_and_no_others(unit):
    found = performed("dies:0", unit)
    assert {o.id for o in failed(found)} == {f"{n}/graph" for n in unit.names if "neg" in n}
    assert {(o.check, o.reason) for o in failed(found)} == {
        ("crash", "the process was ended by SIGKILL")
    }
    assert {o.id.rpartition("/")[0] for o in found if o.kind == "passed"} == {
        n for n in unit.names if "add" in n
    }


def test_an_exit_is_a_crash(unit):
    found = performed("exits:0", unit.taking([len(unit.names) - 1]))
    assert [o.reason for o in found] == ["the process exited with code 3"]


def test_a_hang_is_given_up_and_costs_one_case(unit):
    found = performed("hangs:0", unit.taking(range(4)), seconds=0.5)
    assert [(o.op, o.check, o.reason) for o in failed(found)] == [
        ("neg", "hang", "no answer from `run` within 0.5 seconds")
    ]
    assert {o.op for o in found if o.kind == "passed"} == {"add"}


def test_what_crashes_in_company_only_is_told():
    unit = Unit("core", "cases", ("core/a", "core/b"), (("a", "x"), ("b", "x")))
    part = _Part(0, unit, reason=("crash", "the process was ended by SIGSEGV"))
    _tell_company(part)
    (found,) = part.result.outcomes
    assert (found.id, found.check, found.kind) == ("core/a/graph", "crash", "failed")
    assert found.reason.endswith("with 2 cases in one go, and with no half of them")
    again = _Part(0, unit, result=Result([crashed(unit, "crash", "alone")]), reason=("crash", "x"))
    _tell_company(again)
    assert [o.reason for o in again.result.outcomes] == ["alone"]


def test_a_device_that_cannot_be_opened_says_why():
    with pytest.raises(DeviceError, match="the lamp is off"):
        Pool("unopened:0", opener=OPENER)


def test_an_exclusive_device_gets_one_process():
    with Pool("exclusive:0", 4, opener=OPENER) as pool:
        assert len(pool._workers) == 1


def test_shards_are_a_partition_of_the_run():
    device = deadly.opened("healthy:0")

    def part(shard):
        return certify_with(InProcess(device), MEMORY, sample=True, shard=shard)

    whole, parts = part(WHOLE), [part(Shard(n, 3)) for n in (1, 2, 3)]
    for level in ("manifest", "memory"):
        found = [o.id for p in parts for o in p.result(level).outcomes]
        assert sorted(found) == sorted(o.id for o in whole.result(level).outcomes)
    assert {p.result("memory").verdict for p in parts} == {"PARTIAL"}
    assert [p.exit_code(strict=True) for p in parts] == [0, 0, 0]


def test_halves_are_all_of_a_unit():
    unit = Unit("core", "cases", tuple("abcde"), tuple((c, "x") for c in "abcde"))
    first, second = halves(unit)
    assert first.names + second.names == unit.names
    assert first.owners + second.owners == unit.owners


def test_a_queue_goes_by_order_then_by_age():
    queue = Queue()
    for order, name in ((1, "c"), (0, "a"), (1, "d"), (0, "b")):
        queue.push(order, Unit(name, "plan"))
    queue.drop(lambda unit: unit.level == "d")
    assert [queue.pop()[1].level for _ in range(len(queue))] == ["a", "b", "c"]
