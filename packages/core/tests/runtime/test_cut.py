import pytest
from realta.graph import Builder
from realta.runtime.cut import Move, Segment, cut
from realta.types import float32, tensor_type


def here(node, device):
    return device


def steps(graph, place=here):
    """What a cut does, as text."""
    shown = []
    for step in cut(graph, "a:0", place).steps:
        if isinstance(step, Move):
            shown.append(f"{step.source[1]} -> {step.target[1]}")
        else:
            shown.append(f"{step.device}: " + " ".join(node.op.name for node in step.nodes))
    return shown


def graph_of(body, device="a:0"):
    b = Builder("cut")
    x = b.input(tensor_type(float32, (3,), device), "x")
    made = body(b, x)
    return b.finish(*(made if isinstance(made, tuple) else (made,)))


def test_one_device_is_one_segment():
    assert steps(graph_of(lambda b, x: b.neg(b.exp(x)))) == ["a:0: exp neg"]


def test_values_without_a_device_are_on_the_graphs_own():
    assert steps(graph_of(lambda b, x: b.neg(x), device="")) == ["a:0: neg"]


def test_a_transfer_cuts_and_disappears():
    graph = graph_of(lambda b, x: b.neg(b.transfer(b.exp(x), device="b:0")))
    assert steps(graph) == ["a:0: exp", "a:0 -> b:0", "b:0: neg"]


def test_there_and_back_are_three_segments():
    def body(b, x):
        there = b.exp(b.transfer(b.neg(x), device="b:0"))
        return b.add(b.transfer(there, device="a:0"), x)

    assert steps(graph_of(body)) == [
        "a:0: neg", "a:0 -> b:0", "b:0: exp", "b:0 -> a:0", "a:0: add",
    ]  # fmt: skip


def test_independent_work_shares_a_segment():
    def body(b, x):
        there = b.exp(b.transfer(x, device="b:0"))
        return b.neg(x), there, b.exp(x)

    assert sorted(steps(graph_of(body))) == ["a:0 -> b:0", "a:0: neg exp", "b:0: exp"]


def test_a_value_is_moved_once():
    def body(b, x):
        there = b.transfer(x, device="b:0")
        again = b.transfer(x, device="b:0")
        return b.add(there, again), b.neg(there)

    assert steps(graph_of(body)) == ["a:0 -> b:0", "b:0: add neg"]


def test_a_transferred_output_is_moved_at_the_end():
    graph = graph_of(lambda b, x: (b.neg(x), b.transfer(b.neg(x), device="b:0")))
    assert steps(graph) == ["a:0: neg neg", "a:0 -> b:0"]


def test_a_transfer_to_where_it_is_changes_nothing():
    graph = graph_of(lambda b, x: b.neg(b.transfer(b.exp(x), device="a:0")))
    assert steps(graph) == ["a:0: exp neg"]
    (segment,) = cut(graph, "a:0", here).steps
    assert isinstance(segment, Segment)
    assert segment.nodes[1].operands[0] is segment.nodes[0]


def test_a_node_placed_elsewhere_brings_its_operands_and_takes_its_result_back():
    graph = graph_of(lambda b, x: b.neg(b.exp(b.neg(x))))
    placed = steps(graph, lambda node, device: "r:0" if node.op.name == "exp" else device)
    assert placed == ["a:0: neg", "a:0 -> r:0", "r:0: exp", "r:0 -> a:0", "a:0: neg"]


def test_what_core_does_itself_is_a_literal_or_an_identity():
    def body(b, x):
        three = b.constant(3, dtype=x.type.with_shape(()))
        return b.neg(b.barrier(x)), three

    found = cut(
        graph_of(body), "a:0", lambda node, d: "" if node.op.name in ("constant", "barrier") else d
    )
    (segment,) = found.steps
    assert [node.op.name for node in segment.nodes] == ["neg"]
    assert [node.op.name for node in found.literals.values()] == ["constant"]
    assert found.outputs[1] in found.literals


@pytest.mark.parametrize("length", [30_000])
def test_a_long_graph_is_cut_without_recursion(length):
    def body(b, x):
        for _ in range(length):
            x = b.neg(x)
        return x

    (segment,) = cut(graph_of(body), "a:0", here).steps
    assert len(segment.nodes) == length
