"""Execution: what the three calls of a pack find, and how a failing pack is split."""

import numpy as np
import pytest
from realta.backend import OpByOpBackend, UnsupportedOp
from realta.backend.reference import Reference
from realta.ops import get_op
from realta_conformance.case import cases_of
from realta_conformance.device import open_backend
from realta_conformance.execution import run_alone, run_constants, run_pack
from realta_conformance.graphs import graph_cases
from realta_conformance.stepwise import step_by_step


class Mine(OpByOpBackend):
    name = "mine"

    def __init__(self, **kernels):
        self.kernels = {
            **{n: Reference.kernels[n] for n in ("add", "mul", "constant", "exp")},
            **kernels,
        }


def cases(*names):
    return [c for n in names for c in cases_of(get_op(n)) if c.dtype.name == "float32"]


def test_a_right_backend_has_no_findings(reference):
    found = run_pack(reference, cases("add", "exp"))
    assert all(not f.failures for f in found)
    assert max(f.max_ulp for f in found) <= 3
    assert reference.live == 0
    assert reference.graphs == 1


def test_a_pack_that_raises_is_split_down_to_the_guilty_case():
    def only_small(node, x, y):
        if x.size == 1025:
            raise ValueError("too large")
        return x + y

    device = open_backend(Mine(add=only_small))
    with np.errstate(all="ignore"):
        found = run_pack(device, cases("mul", "add"))
    failed = [f.case.id for f in found if f.failures]
    assert failed == ["core/add-f32-1025"]
    assert device.live == 0


def test_an_op_that_is_declared_and_missing_fails_its_claim():
    def missing(node, *xs):
        raise UnsupportedOp("not there")

    class Refusing(Mine):
        def open(self, device):
            session = super().open(device)
            compile_ = session.compile

            def refuse(graph, options):
                if any(n.op.name == "exp" for n in graph.nodes):
                    raise UnsupportedOp("no exp")
                return compile_(graph, options)

            session.compile = refuse
            return session

    device = open_backend(Refusing())
    assert set(run_alone(device, cases("exp")[2]).failures) == {"claims"}


def test_wrong_values_are_found_where_they_are():
    def off_by_one(node, x, y):
        out = x * y
        if out.size == 17:
            out[16] = 0
        return out

    device = open_backend(Mine(mul=off_by_one))
    with np.errstate(all="ignore"):
        found = run_pack(device, cases("mul"))
    (wrong,) = [f for f in found if f.failures]
    assert wrong.case.id == "core/mul-f32-17"
    assert "[16]" in wrong.failures["values"]


def test_constants_that_give_other_bits_are_found():
    device = open_backend(Mine())
    known = run_pack(device, cases("exp"))
    for finding in known:
        finding.results = [np.nextafter(r, np.float32(9)) for r in finding.results]
    run_constants(device, [f.case for f in known], known)
    assert all(
        "constants" in f.failures
        for f in known
        if f.results[0].size and np.isfinite(f.results[0]).all()
    )


def test_steps_that_give_other_bits_are_found(reference):
    graphs = [c for c in graph_cases("fusion") if c.op == "chain"]
    found = run_pack(reference, graphs)
    step_by_step(reference, found)
    assert all(not f.failures for f in found)
    found[0].results = [r + 1 for r in found[0].results]
    step_by_step(reference, found)
    assert set(found[0].failures) == {"fused"}


@pytest.mark.parametrize("op", ["iota", "philox_bits", "top_k", "check_bounds"])
def test_ops_of_every_form_run(reference, op):
    found = run_pack(reference, list(cases_of(get_op(op))))
    assert found
    assert all(not f.failures for f in found)
