"""Arithmetic: how many arithmetic operations ops ask for; what is moved or compared counts none."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod
from typing import Final

from realta.graph import Node
from realta.ops import OpKind

__all__ = ["operations_of"]

_FREE: Final = frozenset({"cast", "bitcast"})
"""Elementwise ops that change how a value is written only."""


def operations_of(nodes: Iterable[Node]) -> int:
    """The arithmetic operations of some nodes, whatever kernels they share.

    One for each element of an elementwise op and for each element that a reduction, a scan or a
    window takes in, two for each product of a contraction or a convolution, and none for
    movement, indexing, sorting and random bits. Nodes of symbolic shapes do not count, and neither
    do composites that a device takes whole.
    """
    return sum([_operations(node) for node in nodes if _is_static(node)])


def _is_static(node: Node) -> bool:
    return all(value.type.is_static for value in (*node.operands, *node.outputs))


def _operations(node: Node) -> int:
    counted = _NAMED.get(node.op.name) or (_KINDS.get(node.op.kind) if node.op.primitive else None)
    return 0 if counted is None else counted(node)


def _elementwise(node: Node) -> int:
    return 0 if node.op.name in _FREE else node.type.size


def _taken_in(node: Node) -> int:
    return node.operands[0].type.size


def _dot(node: Node) -> int:
    shape = node.operands[0].type.static_shape
    terms: int = prod([shape[axis] for axis in node.attrs["x_contract"]])
    return 2 * node.type.size * terms


def _convolution(node: Node) -> int:
    filter = node.operands[1].type.static_shape
    return 2 * node.type.size * prod(filter[:-1])


def _windows(node: Node) -> int:
    terms: int = prod(node.attrs["window"])
    return node.type.size * terms


_KINDS: Final[dict[OpKind, Callable[[Node], int]]] = {
    OpKind.ELEMENTWISE: _elementwise,
    OpKind.REDUCE: _taken_in,
    OpKind.SCAN: _taken_in,
}
_NAMED: Final[dict[str, Callable[[Node], int]]] = {
    "conv_general": _convolution,
    "dot_general": _dot,
    "reduce_window": _windows,
}
