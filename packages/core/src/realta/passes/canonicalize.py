"""Canonicalization: applies the algebra that ops declare, and the identities of movement ops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from realta.graph import Graph, Node, Value
from realta.ops import OpDef, get_op
from realta.passes.movements import MOVEMENTS, Call
from realta.passes.rewriter import Rewriter
from realta.passes.scalars import is_number, splat
from realta.types import TensorType

__all__ = ["Canonicalize"]


@dataclass(frozen=True, slots=True)
class Canonicalize:
    """Replaces calls by simpler ones that give the same bits.

    What holds for an op is read from its `Algebra` and nowhere else, so an op that joins at run
    time takes part. Operands are canonical before their users are looked at; one walk is enough.
    """

    name: str = "canonicalize"

    def run(self, graph: Graph) -> Graph:
        """The graph with each node replaced by its simplest equal."""
        rewriter = Rewriter(graph)
        kept = set(graph.outputs)
        for node in graph.nodes:
            operands = rewriter.operands(node)
            if len(node.types) != 1:
                rewriter.keep(node, operands)
                continue
            found = _simplest(node, operands)
            if node.op.name == "iota" and len(node.type.shape) > 1 and node not in kept:
                rewriter.replace(node, _line_of(rewriter, node))
            elif found is None:
                rewriter.keep(node, operands)
            elif isinstance(found, Call):
                op = get_op(found.op)
                rewriter.replace(node, rewriter.emit(op, found.operands, found.attrs, node))
            else:
                rewriter.replace(node, found)
        return rewriter.finish()


def _line_of(rewriter: Rewriter, node: Node) -> Value:
    """An iota over several axes as index maps over one along its axis, which is all it stores."""
    shape, axis = node.attrs["shape"], node.attrs["axis"]
    line = {**node.attrs, "shape": (shape[axis],), "axis": 0}
    value: Value = rewriter.emit(node.op, (), line, node)
    if axis != len(shape) - 1:
        column = (shape[axis], *[1] * (len(shape) - 1 - axis))
        value = rewriter.emit(get_op("reshape"), (value,), {"shape": column}, node)
    return rewriter.emit(get_op("broadcast"), (value,), {"shape": shape}, node)


def _simplest(node: Node, operands: tuple[Value, ...]) -> Call | Value | None:
    """The last of the steps that start from a node; each step removes one op, so they end."""
    best: Call | Value | None = None
    op, attrs = node.op, node.attrs
    step = simplify(op, operands, attrs, node.type)
    while step is not None:
        best = step
        if not isinstance(step, Call):
            break
        step = simplify(get_op(step.op), step.operands, step.attrs, node.type)
    return best


def simplify(
    op: OpDef, operands: tuple[Value, ...], attrs: Mapping[str, Any], type: TensorType
) -> Call | Value | None:
    """A simpler call, an equal value, or None.

    Args:
        op: the op.
        operands: its operands.
        attrs: its attributes.
        type: its result type; a value that stands for the result has that very type.
    """
    rule = MOVEMENTS.get(op.name)
    if rule is not None:
        return rule(operands, attrs, type)
    found = _by_algebra(op, operands, attrs)
    return found if found is not None and found.type is type else None


def _by_algebra(op: OpDef, operands: tuple[Value, ...], attrs: Mapping[str, Any]) -> Value | None:
    if len(operands) == 1:
        return _unary(op, operands[0], attrs)
    if len(operands) == 2:
        return _binary(op, *operands)
    return None


def _unary(op: OpDef, x: Value, attrs: Mapping[str, Any]) -> Value | None:
    law = op.algebra
    if not (law.involution or law.idempotent):
        return None
    if not (isinstance(x, Node) and x.op is op and x.attrs == attrs):
        return None
    return x.operands[0] if law.involution else x


def _binary(op: OpDef, x: Value, y: Value) -> Value | None:
    law = op.algebra
    if law.idempotent and x is y:
        return x
    right = law.right_unit or (law.left_unit if law.commutative else {})
    left = law.left_unit or (law.right_unit if law.commutative else {})
    if not (right or left or law.zero):
        return None
    for side, other, units in ((y, x, right), (x, y, left)):
        kind = side.type.dtype.kind
        if kind not in units and kind not in law.zero:
            continue
        number = splat(side)
        if number is None:
            continue
        if is_number(number, units.get(kind), side.type.dtype):
            return other
        if is_number(number, law.zero.get(kind), side.type.dtype):
            return side
    return None
