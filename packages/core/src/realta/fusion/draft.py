"""Draft: the nodes of one kernel and what they read; a group is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from realta.fusion.group import Boundary, Group, GroupKind, Level
from realta.fusion.refusals import Read
from realta.fusion.space import Space, extents_of, level_of_view
from realta.fusion.views import is_number_constant
from realta.graph import Node, Region, Value
from realta.ops import OpKind
from realta.types import Shape

__all__ = ["Draft", "make_group"]

_COMPUTING: Final = frozenset({OpKind.ELEMENTWISE, OpKind.REDUCE, OpKind.CONTRACTION})


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """The nodes of one kernel before kernels are put in order.

    Args:
        nodes: the nodes that are computed or stored, operands first.
        reads: for each of them what it reads.
        space: the loops of the cluster they come from.
        shape: the shape of these loops.
        split: why the kernel is only a part of its cluster, or None.
    """

    nodes: Sequence[Node]
    reads: Sequence[Sequence[Read]]
    space: Space
    shape: Shape
    split: str | None = None

    @property
    def region(self) -> Region | None:
        """The fusion region of the computing nodes."""
        return self.nodes[0].region


class _Members:
    """Collects the members of a group, each once, with the level it lives on."""

    def __init__(self, draft: Draft, single: bool) -> None:
        self.draft = draft
        self.single = single
        self.inside = {v for n in draft.nodes for v in n.outputs}
        self.levels: dict[Node, Level] = {}
        self.inputs: dict[Value, None] = {}
        self.rows_read_again = False

    def add(self, node: Node, reads: Sequence[Read]) -> None:
        """A node, after the constants and index maps that it reads through."""
        for read in reads:
            if not self.single and is_number_constant(read.source):
                assert isinstance(read.source, Node)  # noqa: S101 - constants are nodes
                self.levels.setdefault(read.source, "view")
            elif read.source not in self.inside:
                self.inputs.setdefault(read.source)
            for count, view in enumerate(read.views, 1):
                self.levels.setdefault(view, self._view_level(read, count))
        self.levels[node] = self._level(node, reads)

    def _view_level(self, read: Read, count: int) -> Level:
        if read.source not in self.inside:
            return "view"
        space, source = self.draft.space, extents_of(read.source.type)
        found = level_of_view(space, source, read.views[:count])
        if found == "full":
            self.rows_read_again = True
        # Without a level of its own it leads to a stored reshape, which has that of its source.
        return found or space.level(source) or "full"

    def _level(self, node: Node, reads: Sequence[Read]) -> Level:
        space = self.draft.space
        if node.op.kind in _COMPUTING:
            return space.level(extents_of(node.type)) or "full"
        if reads and reads[0].source in self.inside:
            return space.level(extents_of(reads[0].source.type)) or "full"
        return "view" if space.kind != "single" else "full"


def make_group(draft: Draft, stored: set[Value], boundaries: tuple[Boundary, ...]) -> Group:
    """The group of a draft.

    Args:
        draft: the nodes of the kernel.
        stored: values that some kernel reads from memory, and outputs of the graph.
        boundaries: why it is not one kernel with its producers.
    """
    members = _Members(draft, draft.space.kind == "single")
    for node, reads in zip(draft.nodes, draft.reads, strict=True):
        members.add(node, reads)
    kind = _kind(draft, members)
    rows = kind in ("row", "reduce")
    levels = members.levels
    if not rows:
        # Work on rows alone has the rows for its elements.
        levels = {n: "full" if level == "row" else level for n, level in levels.items()}
    return Group(
        kind=kind,
        nodes=tuple(levels),
        inputs=tuple(members.inputs),
        outputs=tuple(v for n in draft.nodes for v in n.outputs if v in stored),
        region=draft.region,
        shape=draft.shape if rows else _own_shape(draft),
        axes=draft.space.axes if rows else (),
        levels=levels,
        boundaries=boundaries,
    )


def _kind(draft: Draft, members: _Members) -> GroupKind:
    """The kind of a kernel, which may be a part of its cluster only."""
    space = draft.space
    if space.kind == "single":
        return "single"
    kinds = {n.op.kind for n in draft.nodes}
    if OpKind.CONTRACTION in kinds:
        return "contraction"
    if OpKind.REDUCE in kinds:
        return "row" if members.rows_read_again else "reduce"
    shapes = {extents_of(n.type) for n in draft.nodes if n.op.kind in _COMPUTING}
    if not shapes:
        return "movement"
    return "elementwise" if len(shapes) == 1 else "row"


def _own_shape(draft: Draft) -> Shape:
    for node in draft.nodes:
        if node.op.kind in _COMPUTING:
            return node.type.shape
    return draft.nodes[0].type.shape
