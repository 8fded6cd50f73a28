"""Places: how errors name an op: the call with its operand types, and the user's file and line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from realta.graph import Graph, Location, Node, call_text

__all__ = ["Places", "location_text", "node_place"]

_INDEXED: Final = frozenset({"gather", "scatter"})


class Places:
    """Where the ops of a calling graph stand in the user's program; read only for an error.

    Args:
        nodes: the nodes of the calling graph.
    """

    __slots__ = ("_nodes", "_wheres")

    def __init__(self, nodes: Sequence[Node]) -> None:
        self._nodes: Sequence[Node] | None = nodes
        self._wheres: list[Any] = []

    def where(self, ordinal: int) -> Any:
        """`Node.where` of the op with that number, None if unknown."""
        if self._nodes is not None:
            return self._nodes[ordinal].where if ordinal < len(self._nodes) else None
        return self._wheres[ordinal] if ordinal < len(self._wheres) else None

    def keep(self) -> Places:
        """Lets go of the nodes but keeps the places: for work that is still in flight."""
        if self._nodes is not None:
            self._wheres = [node.where for node in self._nodes]
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
    text = call_text(shown.op, [value.type for value in shown.operands])
    line = location_text(where)
    return f"{text} at {line}" if line else text


def _guarded(check: Node, graph: Graph) -> Node:
    """The op whose access a bounds check guards: the first one that its indices reach."""
    reached = {check, check.operands[0]}
    for node in graph.nodes:
        if node.op.name in _INDEXED and node.operands[1] in reached:
            return node
        if node.op.name == "guard" and node.operands[1] is not check:
            continue  # these indices have a check of their own
        if node.op.name != "check_bounds" and any(value in reached for value in node.operands):
            reached.add(node)
    return check
