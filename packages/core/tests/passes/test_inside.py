"""Graphs of control flow in normal form, where the device takes them."""

from realta.graph import Builder
from realta.passes import normalize
from realta.types import TensorType

X, P = TensorType("float32", (4,)), TensorType("bool", ())


def branch(body):
    b = Builder("branch")
    return b.finish(body(b, b.input(X, "x")))


def inner(keeps):
    then = branch(lambda b, x: b.add(b.relu(x), b.neg(b.neg(x))))
    b = Builder("outer")
    p, x = b.input(P, "p"), b.input(X, "x")
    nested = branch(lambda b, x: b.cond(b.constant(True, P), x, then=then, otherwise=then))
    found = normalize(b.finish(b.cond(p, x, then=nested, otherwise=then)), keeps=keeps)
    (node,) = [n for n in found.nodes if n.op.name == "cond"]
    deepest = next(n for n in node.attrs["then"].nodes if n.op.name == "cond").attrs["then"]
    names = [[n.op.name for n in g.nodes] for g in (node.attrs["otherwise"], deepest)]
    assert names[0] == names[1]
    return names[0]


def test_graphs_of_ops_that_the_device_takes_are_normal_at_any_depth():
    assert "relu" not in inner(lambda node: node.op.name == "cond")
    assert "neg" not in inner(lambda node: node.op.name == "cond")


def test_graphs_of_other_ops_stay_as_they_were_recorded():
    assert inner(lambda node: False) == ["relu", "neg", "neg", "add"]
