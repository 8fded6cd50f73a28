"""Group and Plan: the kernels of a graph, with all that a code generator must know of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from realta.graph import Graph, Node, Region, Value
from realta.types import Shape

__all__ = ["Boundary", "Group", "GroupKind", "Level", "Plan"]

GroupKind = Literal["elementwise", "row", "reduce", "contraction", "movement", "single"]
Level = Literal["full", "row", "view"]


@dataclass(frozen=True, slots=True)
class Boundary:
    """Why a kernel is not one with the kernel that makes one of its inputs.

    Args:
        producer: number of the other group in the plan.
        value: what is stored by the one and read by the other.
        node: the op that could not join.
        reason: why.
    """

    producer: int
    value: Value
    node: Node
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """The ops of one kernel.

    The kinds:

    - ``elementwise``: every computing member has the shape `shape`.
    - ``reduce``: also reductions over `axes` of `shape`, and elementwise work on their results.
    - ``row``: as ``reduce``, and results of reductions are read again by work over `shape`
      (softmax, norms, log-sum-exp).
    - ``contraction``: one contraction with the result shape `shape` and elementwise work after it.
    - ``movement``: index maps that must be stored, pad or concat; no arithmetic.
    - ``single``: one op of any other kind; its operands are all stored.

    Members that may stand in several groups are index maps (`Rules.views`) and constants of one
    element; both are recomputed rather than stored. In ``single`` groups there are none of them.

    Args:
        kind: see above.
        nodes: the members in an order where operands come first.
        inputs: values from outside that it reads, in the order of first use.
        outputs: values that it must store, in the order of `nodes`. A stored ``reshape`` of a
            member has that member's elements in row-major order.
        region: fusion region of the computing members.
        shape: the loops over all elements.
        axes: reduced axes of `shape`, ascending; empty without reductions.
        levels: for each member: ``full`` has one element per element of `shape`; ``row`` has one
            per row, that is per element of `shape` without `axes` (whether or not they are kept
            with extent 1); ``view`` is an index map over a value from outside, or a constant. An
            index map over a member is ``row`` where it keeps one element per row and ``full``
            where it broadcasts rows over `shape`.
        boundaries: for each producer it is not one kernel with, why.
    """

    kind: GroupKind
    nodes: tuple[Node, ...]
    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    region: Region | None
    shape: Shape
    axes: tuple[int, ...]
    levels: Mapping[Node, Level]
    boundaries: tuple[Boundary, ...] = ()

    @property
    def reason(self) -> str:
        """Why it is not one kernel with the producers of its inputs; empty if there are none."""
        return "; ".join(dict.fromkeys(b.reason for b in self.boundaries))

    @property
    def row_shape(self) -> Shape:
        """The loops over rows: `shape` without `axes`."""
        return tuple(d for n, d in enumerate(self.shape) if n not in self.axes)

    def source(self, value: Value) -> Value:
        """The computed member whose elements, in row-major order, an output consists of.

        It is the output itself except for a stored reshape of a member.
        """
        inside = set(self.nodes)
        while (
            isinstance(value, Node) and value.op.name == "reshape" and value.operands[0] in inside
        ):
            value = value.operands[0]
        return value


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """A graph cut into kernels.

    Outputs of the graph that are inputs of it belong to no group: whoever runs the plan passes
    them on.

    Args:
        graph: the graph that was planned.
        groups: the kernels in an order in which they can run.
        constants: constants that groups read from memory, since they have several elements or their
            reader takes only stored operands; to be written once.
    """

    graph: Graph
    groups: tuple[Group, ...]
    constants: tuple[Node, ...]

    def __len__(self) -> int:
        return len(self.groups)
