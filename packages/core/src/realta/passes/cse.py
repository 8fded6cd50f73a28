"""Common subexpression elimination: one node for equal work."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any

from realta.graph import Graph, Node, Value
from realta.ops import Attributes, OpKind
from realta.passes.rewriter import Rewriter

__all__ = ["CommonSubexpressions"]

_KEPT_APART = frozenset({OpKind.EFFECT, OpKind.CONTROL})


@dataclass(frozen=True, slots=True)
class CommonSubexpressions:
    """Merges nodes with the same op, operands, attributes and fusion region.

    Operands of commutative ops count in any order. Attributes are compared bit by bit, so that 0.0
    and -0.0 stay apart. Work in different regions stays apart, since regions bound kernels and set
    numerics; constants are merged everywhere.
    """

    name: str = "cse"

    def run(self, graph: Graph) -> Graph:
        """The graph with the first of equal nodes standing for all of them."""
        rewriter = Rewriter(graph)
        first: dict[tuple[Any, ...], Node] = {}
        for node in graph.nodes:
            operands = rewriter.operands(node)
            if node.op.kind in _KEPT_APART:
                rewriter.keep(node, operands)
                continue
            key = _key(node, operands)
            found = first.get(key)
            if found is None:
                first[key] = rewriter.keep(node, operands)
            else:
                rewriter.replace(node, *found.outputs)
        return rewriter.finish()


def _key(node: Node, operands: tuple[Value, ...]) -> tuple[Any, ...]:
    op = node.op
    read = tuple(sorted(map(id, operands))) if op.algebra.commutative else operands
    region = None if op.kind is OpKind.CREATION else node.region
    return (op, read, bits_of(node.attrs), node.types, region)


def bits_of(attrs: Attributes) -> Any:
    """Attributes as a key that tells 0.0 from -0.0 and 1 from True, and takes NaN as itself."""
    for value in attrs.values():
        if type(value) is float or type(value) is bool:
            return tuple((k, type(v), _bits(v)) for k, v in attrs.items())
    return attrs


def _bits(value: Any) -> Any:
    return struct.pack("<d", value) if type(value) is float else value
