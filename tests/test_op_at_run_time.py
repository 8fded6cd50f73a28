"""A new op, defined at run time in one call: printed, parsed, documented, run and certified.

Its reference raises unless the reference device or the suite's oracle asks, so no backend can have
computed with it.
"""

import sys

import numpy as np
import pytest
import realta
from realta import F
from realta.cli import main
from realta.fusion import plan
from realta.graph import load_graph_file, parse, save_graph
from realta.ops import define, undefine
from realta.ops.rules import elementwise
from realta.ops.samples import elementwise_samples
from realta.runtime import graph_device, normal_form
from realta.types import FLOATS
from realta_conformance.case import cases_of
from realta_conformance.opening import open_named
from realta_conformance.running import run_cases

DEVICES = sorted(device.name for device in realta.devices())
MAY_ASK = ("realta_conformance", "realta.backend")


def _reference(x):
    """The definition; it raises outside the reference device and the oracle."""
    frame = sys._getframe(1)
    callers = set()
    while frame is not None:
        callers.add(frame.f_globals.get("__name__", ""))
        frame = frame.f_back
    if not any(name.startswith(MAY_ASK) for name in callers):
        raise AssertionError("the reference was called to compute")
    return x / (1 + np.abs(x))


@pytest.fixture(autouse=True)
def softsign():
    """The op."""
    yield define(
        "softsign",
        rule=elementwise,
        reference=_reference,
        lowering=lambda emit, x: emit.div(x, emit.add(emit.abs(x), emit.const(1.0, like=x))),
        dtypes=FLOATS,
        samples=elementwise_samples(1),
        widen=True,
        tolerance="exp",
        level="math",
        doc="x over one plus its magnitude.",
    )
    undefine("softsign")


def neighbours(x):
    """The op between others."""
    return F.sqrt(F.abs(F.softsign(x * 3.0) + 1.0))


@pytest.fixture
def wanted():
    """What `neighbours` gives, in float32 and step by step."""
    x = np.linspace(-4, 4, 24, dtype=np.float32).reshape(4, 6)
    y = x * np.float32(3)
    return x, np.sqrt(np.abs(y / (np.abs(y) + np.float32(1)) + np.float32(1)))


def test_the_reference_may_not_be_called_to_compute():
    with pytest.raises(AssertionError, match="to compute"):
        _reference(np.ones(3, np.float32))


def test_it_is_printed_and_parsed(tmp_path):
    staged = realta.stage(neighbours, name="f")(realta.TensorType("float32", (4, 6)))
    assert "softsign(%" in str(staged.graph)
    assert parse(str(staged.graph)) == staged.graph
    save_graph(staged.graph, tmp_path / "f.graph")
    assert load_graph_file(tmp_path / "f.graph") == staged.graph


def test_the_command_line_documents_it(capsys):
    assert main(["ops", "softsign"]) == 0
    shown = capsys.readouterr().out
    assert "softsign" in shown
    assert "x over one plus its magnitude." in shown


@pytest.mark.parametrize("device", DEVICES)
def test_it_runs_in_every_mode_with_the_same_bits(device, wanted):
    array, result = wanted
    x = realta.Tensor(array, device=device)
    with realta.lazy():
        pending = neighbours(x)
    assert not pending.is_real
    for found in (
        neighbours(x),
        pending.realize(),
        realta.functional(neighbours)(x),
        realta.compile(neighbours)(x.type)(x),
    ):
        np.testing.assert_array_equal(found.numpy(), result)


@pytest.mark.parametrize("device", DEVICES)
def test_it_is_fused_with_its_neighbours_in_one_group(device):
    x = realta.TensorType("float32", (4, 6), f"{device}")
    graph = realta.stage(neighbours)(x).graph
    assert len(plan(normal_form(graph, graph_device(graph))).groups) == 1


def test_it_runs_as_one_kernel_on_numpy(wanted):
    x = realta.Tensor(wanted[0], device="numpy:0")
    (kernel,) = realta.explain(neighbours, x).kernels
    assert {"div", "sqrt"} <= {member.op for member in kernel.members}


@pytest.mark.parametrize("device", DEVICES)
def test_it_is_certified(device, softsign):
    opened = open_named(device)
    cases = [case for case in cases_of(softsign) if case.dtype in opened.capabilities.ops["add"]]
    outcomes = run_cases(opened, cases)
    assert len(outcomes) > 10
    assert {outcome.kind for outcome in outcomes} == {"passed"}, outcomes
