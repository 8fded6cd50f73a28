"""Places: how errors name an op: the call with its operand types, and the user's file and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from realta.graph import Graph, Location, Node, call_text
from realta.ops import OpKind

__all__ = ["Places", "location_text", "node_place"]

_INDEXED: Final = {
    "gather": slice(1, 2), "scatter": slice(1, 2), "dynamic_update_slice": slice(2, None),
}  # fmt: skip
"""Ops that take indices, and which of their operands those are."""


class Places:
    """Where the ops of a calling graph stand in the user's program; read only for an error.

    Args:
        nodes: the nodes of the calling graph.
    """

    __slots__ = ("_inner", "_nodes", "_wheres")

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes: Sequence[Node] | None = nodes
        self._wheres: list[Any] = []
        self._inner: dict[tuple[int, str], Places] = {}

    def where(self, ordinal: int) -> Any:
        """`Node.where` of the op with that number, None if unknown."""
        if self._nodes is not None:
            return self._nodes[ordinal].where if ordinal < len(self._nodes) else None
        return self._wheres[ordinal] if ordinal < len(self._wheres) else None

    def inside(self, ordinal: int, name: str) -> Places | None:
        """The places of the ops of a graph that is an attribute of the op with that number."""
        if self._nodes is None:
            return self._inner.get((ordinal, name))
        if not 0 <= ordinal < len(self._nodes):
            return None
        graph = self._nodes[ordinal].attrs.get(name)
        return None if graph is None else Places(graph.nodes)

    def keep(self) -> Places:
        """Lets go of the nodes but keeps the places: for work that is still in flight."""
        if self._nodes is not None:
            self._wheres = [node.where for node in self._nodes]
            shared: dict[int, Places] = {}
            for ordinal, node in enumerate(self._nodes):
                for name in node.op.graphs:
                    graph = node.attrs[name]
                    if id(graph) not in shared:
                        shared[id(graph)] = Places(graph.nodes).keep()
                    self._inner[ordinal, name] = shared[id(graph)]
            self._nodes = None
        return self


def location_text(where: Any) -> str:
    """A node's ``where`` as ``file:line``; empty if it has none."""
    if where is None:
        return ""
    return str(where if isinstance(where, Location) else Location(*where))


def node_place(node: Node, graph: Graph, where: Any = None) -> str:
    """An op as errors name it: ``gather(f32[3], i64[2]) at model.py:12``.

    Args:
        node: the op; for a bounds check the op that it guards is named.
        graph: the graph it stands in.
        where: its place in the user's program, as `Node.where`.
    """
    shown = _guarded(node, graph) if node.op.name == "check_bounds" else node
    # The other operands of an effect are tokens, which nobody wrote.
    operands = shown.operands[:1] if shown.op.kind is OpKind.EFFECT else shown.operands
    text = call_text(shown.op, [value.type for value in operands])
    line = location_text(where)
    return f"{text} at {line}" if line else text


def _guarded(check: Node, graph: Graph) -> Node:
    """The op whose access a bounds check guards: the first one that its indices reach."""
    reached = {check, check.operands[0]}
    for node in graph.nodes:
        indices = _INDEXED.get(node.op.name)
        if indices is not None and any(value in reached for value in node.operands[indices]):
            return node
        if node.op.name == "guard" and node.operands[1] is not check:
            continue  # these indices have a check of their own
        if node.op.name != "check_bounds" and any(value in reached for value in node.operands):
            reached.add(node)
    return check
