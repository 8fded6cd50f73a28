import numpy as np
import pytest
from realta.errors import ArgumentError
from realta.passes import evaluate_graph, evaluate_node


def test_a_graph_is_computed_by_the_references(write):
    b, x = write(f32=(2, 3))
    values, places = b.top_k(b.neg(x), k=1, axis=1)
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    got = evaluate_graph(b.finish(values, places, x), [array])
    assert np.array_equal(got[0], [[0], [-3]])
    assert np.array_equal(got[1], [[0], [0]])
    assert got[2] is array


def test_results_are_contiguous_whatever_the_reference_returns(write):
    b, x = write(f32=(2, 3))
    node = b.permute(x, axes=(1, 0))
    (result,) = evaluate_node(node, (np.zeros((2, 3), np.float32),))
    assert result.flags.c_contiguous


def test_values_are_dropped_after_their_last_reader(write):
    alive = []

    class Tracked(np.ndarray):
        def __del__(self):
            alive.remove(id(self))

    def evaluate(node, arrays):
        made = np.zeros(1, np.float32).view(Tracked)
        alive.append(id(made))
        assert len(alive) <= 2
        return (made,)

    b, x = write(f32=(1,))
    value = x
    for _ in range(10):
        value = b.neg(value)
    evaluate_graph(b.finish(value), [np.zeros(1, np.float32)], evaluate)


def test_the_number_of_arrays_is_checked(write):
    b, x = write(f32=(2, 3))
    with pytest.raises(ArgumentError, match="has 1 inputs, got 0 arrays"):
        evaluate_graph(b.finish(x), [])
