"""Refusals: why an op cannot be computed in the kernel that makes its operand, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Final

from realta.fusion.cluster import Cluster
from realta.fusion.rules import Role, Rules, reduced_axes
from realta.fusion.space import Extents, Space, extents_of, level_of_view
from realta.graph import Node, Region, Value

__all__ = ["CIRCLE", "Read", "Refusal", "explain_alone", "limit_text", "refusal"]

CIRCLE: Final = "one kernel of both would have to run before and after a kernel between them"


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why two ops do not share a kernel.

    Args:
        reason: in words.
        node: the op that keeps them apart.
    """

    reason: str
    node: Node


@dataclass(frozen=True, slots=True)
class Read:
    """An operand of a node.

    Args:
        source: what is computed or stored.
        views: index maps from the source to the operand, the innermost first.
        producer: the node that makes the source, None for inputs.
    """

    source: Value
    views: Sequence[Node]
    producer: Node | None


def refusal(
    node: Node, role: Role, reads: Sequence[Read], cluster: Cluster, rules: Rules
) -> Refusal | None:
    """Why a node cannot join a cluster; None if it can.

    Args:
        node: the node.
        role: its role, ``elementwise`` or ``reduce``.
        reads: those of its operands that the cluster makes; none for a sibling.
        cluster: the cluster.
        rules: what kernels can take in.
    """
    region, space = node.region, cluster.space
    if region is not cluster.region:
        return Refusal(_regions(region, cluster.region), node)
    if region is not None and region.fuse == "never":
        return Refusal(f'the region {region.name!r} has fuse="never"', node)
    for read in reads:
        barrier = next((v for v in read.views if v.op.name == "barrier"), None)
        if barrier is not None:
            return Refusal("a barrier stands between them", barrier)
    if (space.kind, role) not in rules.joins:
        return _kinds(node, role, reads, space)
    limited = region is None or region.fuse != "must"
    if limited and cluster.size >= rules.members:
        return Refusal(f"a kernel has at most {rules.members} ops", node)
    level, why = _level(node, role, space)
    if why:
        return Refusal(why, node)
    for read in reads:
        found = _view_refusal(read, level, space, rules)
        if found is not None:
            return found
    return None


def _level(node: Node, role: Role, space: Space) -> tuple[str, str]:
    """The loops that a node would run in, or why there are none for it."""
    if role == "elementwise":
        shape = extents_of(node.type)
        level = space.level(shape)
        return (level or "", "" if level else f"it loops over {_text(shape)}, not {_loops(space)}")
    shape = extents_of(node.operands[0].type)
    if shape != space.shape:
        return ("", f"it loops over {_text(shape)}, not {_loops(space)}")
    axes = reduced_axes(node)
    if space.axes and axes != space.axes:
        return ("", f"it reduces axes {list(axes)}, the kernel before it axes {list(space.axes)}")
    return ("full", "")


def _view_refusal(read: Read, level: str, space: Space, rules: Rules) -> Refusal | None:
    if not read.views:
        return None
    found = level_of_view(space, extents_of(read.source.type), read.views)
    last = read.views[-1]
    if found != level:
        return Refusal(f"{last.op.name} reads elements that other iterations compute", last)
    if level == "full":
        row = [space.shape[a] for a in space.axes]
        if all(isinstance(d, int) for d in row):
            count = prod(d for d in row if isinstance(d, int))
            if count > rules.row_elements:
                return Refusal(f"rows of {count} elements are too long to be read twice", last)
    return None


def _regions(inner: Region | None, outer: Region | None) -> str:
    one, other = ("no region" if r is None else f"the region {r.name!r}" for r in (inner, outer))
    return f"it is in {one}, the kernel before it in {other}"


def _kinds(node: Node, role: Role, reads: Sequence[Read], space: Space) -> Refusal:
    producer = next((r.producer for r in reads if r.producer is not None), None)
    if producer is not None and space.kind in ("single", "movement"):
        return Refusal(explain_alone(producer), producer)
    before = {"contraction": "a contraction", "row": "a reduction"}.get(space.kind, "elementwise")
    after = {"reduce": "a reduction"}.get(role, "elementwise work")
    return Refusal(f"{after} is not done in a kernel with {before} on this device", node)


def explain_alone(node: Node) -> str:
    """Why a node has no kernel in common with those that make its operands."""
    if node.op.kind.value == "contraction":
        return f"{node.op.name} reads each operand many times, so its operands are stored"
    return f"{node.op.name} is a kernel of its own"


def limit_text(arguments: int) -> str:
    """Why a kernel was split by the device's limits."""
    return f"a kernel on this device has at most {arguments} arguments"


def _loops(space: Space) -> str:
    if space.axes:
        return f"{_text(space.shape)} or its rows {_text(space.rows)}"
    return _text(space.shape)


def _text(shape: Extents) -> str:
    return f"[{','.join(map(str, shape))}]"
