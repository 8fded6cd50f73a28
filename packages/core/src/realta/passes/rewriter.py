"""Rewriter: rebuilds a graph node by node, from old values to new ones, in linear time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from realta.graph import Graph, Input, Node, Value
from realta.ops import OpDef

__all__ = ["Rewriter", "detach"]


class Rewriter:
    """Rebuilds one graph.

    A pass walks the nodes of the old graph in order and says for each whether it stays (`keep`), is
    replaced by other values (`replace`), or is left out. Nodes none of whose operands changed are
    shared with the old graph; nothing is ever changed in place.

    Args:
        graph: the graph to rewrite.
    """

    __slots__ = ("_new", "changed", "graph", "nodes")

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.nodes: list[Node] = []
        self.changed = False
        self._new: dict[Value, Value] = {}

    def new(self, value: Value) -> Value:
        """What stands for a value of the old graph."""
        return self._new.get(value, value)

    def operands(self, node: Node) -> tuple[Value, ...]:
        """What stands for the operands of a node of the old graph."""
        new = self._new
        if not new:
            return node.operands
        return tuple([new.get(v, v) for v in node.operands])

    def keep(self, node: Node, operands: tuple[Value, ...] | None = None) -> Node:
        """Takes a node over, with what stands for its operands; returns the node that does."""
        if operands is None:
            operands = self.operands(node)
        # Values compare by identity, so this compares objects.
        made = node if operands == node.operands else copy_node(node, operands)
        self.nodes.append(made)
        if made is not node:
            self.changed = True
            self._map(node, made.outputs)
        return made

    def emit(
        self, op: OpDef, operands: tuple[Value, ...], attrs: Mapping[str, Any], like: Node
    ) -> Node:
        """Appends a new node that has the place and the region of ``like``."""
        made = Node(op, operands, op.make_attrs(attrs), where=like.where, region=like.region)
        self.changed = True
        self.nodes.append(made)
        return made

    def replace(self, node: Node, *values: Value) -> None:
        """Lets new values stand for the results of a node of the old graph."""
        self.changed = True
        self._map(node, values)

    def drop(self, node: Node) -> None:
        """Leaves a node out that nothing needs."""
        self.changed = True

    def finish(self) -> Graph:
        """The new graph; the old one if nothing changed."""
        old = self.graph
        if not self.changed:
            return old
        outputs = [self.new(v) for v in old.outputs]
        return Graph(old.name, old.inputs, outputs, self.nodes, names=old.names)

    def _map(self, node: Node, values: tuple[Value, ...]) -> None:
        for old, new in zip(node.outputs, values, strict=True):
            if old is not new:
                self._new[old] = new


def copy_node(node: Node, operands: tuple[Value, ...]) -> Node:
    """The same op on other operands of the same types."""
    return Node(
        node.op, operands, node.attrs, types=node.types, where=node.where, region=node.region
    )


def detach(graph: Graph) -> Graph:
    """A copy that shares no value with the graph: fresh inputs, fresh nodes.

    What is kept for long (a compiled program) must not keep the storages and handles alive that
    hang on the values of the program it was recorded from.
    """
    new: dict[Value, Value] = {
        v: Input(v.type, graph.input_name(v)) for v in dict.fromkeys(graph.inputs)
    }
    inputs = [new[v] for v in graph.inputs]
    nodes: list[Node] = []
    for node in graph.nodes:
        made = copy_node(node, tuple([new[v] for v in node.operands]))
        nodes.append(made)
        new.update(zip(node.outputs, made.outputs, strict=True))
    return Graph(graph.name, inputs, [new[v] for v in graph.outputs], nodes)
