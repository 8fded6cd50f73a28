import sys

import numpy as np
import pytest
from realta.graph import Builder
from realta.ops import find_op, undefine
from realta.plugins import load_backend, loading, open_device
from realta.runtime import hooks as runtime_hooks
from realta.runtime import program_for
from realta.types import float32, tensor_type

WRAPPING = """
from realta.backend import OpByOpBackend, hookimpl

events = []

class Backend(OpByOpBackend):
    name = "wrapping"
    kernels = {"add": lambda node, x, y: x + y}

class Plugin:
    @hookimpl
    def realta_backends(self):
        return [Backend()]

    @hookimpl(wrapper=True)
    def realta_execute(self, event):
        events.append(("execute", event.device, event.name))
        return (yield)

    @hookimpl(wrapper=True)
    def realta_compile(self, event):
        events.append(("compile", event.device, event.graph.name))
        return (yield)

plugin = Plugin()
"""
OPS = """
from realta.backend import hookimpl
from realta.ops import define

@hookimpl
def realta_ops():
    return [define("vendor.same", rule=lambda x: x, reference=lambda x: x, doc="The operand.")]
"""
PASSES = """
from realta.backend import hookimpl

seen = []

class Counting:
    name = "counting"

    def run(self, graph):
        seen.append(graph.name)
        return graph

@hookimpl
def realta_passes():
    return [Counting()]
"""


@pytest.fixture(autouse=True)
def fresh_host(monkeypatch):
    monkeypatch.setattr(loading, "_host", [])
    before = [list(hooks) for hooks in all_hooks()]
    yield
    for hooks, kept in zip(all_hooks(), before, strict=True):
        hooks[:] = kept


def all_hooks():
    return (
        runtime_hooks.compile_wrappers,
        runtime_hooks.execute_wrappers,
        runtime_hooks.extra_passes,
    )


def doubled(device):
    b = Builder("doubled")
    x = b.input(tensor_type(float32, (3,), device))
    return b.finish(b.add(x, x))


def test_wrapper_hooks_of_a_plugin_see_compilations_and_runs(distribution):
    target = "test_plugin_realta_wrapping_wrapping:plugin"
    distribution("realta-wrapping", "1.0", {"wrapping": WRAPPING}, target=target)
    device = open_device("wrapping:0")
    (output,) = program_for(doubled(device.name)).run([np.ones(3, np.float32)])
    assert output.numpy().tolist() == [2, 2, 2]
    assert sys.modules["test_plugin_realta_wrapping_wrapping"].events == [
        ("compile", "wrapping:0", "doubled"),
        ("execute", "wrapping:0", "doubled"),
    ]


def test_ops_of_a_plugin_are_there_once_a_backend_is_used(distribution):
    distribution("vendor-ops", "1.0", {"same": OPS}, group="realta.ops.v1")
    load_backend("reference")
    try:
        assert find_op("vendor.same") is not None
    finally:
        undefine("vendor.same")


def test_passes_of_a_plugin_run_on_every_graph(distribution):
    distribution("vendor-passes", "1.0", {"count": PASSES}, group="realta.passes.v1")
    device = open_device("reference:0")
    program_for(doubled(device.name))
    assert sys.modules["test_plugin_vendor_passes_count"].seen == ["doubled"]


def test_a_broken_plugin_of_ops_breaks_nothing(distribution):
    distribution("vendor-ops", "1.0", {"broken": "1 / 0"}, group="realta.ops.v1")
    assert load_backend("reference").name == "reference"
