"""Growth: 300 000 chained ops at the default recursion limit, from recording to their end."""

import gc
import pickle
import sys
import weakref

import numpy as np
import pytest
import realta
from realta.graph import graph_key

LENGTH = 300_000


@pytest.fixture(scope="module")
def chain():
    """A pending tensor behind 300 000 ops, in the lazy context that it belongs to."""
    assert sys.getrecursionlimit() <= 1000
    x = one = realta.ones((4,), dtype="int32", device="numpy:0")
    with realta.lazy("long") as context:
        for _ in range(LENGTH):
            x = x + one
    return x, context


@pytest.mark.slow
def test_it_is_recorded_node_by_node(chain):
    x, _ = chain
    assert not x.is_real
    assert "unrealized" in repr(x)


@pytest.mark.slow
def test_its_graph_is_printed_and_hashed(chain):
    _, context = chain
    graph = context.graph
    text = str(graph)
    assert text.count(" = add(") == LENGTH
    assert graph_key(graph) == graph_key(context.graph)


@pytest.mark.slow
def test_it_is_pickled_run_and_dies(chain):
    x, _ = chain
    y = pickle.loads(pickle.dumps(x))
    np.testing.assert_array_equal(y.numpy(), np.full(4, LENGTH + 1, np.int32))
    assert x.is_real
    one = y
    with realta.lazy() as context:
        for _ in range(LENGTH):
            y = y + one
    nodes = weakref.ref(context)
    del y, context
    gc.collect()
    assert nodes() is None
