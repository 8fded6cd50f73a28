"""Demand: what runs when a tensor is asked for, and which inner values become real with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from realta.context.pending import collect, has_live_handle
from realta.graph import Graph, Node, Value, node_of
from realta.ops import OpKind

if TYPE_CHECKING:
    from realta.context.base import RecordingContext

__all__ = ["Demand", "cut_out"]

_RECOMPUTED: Final = frozenset({OpKind.ELEMENTWISE, OpKind.MOVEMENT, OpKind.CREATION})
"""Kinds so cheap that they are recomputed rather than kept for another pending tensor."""


class Demand:
    """A graph to run now.

    Attributes:
        graph: inputs are captured storages, parameters and realized values; outputs are the
            demanded values first, then the kept ones.
        kept: for each kept value why it becomes real, as ``explain`` shows it.
    """

    __slots__ = ("graph", "kept")

    def __init__(self, graph: Graph, kept: tuple[tuple[Value, str], ...]) -> None:
        self.graph = graph
        self.kept = kept


def cut_out(context: RecordingContext, wanted: Sequence[Value]) -> Demand:
    """Cuts out what ``wanted`` needs.

    An inner value is kept iff a live handle names it, or a pending live tensor outside the cut
    needs it and it is not merely elementwise or movement (spec 1).
    """
    context.register_young()
    sources: dict[Value, None] = {}
    nodes = collect(wanted, sources)
    reads: dict[Value, int] = {}
    for node in nodes:
        for value in node.operands:
            reads[value] = reads.get(value, 0) + 1
    demanded = dict.fromkeys(wanted)
    kept: dict[Value, str] = {}
    candidates: set[Value] = set()
    for node in nodes:
        for value in (node,) if len(node.types) == 1 else node.outputs:
            if value in demanded:
                continue
            if value.handles is not None and has_live_handle(value):
                kept[value] = "a live tensor names it"
            elif node.op.kind not in _RECOMPUTED and value.uses > reads.get(value, 0):
                candidates.add(value)
    if candidates:
        for value in _needed_outside(context, set(nodes), candidates):
            kept[value] = "a pending tensor outside this demand needs it"
    outputs = (*demanded, *kept)
    graph = Graph(context.name, tuple(sources), outputs, nodes)
    return Demand(graph, tuple(kept.items()))


def _needed_outside(
    context: RecordingContext, inside: set[Node], candidates: set[Value]
) -> list[Value]:
    """The candidates that live tensors outside the cut reach without passing through the cut."""
    pending = [t._value for t in context.live() if t._value is not None]
    outside = [value for value in pending if node_of(value) not in inside]
    met: dict[Value, None] = {}

    def stop(value: Value) -> bool:
        if node_of(value) in inside:
            met.setdefault(value)
            return True
        return False

    collect(outside, {}, stop)
    return [value for value in met if value in candidates]
