"""Evaluation: a graph computed op by op in NumPy, by the references of its ops."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from realta.errors import ArgumentError
from realta.graph import Graph, Node, Value
from realta.ops import as_arrays

__all__ = ["Evaluate", "evaluate_graph", "evaluate_node"]

Array = np.ndarray[Any, np.dtype[Any]]
Evaluate = Callable[[Node, tuple[Array, ...]], "tuple[Array, ...] | None"]
"""``evaluate(node, operand arrays)``: the arrays of its results; None leaves the node alone."""


def evaluate_node(node: Node, arrays: tuple[Array, ...]) -> tuple[Array, ...]:
    """The results of one op by its reference, C-contiguous: sums may depend on the layout."""
    results = as_arrays(node.op.reference(*arrays, **node.attrs))
    return tuple(r if r.flags.c_contiguous else r.copy(order="C") for r in results)


def evaluate_graph(
    graph: Graph,
    arrays: Sequence[Array],
    evaluate: Callable[[Node, tuple[Array, ...]], tuple[Array, ...]] = evaluate_node,
) -> tuple[Array, ...]:
    """The outputs of a graph for these inputs; frees what is no longer needed on the way.

    Args:
        graph: any graph with static shapes; composites need no expansion.
        arrays: one array per input, of its dtype and shape.
        evaluate: computes one node.

    Raises:
        ArgumentError: not as many arrays as inputs.
    """
    if len(arrays) != len(graph.inputs):
        raise ArgumentError(
            f"graph {graph.name!r} has {len(graph.inputs)} inputs, got {len(arrays)} arrays"
        )
    known: dict[Value, Array] = dict(zip(graph.inputs, arrays, strict=True))
    last = _last_readers(graph)
    for node in graph.nodes:
        results = evaluate(node, tuple([known[v] for v in node.operands]))
        known.update(zip(node.outputs, results, strict=True))
        for value in node.operands:
            if last.get(value) is node:
                known.pop(value, None)
    return tuple(known[v] for v in graph.outputs)


def _last_readers(graph: Graph) -> dict[Value, Node]:
    last = {v: node for node in graph.nodes for v in node.operands}
    for value in graph.outputs:
        last.pop(value, None)
    return last
