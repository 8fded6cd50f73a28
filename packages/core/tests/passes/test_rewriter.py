from realta.graph import Graph, Location, Region, graph_key
from realta.ops import get_op
from realta.passes import Rewriter, detach

REGION = Region("block")
PLACE = Location(None, 0, "model.py:7")


def test_nodes_without_changed_operands_are_shared(write):
    b, x = write(f32=(4,))
    graph = b.finish(b.neg(b.exp(x)))
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        rewriter.keep(node)
    assert rewriter.finish() is graph


def test_users_of_a_replaced_value_are_rebuilt_with_place_and_region(write):
    b, x = write(f32=(4,))
    first = b.exp(x)
    b.where, b.region = PLACE, REGION
    second = b.neg(first)
    graph = b.finish(second)
    rewriter = Rewriter(graph)
    rewriter.replace(graph.nodes[0], x)
    made = rewriter.keep(graph.nodes[1])
    result = rewriter.finish()
    assert made is not second
    assert (made.operands, made.where, made.region) == ((x,), PLACE, REGION)
    assert result.outputs == (made,)
    assert second.operands == (first,)


def test_emitted_nodes_have_the_place_and_region_of_their_model(write):
    b, x = write(f32=(4,))
    b.where, b.region = PLACE, REGION
    graph = b.finish(b.exp(x))
    rewriter = Rewriter(graph)
    made = rewriter.emit(get_op("neg"), (x,), {}, graph.nodes[0])
    assert (made.where, made.region) == (PLACE, REGION)


def test_every_result_of_a_node_is_replaced(write):
    b, x = write(f32=(5,))
    values, places = b.top_k(x, k=2, axis=0)
    graph = b.finish(places, values)
    rewriter = Rewriter(graph)
    other = rewriter.emit(graph.nodes[0].op, (x,), graph.nodes[0].attrs, graph.nodes[0])
    rewriter.replace(graph.nodes[0], *other.outputs)
    assert rewriter.finish().outputs == (other.outputs[1], other.outputs[0])


def test_a_detached_graph_shares_no_value_and_computes_the_same(write):
    b, x = write(f32=(5,))
    cut = b.exp(x)
    values, places = b.top_k(cut, k=2, axis=0)
    # A graph may start from any value, and may name an input twice or give one back.
    graph = Graph("cut", [cut, x, cut], [places, values, x], names={cut: "weights"})
    cut.payload = object()
    copy = detach(graph)
    old = {*graph.inputs, *graph.outputs, *graph.nodes}
    assert old.isdisjoint({*copy.inputs, *copy.outputs, *copy.nodes})
    assert copy.inputs[0] is copy.inputs[2]
    assert copy.outputs[2] is copy.inputs[1]
    assert copy.inputs[0].payload is None
    assert copy.input_name(copy.inputs[0]) == "weights"
    assert graph_key(copy) == graph_key(graph)


def test_a_long_chain_is_rebuilt_without_recursion(write):
    b, x = write(f32=())
    value = x
    for _ in range(50_000):
        value = b.neg(value)
    assert len(detach(b.finish(value))) == 50_000
