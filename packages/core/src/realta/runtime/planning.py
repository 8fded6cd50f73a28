"""Planning: the fusion plan that a device's session would follow."""

from __future__ import annotations

from realta import fusion
from realta.graph import Graph
from realta.runtime.device import OpenDevice

__all__ = ["plan_for"]


def plan_for(graph: Graph, device: OpenDevice) -> fusion.Plan:
    """The plan of a graph in normal form on a device.

    A session that fuses says with which rules in its ``fusion_rules``; one without runs op by op.

    Raises:
        FusionError: a region that must be one kernel cannot be.
    """
    rules = getattr(device.session, "fusion_rules", None)
    if rules is None:
        rules = fusion.Rules(joins=frozenset(), views=frozenset(), siblings=False)
    return fusion.plan(graph, device.capabilities.limits, rules=rules)
