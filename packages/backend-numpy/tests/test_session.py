"""The backend as core sees it: plugin, probe, capabilities, refusals."""

import pkgutil
import subprocess
import sys
from importlib.metadata import entry_points

import pytest
import realta_numpy
from realta.backend import SPEC, Backend, Graph, Options, Session, UnsupportedOp
from realta.graph import Builder
from realta.ops import OpKind, define, undefine
from realta.types import DTYPES, FLOATS, float32, tensor_type
from realta_numpy import NumpyBackend, plugin
from realta_numpy.session import LIMITS


def test_the_entry_point_leads_to_the_plugin():
    found = [e for e in entry_points(group="realta.backends.v1") if e.name == "numpy"]
    assert found[0].load() is plugin
    (backend,) = plugin.realta_backends()
    assert isinstance(backend, Backend)
    assert (backend.name, backend.spec) == ("numpy", SPEC)


def test_there_is_one_host_device():
    (device,) = NumpyBackend().probe()
    assert device.kind == "host"
    assert device.memory_bytes is None or device.memory_bytes > 0
    assert isinstance(NumpyBackend().open(device), Session)


def test_capabilities(session):
    declared = session.capabilities
    assert declared.numerics.modes == "exact"
    assert declared.storage == frozenset(DTYPES)
    assert declared.ops["exp"] == FLOATS
    assert "softmax" not in declared.ops
    assert "nothing" not in declared.ops
    assert "donation" in declared.features
    assert len(list(declared.ops)) == len(declared.ops)


def test_too_many_axes_are_refused(session):
    builder = Builder()
    x = builder.input(tensor_type(float32, (1,) * (LIMITS.rank + 1)))
    node = builder.exp(x)
    assert "axes" in session.supports(node).reason
    small = builder.input(tensor_type(float32, (1,) * LIMITS.rank))
    assert session.supports(builder.exp(small)) is None


@pytest.mark.parametrize("shape", [(), (3,), (0,)], ids=str)
@pytest.mark.parametrize("name", ["gelu", "softmax", "top_k"])
def test_ops_it_does_not_declare_are_refused_by_name(name, shape, session):
    if not shape and name != "gelu":
        pytest.skip("it has an axis")
    builder = Builder()
    x = builder.input(tensor_type(float32, shape))
    attrs = {"gelu": {"approximate": "none"}, "softmax": {"axis": 0}}.get(name, {"k": 0, "axis": 0})
    found = getattr(builder, name)(x, **attrs)
    graph = builder.finish(*(found if isinstance(found, tuple) else (found,)))
    with pytest.raises(UnsupportedOp, match=name):
        session.compile(graph, Options())


@pytest.fixture
def added():
    op = define(
        "test.second_exp", rule=lambda x: x, reference=None, doc="exp by another name.",
        dtypes=FLOATS, scalar="exp",
    )  # fmt: skip
    yield op
    undefine("test.second_exp")


def test_an_op_defined_later_by_a_known_instruction(added, session):
    assert session.capabilities.ops["test.second_exp"] == FLOATS
    builder = Builder()
    x = builder.input(tensor_type(float32, (100_000,)))
    graph: Graph = builder.finish(builder.mul(builder.add_node(added, (builder.neg(x),)), x))
    (kernel,) = session.compile(graph, Options()).kernels
    assert len(kernel.nodes) == 3
    assert added.kind is OpKind.ELEMENTWISE


def test_importing_it_brings_no_heavy_module():
    program = "import sys, realta_numpy; print('threadpoolctl' in sys.modules)"
    command = [sys.executable, "-c", program]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "False"


def test_every_module_has_a_named_concept():
    for module in pkgutil.iter_modules(realta_numpy.__path__):
        loaded = __import__(f"realta_numpy.{module.name}", fromlist=["x"])
        assert ":" in (loaded.__doc__ or "").splitlines()[0], module.name
