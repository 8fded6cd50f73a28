"""Views: index maps that readers go through instead of storing what they show."""

from __future__ import annotations

from realta.fusion.rules import Rules
from realta.graph import Node, Value

__all__ = ["Views", "chain", "is_number_constant"]

_FREE_IN_NEVER = frozenset({"broadcast", "barrier"})
"""In a region without fusion every op is a kernel, except those that normal form puts in."""


def is_number_constant(value: Value) -> bool:
    """Whether a value is a constant of one element, which kernels hold as a literal."""
    if not isinstance(value, Node) or value.op.name != "constant":
        return False
    return bool(value.attrs["value"].array.size == 1)


class Views:
    """The index maps of a graph: for each, the stored or computed value that it shows.

    Args:
        rules: which ops are index maps, and how long a chain of them may be.
    """

    __slots__ = ("_length", "_root", "_rules")

    def __init__(self, rules: Rules) -> None:
        self._rules = rules
        self._root: dict[Value, Value] = {}
        self._length: dict[Value, int] = {}

    def takes(self, node: Node) -> bool:
        """Whether a node is an index map that its readers go through."""
        if node.op.name not in self._rules.views or node.op.name in self._rules.alone:
            return False
        region = node.region
        never = region is not None and region.fuse == "never"
        return not never or node.op.name in _FREE_IN_NEVER

    def add(self, node: Node) -> bool:
        """Notes an index map; False if its chain is too long and its operand must be stored."""
        below = node.operands[0]
        length = self._length.get(below, 0) + 1
        fits = length <= self._rules.view_chain
        # What already reads the operand goes on reading through it.
        self._root[node] = self._root.get(below, below) if fits else below
        self._length[node] = length if fits else 1
        return fits

    def root(self, value: Value) -> Value:
        """The value that an index map shows; the value itself if it is none."""
        return self._root.get(value, value)


def chain(value: Value, source: Value) -> list[Node]:
    """The index maps between a value and the value it shows, the innermost first."""
    found: list[Node] = []
    while value is not source:
        assert isinstance(value, Node)  # noqa: S101 - only nodes are index maps
        found.append(value)
        value = value.operands[0]
    found.reverse()
    return found
