"""The table: what it takes for a saboteur to be caught, and some that are quick to catch."""

import pytest
from realta.codegen import Barrier, Buffer, Const, Kernel, Store
from realta.codegen.indices import Axis
from realta.types import float32
from realta_conformance.outcome import CHECKS
from realta_saboteurs.fault import Fault
from realta_saboteurs.generated_faults import GeneratedFault, changed
from realta_saboteurs.table import FAULTS, examine

QUICK = ("numbers-devices", "restless-fingerprint", "keeps-source", "copies-handle", "quiets-nan")
GENERATED = ("generated-contracts", "generated-native-exp", "generated-no-barrier")
CORE = ("maximum-orders-nan", "stale-second-call", "aliases-input", "reports-nothing")


def by_name(name):
    return next(f for f in FAULTS if f.name == name)


def test_there_are_many_and_each_has_its_own_name():
    assert len(FAULTS) >= 20
    assert len({f.name for f in FAULTS}) == len(FAULTS)


def test_every_check_of_a_backend_is_failed_by_one():
    caught = {key.rpartition("/")[2] for fault in FAULTS for key in fault.fails}
    # mode fails through core's contexts only, and what ends a process needs one of its own: the
    # suite's own tests have both
    assert caught == set(CHECKS) - {"mode", "crash", "hang"}


def test_each_fault_belongs_to_one_level():
    for fault in FAULTS:
        assert len({key.partition("/")[0] for key in fault.fails}) == 1, fault.name


@pytest.mark.parametrize("name", QUICK)
def test_it_is_caught_exactly_as_declared(name):
    row = examine(by_name(name))
    assert row.right, row.problem


@pytest.mark.parametrize("name", GENERATED)
def test_faults_of_generated_kernels_are_caught_exactly_as_declared(name):
    row = examine(by_name(name))
    assert row.right, row.problem


def test_a_generated_kernel_is_changed_where_the_fault_says():
    fault = by_name("generated-narrow-indices")
    index = Axis("group", 1000)
    buffer = Buffer("x", float32, 1000, role="output")
    body = (Store(buffer, index, Const(1.0, float32)), Barrier())
    kernel = Kernel("k", (buffer,), 1000, 1, body)
    (store, barrier) = changed(kernel, fault).body
    assert isinstance(barrier, Barrier)
    assert store.index.high == 255
    assert changed(kernel, by_name("generated-no-barrier")).body == body[:1]


def test_a_fault_whose_cases_do_not_run_is_not_caught():
    fault = by_name("generated-contracts")
    nothing = GeneratedFault(fault.name, fault.tells, fault.fails, ops=("no-such-op",))
    assert not examine(nothing).right


@pytest.mark.slow
@pytest.mark.parametrize("name", CORE)
def test_it_is_caught_exactly_as_declared_at_core(name):
    row = examine(by_name(name), sample=True)
    assert row.right, row.problem


def test_a_healthy_backend_is_no_match_for_a_declared_fault():
    class Nothing(Fault):
        pass

    row = examine(Nothing("nothing", "nothing is wrong", frozenset({"memory/copying/contract"})))
    assert not row.right
    assert row.problem == "not caught: memory/copying/contract"


def test_a_fault_that_fails_more_is_no_match():
    fault = by_name("copies-handle")
    wider = type(fault)(fault.name, fault.tells, frozenset({"memory/viewing/contract"}))
    assert "also failed: memory/copying/contract" in examine(wider).problem
