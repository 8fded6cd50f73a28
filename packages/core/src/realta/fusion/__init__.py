"""Fusion: which ops share a kernel under device limits and region policies, and why not more."""

from realta.fusion.group import Boundary, Group, GroupKind, Level, Plan
from realta.fusion.limits import Limits
from realta.fusion.planner import plan
from realta.fusion.rules import DEFAULT_RULES, Rules

__all__ = [
    "DEFAULT_RULES", "Boundary", "Group", "GroupKind", "Level", "Limits", "Plan", "Rules", "plan",
]  # fmt: skip
