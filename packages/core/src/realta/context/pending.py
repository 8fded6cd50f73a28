"""Pending: the graph of what is recorded and not yet real, walked without recursion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from realta.context.inputs import ScalarInput
from realta.graph import Graph, Input, Node, Value, live_handles
from realta.ops import OpDef, OpKind

__all__ = ["collect", "counts_as_pending", "has_live_handle", "pending_graph"]

_UNCOUNTED: Final = frozenset({OpKind.CREATION, OpKind.RANDOM})
_FOLLOWERS: Final = frozenset({"broadcast", "cast", "transfer"})
_LONGEST: Final = 4
"""How many casts and moves in a row are looked through."""


def pending_graph(
    name: str, outputs: Sequence[Value], rename: Mapping[Value, str] | None = None
) -> Graph:
    """The graph that computes ``outputs`` from captured storages, parameters and real values."""
    sources: dict[Value, None] = {}
    nodes = collect(outputs, sources)
    return Graph(name, tuple(sources), outputs, nodes, dict(rename or {}))


def collect(
    outputs: Sequence[Value],
    sources: dict[Value, None],
    stop: Callable[[Value], bool] | None = None,
) -> list[Node]:
    """The nodes that unrealized ``outputs`` need, operands first; linear in nodes and edges.

    Args:
        outputs: what is wanted.
        sources: filled with what the nodes read from outside, in order of first use: inputs, and
            values with a payload.
        stop: which other values count as sources.
    """
    order: list[Node] = []
    done: set[Node] = set()
    stack: list[Any] = list(reversed(outputs))
    while stack:
        item = stack.pop()
        if type(item) is tuple:  # all operands of this node are in order
            order.append(item[0])
            continue
        if item.payload is not None or isinstance(item, Input) or (stop is not None and stop(item)):
            sources.setdefault(item)
            continue
        node: Node = item if isinstance(item, Node) else item.node
        if node in done:
            continue
        done.add(node)
        stack.append((node,))
        stack.extend(reversed(node.operands))
    return order


def has_live_handle(value: Value) -> bool:
    """Whether a tensor alive names this value."""
    # A handle that was moved to a newer version no longer names this one.
    return value.handles is not None and any(t._value is value for t in live_handles(value))


def counts_as_pending(op: OpDef, operands: Sequence[Value]) -> bool:
    """Whether an op counts towards a node budget.

    Creation and random ops, and their casts and moves, do not: weights that wait for being loaded
    are no sign of a loop that never realizes.
    """
    if op.kind in _UNCOUNTED:
        return False
    for _ in range(_LONGEST):
        if op.name not in _FOLLOWERS:
            return True
        source = operands[0]
        if isinstance(source, ScalarInput):
            return False
        if not isinstance(source, Node):
            return True
        if source.op.kind in _UNCOUNTED:
            return False
        op, operands = source.op, source.operands
    return True
