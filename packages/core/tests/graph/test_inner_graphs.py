"""Graphs among attributes: printed in place, read back, verified, hashed, saved, at any depth."""

import pickle

import numpy as np
import pytest
from realta.errors import ParseError, VerificationError
from realta.graph import (
    Builder,
    Graph,
    Input,
    Node,
    Region,
    all_nodes,
    dump_graph,
    graph_key,
    has_effects,
    large_constants,
    parse,
    restore_graph,
    verify,
)
from realta.ops import get_op
from realta.types import TensorType

X = TensorType("float32", (3,))
P = TensorType("bool", ())


def branch(name, body, type=X):
    b = Builder(name)
    return b.finish(body(b, b.input(type, "x")))


def chosen(then, otherwise, type=X, region=None):
    b = Builder("chosen", region=region)
    p, x = b.input(P, "p"), b.input(type, "x")
    return b.finish(b.cond(p, x, then=then, otherwise=otherwise))


def simple():
    return chosen(branch("then", lambda b, x: b.neg(x)), branch("otherwise", lambda b, x: x))


def test_a_graph_prints_where_it_stands():
    assert str(simple()) == (
        "graph chosen(%p: bool[], %x: f32[3]) {\n"
        "  %0: f32[3] = cond(%p, %x, then=graph then(%x: f32[3]) {\n"
        "    %0: f32[3] = neg(%x)\n"
        "    return %0\n"
        "  }, otherwise=graph otherwise(%x: f32[3]) {\n"
        "    return %x\n"
        "  })\n"
        "  return %0\n"
        "}"
    )


def nested(depth):
    graph = branch("inner", lambda b, x: b.neg(x))
    for _ in range(depth):
        outer = Builder("outer")
        x = outer.input(X, "x")
        yes = outer.constant(np.array(True), P)
        same = branch("same", lambda b, x: x)
        graph = outer.finish(outer.cond(yes, x, then=graph, otherwise=same))
    return graph


def round_trips(graph):
    verify(graph)
    constants = large_constants(graph)
    assert parse(str(graph), constants=constants) == graph
    assert restore_graph(dump_graph(graph)) == graph
    assert pickle.loads(pickle.dumps(graph)) == graph


@pytest.mark.parametrize("depth", [1, 3, 20])
def test_nested_graphs_come_back(depth):
    round_trips(nested(depth))
    assert sum(node.op.name == "cond" for node in all_nodes(nested(depth))) == depth


def test_too_deep_a_text_is_refused_before_python_gives_up():
    with pytest.raises(ParseError, match="graphs stand in each other more than 32 deep"):
        parse(str(nested(40)))


def test_large_constants_regions_and_symbolic_extents_inside_come_back():
    type = TensorType("float32", ("n", 40))

    def body(b, x):
        b.region = Region("inner", fuse="never")
        row = b.constant(np.arange(40.0), TensorType("float32", (40,)))
        return b.add(x, b.broadcast(row, shape=type.shape))

    graph = chosen(branch("then", body, type), branch("same", lambda b, x: x, type), type)
    round_trips(graph)
    assert len(large_constants(graph)) == 1


def test_loops_come_back():
    b = Builder("step")
    x, k = b.input(X, "x"), b.input(X, "k")
    body = b.finish(b.mul(x, k))
    b = Builder("test")
    x, k = b.input(X, "x"), b.input(X, "k")
    predicate = b.finish(b.less(b.sum(x, axes=(0,)), b.sum(k, axes=(0,))))
    b = Builder("loop")
    x = b.input(X, "x")
    round_trips(b.finish(b.while_loop(x, x, predicate=predicate, body=body, carried=1)))


def test_keys_follow_what_is_inside_and_not_its_names():
    one = simple()
    renamed = chosen(branch("a", lambda b, y: b.neg(y)), branch("b", lambda b, y: y))
    other = chosen(branch("then", lambda b, x: b.exp(x)), branch("otherwise", lambda b, x: x))
    assert (one == renamed, hash(one) == hash(renamed)) == (True, True)
    assert one != other
    assert graph_key(one) != graph_key(other)
    minus = chosen(
        branch("then", lambda b, x: b.mul(x, b.const(-0.0, like=x))),
        one.nodes[0].attrs["otherwise"],
    )
    plus = chosen(
        branch("then", lambda b, x: b.mul(x, b.const(0.0, like=x))), one.nodes[0].attrs["otherwise"]
    )
    assert minus != plus


def test_a_long_chain_inside_is_as_good_as_a_short_one():
    def body(b, x):
        for _ in range(20_000):
            x = b.sin(x)
        return x

    graph = chosen(branch("then", body), branch("otherwise", lambda b, x: x))
    verify(graph)
    assert parse(str(graph)) == graph
    assert sum(1 for _ in all_nodes(graph)) == 20_001


def test_effects_inside_count():
    def noisy(b, x):
        b.print(x, name="x")
        return x

    quiet = simple()
    loud = chosen(branch("then", noisy), branch("otherwise", lambda b, x: x))
    assert [has_effects(g.nodes[0]) for g in (quiet, loud)] == [False, True]


def cond_of(then, otherwise):
    op = get_op("cond")
    p, x = Input(P, "p"), Input(X, "x")
    attrs = op.make_attrs({"then": then, "otherwise": otherwise})
    node = Node(op, (p, x), attrs, types=(X,))
    return Graph("broken", [p, x], [node], [node])


def refused(graph):
    with pytest.raises(VerificationError) as caught:
        verify(graph)
    return caught.value


def test_the_verifier_underlines_an_inner_op():
    x = Input(X, "x")
    wrong = Node(get_op("neg"), (x,), types=(TensorType("float32", (4,)),))
    good = branch("otherwise", lambda b, x: x)
    error = refused(cond_of(Graph("then", [x], [x], [wrong]), good))
    assert (
        error.what
        == "in the graph 'then': the results of neg are typed f32[4], but it gives f32[3]"
    )
    lines = error.where.splitlines()
    at = next(n for n, line in enumerate(lines) if "neg(%x)" in line)
    assert lines[at + 1].strip() == "^" * len("f32[4]")
    assert lines[at + 1].index("^") == lines[at].index("f32[4]")


def test_the_verifier_underlines_a_whole_graph_for_its_return():
    x, foreign = Input(X, "x"), Input(X, "y")
    error = refused(cond_of(Graph("then", [x], [foreign]), branch("o", lambda b, x: x)))
    assert error.what == "in the graph 'then': output 0 is neither an input nor made by an op"
    assert "then=graph" in error.where


def test_inner_graphs_may_use_dimensions_bound_outside_and_no_others():
    n = TensorType("float32", ("n",))
    graph = chosen(branch("t", lambda b, x: b.neg(x), n), branch("o", lambda b, x: x, n), n)
    verify(graph)
    m = TensorType("float32", ("m",))

    def foreign(b, x):
        b.iota(shape=m.shape, axis=0, dtype=m.dtype, device="")
        return x

    error = refused(chosen(branch("t", foreign), branch("o", lambda b, x: x)))
    assert error.what == "in the graph 'then': the dimension 'm' is bound by no input"


def test_a_type_rule_that_does_not_hold_names_the_graphs():
    shape = Builder("t")
    x = shape.input(X, "x")
    then = shape.finish(shape.sum(x, axes=(0,)))
    error = refused(cond_of(then, branch("o", lambda b, x: x)))
    assert "the graph 'then' returns f32[], 'otherwise' returns f32[3]" in error.what
    error = refused(cond_of(branch("t", lambda b, x: x, P), branch("o", lambda b, x: x)))
    assert "the graph 'then' takes bool[], but its operands are f32[3]" in error.what


def test_errors_inside_have_their_place_in_the_text():
    text = str(simple()).replace("neg(", "negg(")
    with pytest.raises(ParseError, match="there is no op named 'negg'") as caught:
        parse(text, source="model.graph")
    assert "model.graph:3:18" in caught.value.where
    with pytest.raises(ParseError, match="%p is not defined before it is used"):
        parse(str(simple()).replace("return %x", "return %p"))


def test_lists_of_types_print():
    b = Builder("custom")
    x = b.input(X, "x")
    types = (X, TensorType("int64", (), "numpy:0"))
    graph = b.finish(*b.custom_call(x, name="vendor.op", types=types))
    assert "types=[f32[3], i64[]@numpy:0]" in str(graph)
    round_trips(graph)
    nothing = Builder("nothing")
    x = nothing.input(X, "x")
    nothing.custom_call(x, name="vendor.op", types=())
    assert parse(str(nothing.finish(x))) == nothing.finish(x)
