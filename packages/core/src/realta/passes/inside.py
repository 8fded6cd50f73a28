"""Inside: brings the graphs of control flow that a device runs itself into normal form too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from realta.graph import Graph, Node
from realta.passes.base import Pass, Pipeline
from realta.passes.rewriter import Rewriter

__all__ = ["Inside"]


@dataclass(frozen=True, slots=True)
class Inside:
    """Runs passes over the graphs among the attributes of ops that the device takes whole.

    Those of other ops stay as they were recorded: core compiles each as a program of its own, with
    the numbers of its ops as they are in the calling graph.

    Args:
        keeps: whether the device takes this node as it is.
        passes: what to run inside.
    """

    keeps: Callable[[Node], bool]
    passes: Callable[[], Sequence[Pass]]
    name: str = "inside"

    def run(self, graph: Graph) -> Graph:
        """The graph with the graphs inside of it rewritten."""
        if not any(node.op.graphs for node in graph.nodes):
            return graph
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            operands = rewriter.operands(node)
            if not node.op.graphs or not self.keeps(node):
                rewriter.keep(node, operands)
                continue
            steps = Pipeline(self.passes(), debug=False)
            inner = {name: steps.run(node.attrs[name]) for name in node.op.graphs}
            made = rewriter.emit(node.op, operands, {**node.attrs, **inner}, node)
            rewriter.replace(node, *made.outputs)
        return rewriter.finish()
