"""Fusion: which ops share a kernel under device limits and region policies, and why not more."""

from realta.fusion.explain import Apart, Explanation, KernelText, Member, Transfer, explain_plan
from realta.fusion.group import Boundary, Group, GroupKind, Level, Plan
from realta.fusion.limits import Limits
from realta.fusion.planner import plan
from realta.fusion.rules import DEFAULT_RULES, Rules
from realta.fusion.traffic import bytes_read, bytes_written

__all__ = [
    "DEFAULT_RULES", "Apart", "Boundary", "Explanation", "Group", "GroupKind", "KernelText",
    "Level", "Limits", "Member", "Plan", "Rules", "Transfer", "bytes_read", "bytes_written",
    "explain_plan", "plan",
]  # fmt: skip
