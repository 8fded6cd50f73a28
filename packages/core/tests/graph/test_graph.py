import pickle
import sys

import numpy as np
import pytest
from realta.graph import (
    Builder,
    Graph,
    Input,
    Node,
    Region,
    graph_key,
    parse,
    topological,
    verify,
)
from realta.ops import get_op
from realta.types import Dim, TensorType

F3 = TensorType("float32", (3,))


def unary(name="sin", type=F3, **builder):
    b = Builder(**builder)
    return b.finish(b.add_node(get_op(name), (b.input(type, "x"),)))


def test_equality_goes_by_structure():
    assert unary() == unary(name="sin")
    assert hash(unary()) == hash(unary())
    assert unary() != unary("cos")
    assert unary() != unary(type=TensorType("float32", (4,)))
    assert unary() != unary(type=TensorType("float32", (3,), "numpy:0"))
    assert unary() != str(unary())


def test_names_and_locations_do_not_matter():
    b = Builder("other", where=(test_equality_goes_by_structure.__code__, 0))
    assert b.finish(b.sin(b.input(F3))) == unary()


def test_regions_matter_by_what_they_ask():
    assert unary(region=Region("a")) != unary()
    assert unary(region=Region("a")) == unary(region=Region("b"))
    assert unary(region=Region("a", fuse="must")) != unary(region=Region("a"))


def split(regions):
    b = Builder()
    value = b.input(F3)
    for b.region in regions:
        value = b.sin(value)
    return b.finish(value)


def test_where_a_region_ends_matters():
    one, two, three = Region("1"), Region("2"), Region("3")
    assert split([one, two]) != split([one, one])
    assert split([one, two]) == split([three, one])


def constant(value):
    b = Builder()
    return b.finish(b.constant(value, TensorType("float32", np.shape(value))))


def test_constants_compare_bit_by_bit():
    assert constant(np.nan) == constant(np.nan)
    assert constant(0.0) != constant(-0.0)


def variance(correction):
    b = Builder()
    return b.finish(b.var(b.input(F3), axes=(0,), correction=correction))


def test_number_attributes_compare_bit_by_bit():
    assert variance(float("nan")) == variance(float("nan"))
    assert variance(0.0) != variance(-0.0)
    assert variance(0.5) == variance(0.5)


def reshaped(extent, like):
    b = Builder()
    x = b.input(TensorType("float32", ("n", "m")))
    assert like is not None
    return b.finish(b.reshape(x, shape=(extent,)))


def test_symbolic_attributes_compare_without_deciding():
    n, m = Dim("n"), Dim("m")
    assert reshaped(n * m, 0) == reshaped(m * n, 0)
    b = Builder()
    x = b.input(TensorType("float32", (1,)))
    wide = [b.broadcast(x, shape=(extent,)) for extent in (n, m)]
    graphs = [Graph("f", [x], [value]) for value in wide]
    assert graphs[0] != graphs[1]


def test_only_what_the_outputs_need_is_found():
    b = Builder()
    x = b.input(F3)
    y = b.sin(x)
    b.cos(x)
    z = b.add(y, x)
    assert topological([z]) == [y, z]
    assert topological([z], [y]) == [z]
    assert Graph("f", [x], [z]).nodes == (y, z)
    assert len(b.finish(z)) == 3


def test_a_result_that_is_also_an_input_keeps_the_input():
    b = Builder()
    x = b.input(TensorType("float32", (5,)))
    values, indices = b.top_k(x, k=2, axis=0)
    graph = Graph("f", [x, values], [values, indices], [indices.node])
    assert str(graph).splitlines()[-2] == "  return %arg1, %1"
    assert graph_key(graph)[-1] == (1, 3)


def test_ladders_of_shared_values_take_linear_time():
    b = Builder()
    value = b.input(F3)
    for _ in range(100):
        value = b.add(value, value)
    graph = Graph("f", b.inputs, [value])
    assert len(graph) == 100
    assert parse(str(graph)) == graph


@pytest.mark.slow
def test_a_chain_of_300000_ops(chain):
    verify(chain)
    found = parse(str(chain))
    assert found == chain
    assert hash(found) == hash(chain)
    assert pickle.loads(pickle.dumps(chain)) == chain
    assert len(topological(chain.outputs)) == 300_000


def test_a_long_chain_dies_without_recursion():
    x = Input(F3)
    alone = sys.getrefcount(x)
    value = x
    for _ in range(300_000):
        value = Node(get_op("sin"), (value,))
    assert sys.getrefcount(x) == alone + 1
    del value
    assert sys.getrefcount(x) == alone
