import numpy as np
import pytest
from realta.backend import DeviceFault
from realta.backend.reference import Reference, ReferenceKernels, plugin
from realta.graph import Builder
from realta.ops import OpKind, all_ops, define, undefine
from realta.plugins import load_backend, open_device
from realta.runtime import program_for
from realta.types import DTYPES, float32, tensor_type


@pytest.fixture
def new_op():
    names = []

    def add(name, **options):
        names.append(name)
        return define(name, rule=lambda x: x, doc="An op of this test.", **options)

    yield add
    for name in names:
        undefine(name)


def unary(op, shape=(3,)):
    b = Builder("test")
    return b.finish(getattr(b, op)(b.input(tensor_type(float32, shape, "reference:0"))))


def run(graph, *arrays):
    return program_for(graph).run(arrays)[0].numpy()


def test_it_is_reached_through_cores_own_entry_point():
    assert isinstance(load_backend("reference"), Reference)
    assert [backend.name for backend in plugin.realta_backends()] == ["reference"]


def test_it_has_every_primitive_and_every_dtype():
    capabilities = open_device("reference:0").capabilities
    by_core = {op.name for op in all_ops() if op.kind in (OpKind.CONTROL, OpKind.EFFECT)}
    primitives = {op.name for op in all_ops() if op.primitive} - by_core
    primitives -= {"transfer", "custom_call"}
    assert set(capabilities.ops) == primitives
    assert all(capabilities.ops[op.name] == op.dtypes for op in all_ops() if op.name in primitives)
    assert capabilities.storage == frozenset(DTYPES)
    assert len(ReferenceKernels()) == len(primitives)


def test_an_op_defined_later_runs_at_once(new_op):
    new_op("twice.plus_one", reference=lambda x: (x * 2 + 1).astype(x.dtype))
    graph = unary("twice.plus_one")
    assert run(graph, np.array([1, 2, 3], np.float32)).tolist() == [3, 5, 7]


@pytest.mark.parametrize(
    ("reference", "what"),
    [
        (lambda x: x.astype(np.float64), "returned float64[3] where the graph has f32[3]"),
        (lambda x: x[:1], "returned float32[1] where the graph has f32[3]"),
    ],
)
def test_a_reference_that_does_not_keep_its_type_rule_is_refused(new_op, reference, what):
    new_op("test.wrong", reference=reference, kind=OpKind.OPAQUE)
    with pytest.raises(DeviceFault) as caught:
        run(unary("test.wrong"), np.ones(3, np.float32))
    assert what in caught.value.what


def test_numpy_stays_silent_where_values_are_odd():
    found = run(unary("log"), np.array([0, -1, np.nan], np.float32))
    assert found[0] == -np.inf
    assert np.isnan(found[1:]).all()
