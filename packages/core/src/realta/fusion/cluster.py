"""Cluster: nodes that will share a kernel, as disjoint sets without circles of dependence.

Each cluster has a *depth*, and every edge between two clusters goes from a smaller to a greater
one, so there are no cycles. A cluster may be moved to a greater depth as long as it stays below the
clusters that read it, of which it knows a lower bound; since depths only grow, the bound stays one.
Both checks take constant time. They may refuse a merge that would have been fine, never the other
way round.
"""

from __future__ import annotations

from realta.fusion.space import Space
from realta.graph import Region

__all__ = ["NO_READER", "Cluster", "find", "united"]

NO_READER = 1 << 60


class Cluster:
    """One set of nodes.

    Attributes:
        parent: the cluster that it was merged into, or None.
        space: its loops.
        region: the fusion region of its nodes.
        depth: see the module.
        bound: no cluster that reads it has a smaller depth.
        size: number of computing nodes.
    """

    __slots__ = ("bound", "depth", "parent", "region", "size", "space")

    def __init__(self, space: Space, region: Region | None, depth: int) -> None:
        self.parent: Cluster | None = None
        self.space = space
        self.region = region
        self.depth = depth
        self.bound = NO_READER
        self.size = 1

    def read_at(self, depth: int) -> None:
        """Notes a reader of that depth."""
        self.bound = min(self.bound, depth)


def find(cluster: Cluster) -> Cluster:
    """The set that a cluster belongs to now."""
    while cluster.parent is not None:
        if cluster.parent.parent is not None:
            cluster.parent = cluster.parent.parent
        cluster = cluster.parent
    return cluster


def united(one: Cluster, other: Cluster, space: Space) -> Cluster:
    """Merges two sets; the caller has checked that depths allow it."""
    if one.size < other.size:
        one, other = other, one
    other.parent = one
    one.space = space
    one.depth = max(one.depth, other.depth)
    one.bound = min(one.bound, other.bound)
    one.size += other.size
    return one
