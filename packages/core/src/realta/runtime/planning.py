"""Planning: the fusion plan that a device's session would follow."""

from __future__ import annotations

from typing import Final

from realta.fusion import Plan, Rules, plan
from realta.graph import Graph
from realta.runtime.device import OpenDevice

__all__ = ["plan_for"]

_OP_BY_OP: Final = Rules(joins=frozenset(), views=frozenset(), siblings=False)


def plan_for(graph: Graph, device: OpenDevice) -> Plan:
    """The plan of a graph in normal form on a device.

    A session that fuses says with which rules in its ``fusion_rules``; one without runs op by op.

    Raises:
        FusionError: a region that must be one kernel cannot be.
    """
    rules = getattr(device.session, "fusion_rules", _OP_BY_OP)
    return plan(graph, device.capabilities.limits, rules=rules)
