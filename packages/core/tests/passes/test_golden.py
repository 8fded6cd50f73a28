"""Golden texts: what each pass makes of a graph, in golden/<pass>/*.graph before and after."""

from pathlib import Path

import numpy as np
import pytest
from realta.graph import parse, verify
from realta.passes import (
    Canonicalize,
    CommonSubexpressions,
    DeadCodeElimination,
    Decompose,
    Fold,
    Pipeline,
    evaluate_graph,
    evaluate_node,
    normal_passes,
)

FOLDER = Path(__file__).parent / "golden"
PASSES = {
    "canonicalize": Canonicalize(),
    "cse": CommonSubexpressions(),
    "dce": DeadCodeElimination(),
    "decompose": Decompose(lambda node: False),
    "fold": Fold(evaluate_node),
    "normalize": Pipeline(normal_passes(lambda node: False, evaluate_node)),
}
FILES = sorted(FOLDER.glob("*/*.graph"))


def test_every_pass_has_a_golden_text():
    assert {f.parent.name for f in FILES} == set(PASSES)


@pytest.mark.parametrize("file", FILES, ids=lambda f: f"{f.parent.name}-{f.stem}")
def test_pass_gives_the_expected_text_and_the_same_results(file):
    before, expected = file.read_text().split("; expect:\n")
    graph = parse(before)
    verify(graph)
    result = PASSES[file.parent.name].run(graph)
    verify(result)
    assert str(result) == expected.strip()

    random = np.random.default_rng(0)
    arrays = [
        np.asarray(random.integers(-3, 4, v.type.static_shape)).astype(v.type.dtype.numpy)
        for v in graph.inputs
    ]
    want, got = evaluate_graph(graph, arrays), evaluate_graph(result, arrays)
    for one, other in zip(want, got, strict=True):
        if any(n.op.lowering is not None for n in graph.nodes):
            # The reference of a composite rounds otherwise than its decomposition.
            np.testing.assert_allclose(one, other, rtol=1e-3 if one.itemsize == 2 else 1e-5)
        else:
            assert one.tobytes() == other.tobytes()
