"""Passes: in which walk over a row each member is computed, and what is kept from walk to walk.

A reduction needs a walk over its row; what is computed from its result over the row needs another
one after it. Softmax walks three times: for the maximum, for the sum, for the quotients.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from realta.codegen.lower_members import Members
from realta.graph import Node, Value
from realta.ops import OpKind

__all__ = ["Passes"]

_DEAR: Final = frozenset(
    {
        "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cos", "cosh", "erf", "exp",
        "expm1", "hypot", "log", "log10", "log1p", "log2", "logaddexp", "mod", "pow", "sin",
        "sinh", "tan", "tanh",
    }
)  # fmt: skip
"""What takes longer to compute again than to read back."""


class Passes:
    """The walks over the rows of a group.

    Args:
        members: the group's members.

    Attributes:
        reductions: those of each walk; the last walk has none.
        row_nodes: members over rows that can be computed before each walk.
        full_nodes: members over all elements that each walk computes, operands first.
        stores: outputs over all elements that each walk stores, with their sources.
        keeps: for each walk the members that a later one reads back.
        reads_back: for each walk the members that it reads back.
    """

    def __init__(self, members: Members) -> None:
        self.members = members
        self.depth: dict[Node, int] = {}
        for node in members.computing:
            below = [self._depth(operand) for operand in node.operands]
            self.depth[node] = max(below, default=0) + (node.op.kind is OpKind.REDUCE)
        last = max(self.depth.values(), default=0)
        self.count = last + 1
        self.reductions: list[list[Node]] = [[] for _ in range(self.count)]
        self.row_nodes: list[list[Node]] = [[] for _ in range(self.count)]
        for node, depth in self.depth.items():
            if node.op.kind is OpKind.REDUCE:
                self.reductions[depth - 1].append(node)
            elif members.is_row(node):
                self.row_nodes[depth].append(node)
        self.full_nodes: list[list[Node]] = [
            self.needed([r.operands[0] for r in reductions]) for reductions in self.reductions
        ]
        self.stores: list[list[tuple[Value, Value]]] = [[] for _ in range(self.count)]
        self._place_stores()
        self.keeps: list[list[Node]] = [[] for _ in range(self.count)]
        self.reads_back: list[list[Node]] = [[] for _ in range(self.count)]

    @property
    def row_stores(self) -> list[tuple[Value, Value]]:
        """Outputs with one element per row, and their sources."""
        return [(v, s) for v, s in self.members.stores if self.members.is_row(s)]

    def _depth(self, value: Value) -> int:
        value = self.members.resolved(value)
        return self.depth.get(value, 0) if isinstance(value, Node) else 0

    def _place_stores(self) -> None:
        late = []
        for output, source in self.members.stores:
            if self.members.is_row(source):
                continue
            found = self.members.resolved(source)
            for n, nodes in enumerate(self.full_nodes):
                if found in nodes:
                    self.stores[n].append((output, source))
                    break
            else:
                late.append((output, source))
        self.stores[-1] += late
        self.full_nodes[-1] = self.needed([source for _, source in late])

    def needed(self, values: Iterable[Value], known: Iterable[Node] = ()) -> list[Node]:
        """The members over all elements that some values need, operands first."""
        found: set[Node] = set()
        stop = set(known)
        stack = list(values)
        while stack:
            value = self.members.resolved(stack.pop())
            if not isinstance(value, Node) or value in found or value not in self.depth:
                continue
            if self.members.is_row(value) or value in stop:
                continue
            found.add(value)
            stack.extend(value.operands)
        return [node for node in self.members.computing if node in found]

    def keep_dear(self, room: int) -> int:
        """Keeps what is dear to compute again for later walks.

        Args:
            room: how many members may be kept.

        Returns:
            How many are.
        """
        made: dict[Node, int] = {}
        kept: set[Node] = set()
        for n in range(self.count):
            goals = [r.operands[0] for r in self.reductions[n]] + [s for _, s in self.stores[n]]
            wanted = [node for node in self.needed(goals) if node in made and self._dear(node)]
            back = [node for node in wanted if node in kept]
            for node in wanted:
                if node not in kept and len(kept) < room:
                    kept.add(node)
                    self.keeps[made[node]].append(node)
                    back.append(node)
            self.full_nodes[n] = self.needed(goals, back)
            read = {self.members.resolved(v) for m in self.full_nodes[n] for v in m.operands}
            read |= {self.members.resolved(goal) for goal in goals}
            self.reads_back[n] = [node for node in back if node in read]
            for node in self.full_nodes[n]:
                made.setdefault(node, n)
        return len(kept)

    def _dear(self, node: Node) -> bool:
        return node.op.scalar in _DEAR
