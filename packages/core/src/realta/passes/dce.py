"""Dead-code elimination: drops what no output and no effect needs."""

from __future__ import annotations

from dataclasses import dataclass

from realta.graph import Graph, Value, has_effects

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
            # A node with one result is that value.
            used = node in needed if len(node.types) == 1 else not needed.isdisjoint(node.outputs)
            if used or has_effects(node):
                needed.update(node.operands)
                kept.append(node)
        if len(kept) == len(graph.nodes):
            return graph
        kept.reverse()
        return Graph(graph.name, graph.inputs, graph.outputs, kept, names=graph.names)
