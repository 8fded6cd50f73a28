"""Reductions over no axes: what the planner calls single ops, and what is a copy."""

from __future__ import annotations

from realta.codegen.lowered import Lowered
from realta.codegen.profile import DeviceProfile
from realta.codegen.singles.dense import copy_launch
from realta.fusion import Limits
from realta.graph import Node

__all__ = ["lower_unreduced"]


def lower_unreduced(node: Node, profile: DeviceProfile, limits: Limits) -> Lowered:
    """The kernel of a reduction whose every element is a result of its own."""
    return Lowered((copy_launch(node.operands[0], node, profile),), f"{node.type.size} elements")
