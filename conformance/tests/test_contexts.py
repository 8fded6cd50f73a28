"""Contexts: each mode is compared with the truth and with eager."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from realta.plugins import open_device
from realta_conformance import contexts
from realta_conformance.opening import open_named


@pytest.fixture
def device():
    opened = open_named("reference:0")
    yield opened
    opened.close()


@pytest.fixture
def some(device):
    return [
        c for c in contexts.contexts_cases(device, True) if c.op in ("add", "exp", "top_k", "sum")
    ]


def outcomes(device, some, **modes):
    return contexts.run_portion(device, some, {"eager": contexts.MODES["eager"], **modes})


def test_every_mode_agrees_on_the_reference(device, some):
    found = contexts.run_portion(device, some, contexts.MODES)
    assert {o.kind for o in found} == {"passed"}
    assert {o.id.rpartition("/")[2] for o in found} == {*contexts.MODES, "launches"}


def test_a_mode_with_other_bits_fails(device, some):
    def nudged(pack):
        results = contexts.MODES["eager"](pack)
        return [
            [np.nextafter(a, np.inf, dtype=a.dtype) if a.dtype == np.float32 else a for a in r]
            for r in results
        ]

    exp = [c for c in some if c.op == "exp"]
    exp = [
        c
        for c in contexts.contexts_cases(device, False)
        if c.op == "exp" and c.dtype.name == "float32"
    ]
    found = outcomes(device, exp, lazy=nudged)
    assert [o.check for o in found if o.kind == "failed"] == ["mode"]


def test_a_mode_with_wrong_values_fails(device, some):
    found = outcomes(
        device, some, lazy=lambda pack: [[a * 0 for a in r] for r in contexts._eager(pack)]
    )
    assert {o.check for o in found if o.kind == "failed"} == {"values"}


def test_a_mode_that_raises_is_tried_case_by_case(device, some):
    def picky(pack):
        if any(c.op == "sum" for c in pack.cases):
            raise ValueError("no sums")
        return contexts._eager(pack)

    found = outcomes(device, some, region=picky)
    failed = [o for o in found if o.kind == "failed"]
    assert {o.op for o in failed} == {"sum"}
    assert {o.check for o in failed} == {"run"}


def test_an_eager_call_counts_its_launches(device, some):
    before = open_device("reference:0").launches
    contexts._launches(device, some)
    assert open_device("reference:0").launches > before


def test_one_case_can_be_replayed(device):
    found = contexts.run_contexts_case(device, "contexts/add-f32-17/lazy")
    assert {o.kind for o in found} == {"passed"}


def test_work_that_nothing_was_launched_for_fails_unless_it_is_the_hosts(device, some, monkeypatch):
    monkeypatch.setattr(contexts, "resolve_device", lambda name: SimpleNamespace(launches=0))
    assert {o.kind for o in contexts._launches(device, some)} == {"failed"}
    host = SimpleNamespace(runs=[SimpleNamespace(kernels=[SimpleNamespace(host=True)])])
    monkeypatch.setattr(contexts.realta, "profile", lambda: nullcontext(host))
    assert contexts._launches(device, some) == []
