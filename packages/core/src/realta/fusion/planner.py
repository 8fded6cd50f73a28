"""Planner: from a graph to a plan of kernels, in time linear in the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from realta.errors import FusionError
from realta.fusion.assembly import assemble, draft_clusters, stored_values
from realta.fusion.clustering import cluster_graph
from realta.fusion.group import Boundary, Group, Plan
from realta.fusion.limits import Limits
from realta.fusion.rules import DEFAULT_RULES, Rules
from realta.fusion.splitting import argument_limit, split_drafts
from realta.graph import Graph, Region, call_text

__all__ = ["NO_LIMITS", "plan"]

NO_LIMITS: Final = Limits()


def plan(graph: Graph, limits: Limits = NO_LIMITS, *, rules: Rules = DEFAULT_RULES) -> Plan:
    """Decides which ops share a kernel.

    Every computing op belongs to one group; index maps and constants of one element to each group
    that reads them. No group depends on itself through others, none holds ops of two fusion
    regions, none computes on both sides of a ``barrier``.

    Args:
        graph: a graph in normal form; its nodes in order.
        limits: the device's limits; ``arguments`` and ``parameter_bytes`` cut kernels.
        rules: what the backend's kernels can take in.

    Raises:
        FusionError: a region with ``fuse="must"`` takes more than one kernel; names the op that
            splits it, and its line.
    """
    clustering = cluster_graph(graph, rules)
    drafts = draft_clusters(clustering)
    most = argument_limit(limits)
    if most is not None:
        drafts = split_drafts(drafts, stored_values(graph, drafts), most)
    groups = assemble(graph, drafts, clustering.refusals)
    _check_must(groups)
    read = {v for g in groups for v in g.inputs} - {v for g in groups for v in g.outputs}
    constants = tuple(n for n in graph.nodes if n.op.name == "constant" and n in read)
    return Plan(graph, groups, constants)


def _check_must(groups: Sequence[Group]) -> None:
    kernels: dict[Region, list[int]] = {}
    for number, group in enumerate(groups):
        region = group.region
        if region is not None and region.fuse == "must":
            kernels.setdefault(region, []).append(number)
    for region, numbers in kernels.items():
        if len(numbers) > 1:
            raise _must_error(region, groups, numbers)


def _must_error(region: Region, groups: Sequence[Group], numbers: Sequence[int]) -> FusionError:
    for number in numbers[1:]:
        for boundary in groups[number].boundaries:
            if boundary.producer in numbers:
                return _error(region, len(numbers), boundary)
    group = groups[numbers[1]]
    node = next(n for n in group.nodes if group.levels[n] != "view")
    reason = f"{node.op.name} shares no loops with the ops before it"
    return _error(region, len(numbers), Boundary(numbers[0], node, node, reason))


def _error(region: Region, kernels: int, boundary: Boundary) -> FusionError:
    node = boundary.node
    where = call_text(node.op, [v.type for v in node.operands])
    if node.location is not None:
        where += f" at {node.location}"
    return FusionError(
        f'the region {region.name!r} has fuse="must" but takes {kernels} kernels: '
        f"{node.op.name} splits it ({boundary.reason})",
        where=where,
        fix=f'move {node.op.name} out of the region, or give the region fuse="may"',
    )
