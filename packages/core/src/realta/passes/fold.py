"""Constant folding: computes what depends on constants only, where that cannot change a bit."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from realta.graph import Graph, Node, Value
from realta.ops import ConstantData, OpKind, get_op
from realta.passes.evaluate import Array, Evaluate
from realta.passes.rewriter import Rewriter
from realta.passes.scalars import splat

__all__ = ["Fold"]

_FOLDED = frozenset({OpKind.ELEMENTWISE, OpKind.MOVEMENT, OpKind.REDUCE, OpKind.SCAN, OpKind.SORT})


@dataclass(frozen=True, slots=True)
class Fold:
    """Evaluates nodes whose operands are constants.

    Only exact ops are evaluated, since another way to compute an inexact one may round differently.
    Elementwise work on constants that are one number throughout is done on that number, and stays a
    broadcast of it. ``barrier`` and effects stay.

    Args:
        evaluate: computes one node, through the device or by its reference.
        limit: most elements of a folded result; larger ones cost memory rather than time.
        inexact: whether inexact ops may be evaluated too (``numerics="fast"``).
    """

    evaluate: Evaluate
    limit: int = 1024
    inexact: bool = False
    name: str = "fold"

    def run(self, graph: Graph) -> Graph:
        """The graph with constants in place of what could be computed."""
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            operands = rewriter.operands(node)
            found = self._fold(rewriter, node, operands) if self._may(node) else None
            if found is None:
                rewriter.keep(node, operands)
            else:
                rewriter.replace(node, found)
        return rewriter.finish()

    def _may(self, node: Node) -> bool:
        if node.op.kind not in _FOLDED or len(node.types) != 1 or not node.operands:
            return False
        return (node.op.exact or self.inexact) and node.op.name != "broadcast"

    def _fold(self, rewriter: Rewriter, node: Node, operands: tuple[Value, ...]) -> Value | None:
        if node.op.kind is OpKind.ELEMENTWISE:
            return self._fold_numbers(rewriter, node, operands) or self._fold_arrays(
                rewriter, node, operands
            )
        return self._fold_arrays(rewriter, node, operands)

    def _fold_numbers(
        self, rewriter: Rewriter, node: Node, operands: tuple[Value, ...]
    ) -> Value | None:
        """Elementwise work on splats: one number, broadcast to the shape of the result."""
        numbers: list[Array] = []
        for value in operands:
            number = splat(value)
            if number is None:
                return None
            numbers.append(number)
        types = tuple(v.type.with_shape(()) for v in operands)
        sample = Node(node.op, tuple(Value(t) for t in types), node.attrs)
        results = self.evaluate(sample, tuple(numbers))
        if results is None:
            return None
        constant = _constant(rewriter, node, results[0])
        if not node.type.shape:
            return constant
        attrs = {"shape": node.type.shape}
        return rewriter.emit(get_op("broadcast"), (constant,), attrs, node)

    def _fold_arrays(
        self, rewriter: Rewriter, node: Node, operands: tuple[Value, ...]
    ) -> Value | None:
        if not node.type.is_static or prod(node.type.static_shape) > self.limit:
            return None
        arrays: list[Array] = []
        for value in operands:
            if not isinstance(value, Node) or value.op.name != "constant":
                return None
            arrays.append(value.attrs["value"].array)
        results = self.evaluate(
            Node(node.op, operands, node.attrs, types=node.types), tuple(arrays)
        )
        return None if results is None else _constant(rewriter, node, results[0])


def _constant(rewriter: Rewriter, node: Node, array: Any) -> Value:
    data = ConstantData(np.asarray(array))
    attrs = {"value": data, "device": node.type.device}
    return rewriter.emit(get_op("constant"), (), attrs, node)
