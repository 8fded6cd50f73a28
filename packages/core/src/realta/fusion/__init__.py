"""Fusion: which ops share a kernel under device limits and region policies, and why not more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from realta.fusion.limits import Limits
from realta.on_demand import on_demand

if TYPE_CHECKING:
    from realta.fusion.arithmetic import operations_of
    from realta.fusion.explain import (
        Apart,
        Code,
        Explanation,
        KernelText,
        Member,
        Transfer,
        explain_plan,
    )
    from realta.fusion.group import Boundary, Group, GroupKind, Level, Plan
    from realta.fusion.planner import plan
    from realta.fusion.rules import DEFAULT_RULES, Rules
    from realta.fusion.traffic import bytes_read, bytes_written

__all__ = [
    "DEFAULT_RULES",
    "Apart",
    "Boundary",
    "Code",
    "Explanation",
    "Group",
    "GroupKind",
    "KernelText",
    "Level",
    "Limits",
    "Member",
    "Plan",
    "Rules",
    "Transfer",
    "bytes_read",
    "bytes_written",
    "explain_plan",
    "operations_of",
    "plan",
]

__getattr__ = on_demand(
    __name__,
    {
        "arithmetic": ("operations_of",),
        "explain": (
            "Apart",
            "Code",
            "Explanation",
            "KernelText",
            "Member",
            "Transfer",
            "explain_plan",
        ),
        "group": (
            "Boundary",
            "Group",
            "GroupKind",
            "Level",
            "Plan",
        ),
        "planner": ("plan",),
        "rules": (
            "DEFAULT_RULES",
            "Rules",
        ),
        "traffic": (
            "bytes_read",
            "bytes_written",
        ),
    },
)
