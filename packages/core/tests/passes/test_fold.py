import numpy as np
import pytest
from realta.passes import Canonicalize, Fold, evaluate_node, normalize
from realta.passes.evaluate import evaluate_graph


def test_exact_work_on_numbers_is_done_on_one_element(write):
    seen = []

    def evaluate(node, arrays):
        seen.append((node.op.name, node.type.shape, [a.shape for a in arrays]))
        return evaluate_node(node, arrays)

    b, x = write(f32=(1000, 1000))
    value = b.mul(b.const(2.0, like=x), b.const(3.0, like=x))
    (output,) = Fold(evaluate).run(b.finish(value)).outputs
    assert seen == [("mul", (), [(), ()])]
    assert (output.op.name, output.type) == ("broadcast", x.type)
    assert output.operands[0].attrs["value"].array == 6.0


def test_inexact_ops_are_folded_only_if_that_is_asked_for(write):
    b, x = write(f32=())
    graph = b.finish(b.exp(b.const(1.0, like=x)))
    assert Fold(evaluate_node).run(graph) is graph
    (output,) = Fold(evaluate_node, inexact=True).run(graph).outputs
    (want,) = evaluate_graph(graph, [np.zeros((), np.float32)])
    assert output.attrs["value"].array == want


def test_a_result_over_the_limit_is_left(write):
    b, x = write(f32=(64,))
    graph = b.finish(b.neg(b.constant(np.arange(64), x.type)))
    assert Fold(evaluate_node, limit=63).run(graph) is graph
    assert Fold(evaluate_node, limit=64).run(graph).outputs[0].op.name == "constant"


def test_an_evaluator_may_decline(write):
    b, x = write(f32=())
    graph = b.finish(b.neg(b.const(1.0, like=x)))
    assert Fold(lambda node, arrays: None).run(graph) is graph


def test_barriers_random_bits_and_what_depends_on_inputs_stay(write):
    b, x = write(u32=(4,))
    state = b.constant(np.arange(4), x.type)
    values = (b.barrier(state), b.philox_bits(state, shape=(2,), dtype=x.type.dtype, device=""))
    graph = b.finish(*values, b.add(state, x))
    assert Fold(evaluate_node).run(graph) is graph


def test_normalize_calls_no_evaluator_unless_it_is_given_one(write):
    b, x = write(f32=())
    graph = b.finish(b.neg(b.const(1.0, like=x)))
    assert [n.op.name for n in normalize(graph, keeps=lambda n: False).nodes] == ["constant", "neg"]


@pytest.mark.parametrize("number", [-0.0, np.nan, np.inf, 1e-45])
def test_special_numbers_fold_to_the_same_bits(write, number):
    b, x = write(f32=())
    graph = b.finish(b.neg(b.const(number, like=x)), x)
    folded = Canonicalize().run(Fold(evaluate_node).run(graph))
    array = [np.float32(0)]
    assert evaluate_graph(graph, array)[0].tobytes() == evaluate_graph(folded, array)[0].tobytes()
