import math

import numpy as np
import pytest
from realta.graph import Builder, Graph, Location, Region, print_graph
from realta.ops import ConstantData
from realta.types import TensorType, bfloat16, float8_e5m2

F3 = TensorType("float32", (3,))


def test_the_example_of_the_spec(linear):
    assert str(linear) == (
        "graph linear(%x: f32[batch, 4], %w: f32[3, 4], %b: f32[3]) {\n"
        "  %0: f32[4, 3] = permute(%w, axes=[1, 0])\n"
        "  %1: f32[batch, 3] = matmul(%x, %0)\n"
        "  %2: f32[batch, 3] = broadcast(%b, shape=[batch, 3])\n"
        "  %3: f32[batch, 3] = add(%1, %2)\n"
        "  return %3\n"
        "}"
    )
    assert repr(linear) == "<Graph linear: 3 inputs, 4 ops, 1 output>"


def test_several_results_and_defaults_left_out():
    b = Builder()
    x = b.input(TensorType("float32", (5,), "numpy:0"))
    values, indices = b.top_k(x, k=2, axis=0)
    total = b.cumsum(values, axis=0, reverse=True)
    assert str(b.finish(total, indices)) == (
        "graph graph(%arg0: f32[5]@numpy:0) {\n"
        "  %0, %1: f32[2]@numpy:0, i64[2]@numpy:0 = top_k(%arg0, k=2, axis=0)\n"
        "  %2: f32[2]@numpy:0 = cumsum(%0, axis=0, reverse=true)\n"
        "  return %2, %1\n"
        "}"
    )


def test_a_graph_without_anything():
    assert str(Builder("empty").finish()) == "graph empty() {\n  return\n}"


def test_names_are_unique_and_quoted_where_they_are_no_identifiers():
    b = Builder("<lambda>")
    for name in ("x", "x", "layer.0.weight", "two words", "", "arg4"):
        b.input(F3, name)
    assert print_graph(b.finish()).splitlines()[0] == (
        'graph "<lambda>"(%x: f32[3], %arg1: f32[3], %layer.0.weight: f32[3], '
        '%"two words": f32[3], %arg4_: f32[3], %arg4: f32[3]) {'
    )


def test_names_given_to_a_graph_cut_out_of_another():
    b = Builder()
    x = b.input(F3, "x")
    y = b.sin(x)
    z = b.cos(y)
    assert str(Graph("cut", [y], [z], names={y: "y"})) == (
        "graph cut(%y: f32[3]) {\n  %0: f32[3] = cos(%y)\n  return %0\n}"
    )


@pytest.mark.parametrize(
    ("array", "text"),
    [
        (np.float32(0.5), "f32[] 0.5"),
        (np.float32(0.1), "f32[] 0.1"),
        (np.float64(0.1) + 0.2, "f64[] 0.30000000000000004"),
        (np.array([math.inf, -math.inf, math.nan, -0.0]), "f64[4] [inf, -inf, nan, -0.0]"),
        (np.array([1.0, 0.1]).astype(bfloat16.numpy), "bf16[2] [1.0, 0.1]"),
        (np.array([0.1]).astype(float8_e5m2.numpy), "f8e5m2[1] [0.09]"),
        (np.array([0x7FC00001], "u4").view("f4"), "f32[1] [nan:0x7fc00001]"),
        (np.array([[True], [False]]), "bool[2, 1] [[true], [false]]"),
        (np.array([-(2**63), 2**63 - 1]), "i64[2] [-9223372036854775808, 9223372036854775807]"),
        (np.zeros((2, 0, 3), "u1"), "u8[2, 0, 3] []"),
        (np.arange(4, dtype="i2").reshape(2, 1, 2), "i16[2, 1, 2] [[[0, 1]], [[2, 3]]]"),
        (np.float32(1e-45), "f32[] 1e-45"),
        (np.float32(16777216), "f32[] 16777216.0"),
    ],
)
def test_small_constants_print_their_values(array, text):
    b = Builder()
    value = b.constant(array, TensorType(array.dtype, array.shape))
    line = print_graph(b.finish(value)).splitlines()[1]
    assert line.endswith(f"= constant(value={text})")


def test_large_constants_print_their_digest():
    b = Builder()
    b.constant(np.arange(17), TensorType("int64", (17,)))
    digest = ConstantData(np.arange(17)).digest
    line = print_graph(b.finish()).splitlines()[1]
    assert line == f"  %0: i64[17] = constant(value=i64[17] #{digest})"


def test_regions_are_described_once():
    one, two = Region("softmax", fuse="must"), Region("mlp", numerics="fast")
    b = Builder("f", region=one)
    x = b.input(F3, "x")
    y = b.sin(b.cos(x))
    b.region = two
    y = b.tan(y)
    b.region = None
    y = b.exp(y)
    assert str(b.finish(y)) == (
        "graph f(%x: f32[3]) {\n"
        '  %0: f32[3] = cos(%x) region=r0(name="softmax", fuse="must", numerics="exact")\n'
        "  %1: f32[3] = sin(%0) region=r0\n"
        '  %2: f32[3] = tan(%1) region=r1(name="mlp", fuse="may", numerics="fast")\n'
        "  %3: f32[3] = exp(%2)\n"
        "  return %3\n"
        "}"
    )


def test_locations_and_comments_on_request():
    b = Builder("f", where=Location(None, 0, "model.py:12"))
    y = b.sin(b.input(F3, "x"))
    graph = b.finish(y)
    assert "loc(" not in str(graph)
    text = print_graph(graph, locations=True, annotate=lambda node: f"kernel\n0 of {node.op.name}")
    assert text.splitlines()[1] == ('  %0: f32[3] = sin(%x) loc("model.py:12") ; kernel 0 of sin')


def test_a_location_is_found_from_the_code_object():
    code = test_a_location_is_found_from_the_code_object.__code__
    b = Builder("f", where=(code, 0))
    graph = b.finish(b.sin(b.input(F3, "x")))
    place = f'loc("{code.co_filename}:{code.co_firstlineno}")'
    assert place in print_graph(graph, locations=True)
