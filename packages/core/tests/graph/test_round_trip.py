"""Every graph goes through its text and its container unchanged: over all ops, at random."""

import pickle

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from realta.graph import (
    Builder,
    Location,
    Region,
    dump_graph,
    large_constants,
    parse,
    print_graph,
    restore_graph,
    verify,
)
from realta.ops import all_ops
from realta.types import DTYPES, TensorType, tensor_type

OPS = sorted(all_ops(), key=lambda op: op.name)
CALLS = [(op, sample) for op in OPS for sample in op.samples]


def operand_types(op, sample, dtype, device):
    for number, shape in enumerate(sample.shapes):
        fixed = sample.dtypes[number] if number < len(sample.dtypes) else None
        yield tensor_type(fixed or dtype, shape, device)


def assert_survives(graph):
    verify(graph)
    constants = large_constants(graph)
    text = str(graph)
    found = parse(text, constants=constants)
    assert found == graph
    assert str(found) == text
    located = print_graph(graph, locations=True)
    assert print_graph(parse(located, constants=constants), locations=True) == located
    assert restore_graph(dump_graph(graph)) == graph


@pytest.mark.parametrize("op", OPS, ids=lambda op: op.name)
def test_every_sample_of_every_op(op):
    b = Builder(op.name)
    for sample in op.samples:
        dtype = sorted(op.dtypes, key=str)[0]
        operands = [b.input(t) for t in operand_types(op, sample, dtype, "")]
        b.add_node(op, tuple(operands), sample.attrs_for(dtype))
    assert_survives(b.finish())


NAMES = st.sampled_from(["x", "weight", "layer.0.bias", "two words", 'a "quote"', "é", "", "arg1"])
DEVICES = st.sampled_from(["", "numpy:0", "opencl:a b"])
REGIONS = [None, Region("mlp"), Region('a "b"', fuse="must"), Region("fast", numerics="fast")]


@st.composite
def graphs(draw):
    device = draw(DEVICES)
    b = Builder(draw(NAMES) or "graph")
    values = []
    for _ in range(draw(st.integers(0, 6))):
        b.region = draw(st.sampled_from(REGIONS))
        b.where = draw(st.sampled_from([None, Location(None, 0, "dir/model.py:3")]))
        if draw(st.integers(0, 3)) == 0:
            values.append(draw_constant(draw, b, device))
            continue
        op, sample = draw(st.sampled_from(CALLS))
        dtype = draw(st.sampled_from(sorted(op.dtypes, key=str)))
        operands = []
        for type in operand_types(op, sample, dtype, device):
            known = [v for v in values if v.type is type]
            reuse = known and draw(st.booleans())
            operands.append(draw(st.sampled_from(known)) if reuse else b.input(type, draw(NAMES)))
        attrs = sample.attrs_for(dtype)
        if "device" in op.attrs:
            attrs["device"] = device
        node = b.add_node(op, tuple(operands), attrs)
        values += [*operands, *node.outputs]
    outputs = draw(st.lists(st.sampled_from(values), max_size=3)) if values else []
    return b.finish(*outputs)


def draw_constant(draw, b, device):
    """A constant of any bits."""
    dtype = draw(st.sampled_from(DTYPES))
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=3)))
    size = int(np.prod(shape, dtype=int))
    if dtype.kind == "bool":
        array = np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), bool)
    else:
        raw = draw(st.binary(min_size=size * dtype.itemsize, max_size=size * dtype.itemsize))
        array = np.frombuffer(raw, dtype.numpy)
    return b.constant(array.reshape(shape), TensorType(dtype, shape, device))


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(graphs())
def test_random_graphs(graph):
    assert_survives(graph)
    assert pickle.loads(pickle.dumps(graph)) == graph


@given(st.sampled_from(["m", "2*n + 1", "n//2", "min(m, n)", "(n%3)*m", "0"]))
def test_symbolic_extents(extent):
    b = Builder("symbolic")
    x = b.input(TensorType("float32", ("n", "m", 1)), "x")
    y = b.broadcast(x, shape=TensorType("float32", ("n", "m", extent)).shape)
    b.iota(shape=y.type.shape, axis=1, dtype=x.type.dtype)
    assert_survives(b.finish(y))
