"""Lowering: from a fusion group to the kernels that compute it on a device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from realta.codegen.ir import Tree
from realta.codegen.lower_contraction import lower_contraction
from realta.codegen.lower_elementwise import lower_elementwise
from realta.codegen.lower_movement import lower_movement
from realta.codegen.lower_reduce import lower_reduce
from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.singles import SINGLES
from realta.errors import UnsupportedOp
from realta.fusion import Group, Limits
from realta.graph import Node, call_text

__all__ = ["fitted", "lower"]

NO_LIMITS: Final = Limits()
Lowering = Callable[[Group, DeviceProfile, Limits], Lowered]


def fitted(profile: DeviceProfile, limits: Limits) -> DeviceProfile:
    """A profile whose groups and scratch memory a device with these limits can run."""
    lanes = profile.lanes
    if profile.realization == "items" and limits.group_size is not None:
        while lanes > max(1, limits.group_size):
            lanes //= 2
    width = min(profile.tree.lanes, lanes)
    scratch = profile.scratch_bytes
    if limits.local_bytes is not None:
        scratch = min(scratch, limits.local_bytes)
    if (lanes, scratch) == (profile.lanes, profile.scratch_bytes):
        return profile
    return profile.replace(
        lanes=lanes,
        scratch_bytes=scratch,
        tree=Tree(width, profile.tree.block),
    )


def lower(group: Group, profile: DeviceProfile, limits: Limits = NO_LIMITS) -> Lowered:
    """The kernels that compute a fusion group.

    Args:
        group: a group of static shapes.
        profile: what schedules are made from.
        limits: the device's limits; kernels keep to them.

    Raises:
        UnsupportedOp: there is no lowering of a ``single`` op.
    """
    if all(value.type.size == 0 for value in group.outputs):
        return Lowered((), "no elements")
    profile = fitted(profile, limits)
    if group.kind == "elementwise":
        return lower_elementwise(group, profile)
    if group.kind == "movement":
        return lower_movement(group, profile, limits)
    if group.kind in ("reduce", "row"):
        return lower_reduce(group, profile, limits)
    if group.kind == "contraction":
        lowered = lower_contraction(group, profile)
        if lowered is not None:
            return lowered
    if group.kind == "single":
        found = SINGLES.get(group.nodes[-1].op.name)
        if found is not None:
            return found(group.nodes[-1], profile, limits)
    raise _unsupported(group)


def _unsupported(group: Group) -> UnsupportedOp:
    node: Node = group.nodes[-1]
    where = call_text(node.op, [v.type for v in node.operands])
    return UnsupportedOp(
        f"there is no kernel for {node.op.name}", where=where, fix="run it on another device"
    )
