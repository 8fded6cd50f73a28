import gc
import weakref

import pytest
from realta.errors import VerificationError
from realta.graph import Graph, verify
from realta.passes import evaluate_node, normalize


def test_inputs_and_outputs_keep_number_order_and_type(write):
    b, x, y = write(f32=(2, 3), i32=())
    graph = b.finish(x, b.neg(b.neg(x)), b.softmax(x, axis=1), y)
    result = normalize(graph, keeps=lambda n: False, evaluate=evaluate_node, debug=True)
    assert [v.type for v in result.inputs] == [v.type for v in graph.inputs]
    assert [v.type for v in result.outputs] == [v.type for v in graph.outputs]
    assert result.outputs[1] is result.outputs[0] is result.inputs[0]
    assert all(n.op.lowering is None for n in result.nodes)


def test_the_result_keeps_nothing_of_the_recorded_graph_alive(write):
    class Storage:
        pass

    b, x = write(f32=(2,))
    x.payload = Storage()
    storage = weakref.ref(x.payload)
    result = normalize(b.finish(b.exp(x)), keeps=lambda n: False)
    del b, x
    gc.collect()
    assert storage() is None
    verify(result)


def test_debug_verifies_what_was_recorded(write):
    b, x = write(f32=(2,))
    graph = b.finish(b.neg(b.exp(x)))
    broken = Graph("broken", graph.inputs, graph.outputs, graph.nodes[::-1])
    with pytest.raises((VerificationError, KeyError)):
        normalize(broken, keeps=lambda n: False, debug=True)


def test_normalizing_again_changes_nothing(write):
    b, x = write(f32=(4, 8))
    graph = b.finish(b.gelu(b.softmax(x, axis=1), approximate="tanh"))
    once = normalize(graph, keeps=lambda n: False, evaluate=evaluate_node)
    assert normalize(once, keeps=lambda n: False, evaluate=evaluate_node) == once


def test_a_hundred_doublings_stay_a_hundred_nodes(write):
    b, x = write(f32=(4,))
    value = x
    for _ in range(100):
        value = b.add(value, value)
    assert len(normalize(b.finish(value), keeps=lambda n: False)) == 100


@pytest.mark.slow
def test_a_chain_of_300_000_ops_is_normalized_without_recursion(write):
    b, x = write(f32=(2,))
    value = x
    for _ in range(150_000):
        value = b.sin(b.exp(value))
    assert len(normalize(b.finish(value), keeps=lambda n: False)) == 300_000
