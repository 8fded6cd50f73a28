"""Rules: which work may share a kernel on a given backend, as data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from realta.graph import Node
from realta.ops import OpKind

__all__ = ["DEFAULT_RULES", "Role", "Rules"]

Role = Literal["elementwise", "reduce", "contraction", "movement", "single"]
"""What a node is to the planner: see `Rules.role`."""

_ROLES: Final[dict[OpKind, Role]] = {
    OpKind.ELEMENTWISE: "elementwise",
    OpKind.REDUCE: "reduce",
    OpKind.CONTRACTION: "contraction",
    OpKind.MOVEMENT: "movement",
}
VIEWS: Final = frozenset({"reshape", "permute", "broadcast", "slice", "barrier"})
JOINS: Final = frozenset(
    {
        ("elementwise", "elementwise"),
        ("elementwise", "reduce"),
        ("row", "elementwise"),
        ("row", "reduce"),
        ("contraction", "elementwise"),
    }
)


@dataclass(frozen=True, slots=True)
class Rules:
    """What a backend's kernels can take in.

    Args:
        joins: pairs ``(kernel kind, role of a further op)`` that may share a kernel. Kernel kinds
            are ``elementwise``, ``row`` (anything with a reduction) and ``contraction``.
        views: movement ops that a kernel reads through as index maps. ``barrier`` is the identity
            map, and what stands before it is always stored.
        alone: names of ops that are always a kernel of their own.
        members: most computing ops of one kernel; longer chains are split.
        view_chain: most index maps on one operand; longer chains are stored in between.
        row_elements: longest row whose reduction may be broadcast back over it in the same kernel.
        siblings: whether independent work that reads the same tensor with the same loops shares a
            kernel.
    """

    joins: frozenset[tuple[str, str]] = JOINS
    views: frozenset[str] = VIEWS
    alone: frozenset[str] = frozenset()
    members: int = 512
    view_chain: int = 8
    row_elements: int = 1 << 20
    siblings: bool = True

    def role(self, node: Node) -> Role:
        """What a node is to the planner; ``single`` for all that is a kernel of its own."""
        if node.op.name in self.alone or len(node.types) != 1:
            return "single"
        role = _ROLES.get(node.op.kind, "single")
        if role == "elementwise":
            # Normal form has equal shapes; an op that is not like that cannot share loops.
            shape = node.type.shape
            same = all(v.type.shape is shape or v.type.shape == shape for v in node.operands)
            return "elementwise" if same and node.operands else "single"
        if role == "reduce":
            return "reduce" if reduced_axes(node) and len(node.operands) == 1 else "single"
        return role


def reduced_axes(node: Node) -> tuple[int, ...]:
    """The axes that a reduction removes, in ascending order."""
    if "axes" in node.attrs:
        return tuple(sorted(node.attrs["axes"]))
    return (node.attrs["axis"],) if "axis" in node.attrs else ()


DEFAULT_RULES: Final = Rules()
