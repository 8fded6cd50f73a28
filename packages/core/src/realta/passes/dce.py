"""Dead-code elimination: drops what no output and no effect needs."""

from __future__ import annotations

from dataclasses import dataclass

from realta.graph import Graph, Value
from realta.ops import OpKind

__all__ = ["DeadCodeElimination"]


@dataclass(frozen=True, slots=True)
class DeadCodeElimination:
    """Keeps the nodes that an output or an effect needs, in their order."""

    name: str = "dce"

    def run(self, graph: Graph) -> Graph:
        """The graph without dead nodes; inputs stay, since callers count them."""
        needed: set[Value] = set(graph.outputs)
        kept = []
        for node in reversed(graph.nodes):
            if node.op.kind is OpKind.EFFECT or any(v in needed for v in node.outputs):
                needed.update(node.operands)
                kept.append(node)
        if len(kept) == len(graph.nodes):
            return graph
        kept.reverse()
        return Graph(graph.name, graph.inputs, graph.outputs, kept, names=graph.names)
