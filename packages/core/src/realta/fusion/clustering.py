"""Clustering: one walk over a graph that puts each op into its producers' kernel if it can."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from realta.fusion.cluster import NO_READER, Cluster, find, united
from realta.fusion.refusals import CIRCLE, Read, Refusal, explain_alone, refusal
from realta.fusion.rules import Role, Rules, reduced_axes
from realta.fusion.space import Space, extents_of
from realta.fusion.views import Views, chain
from realta.graph import Graph, Node, Region, Value, node_of

__all__ = ["Clustering", "cluster_graph"]


def cluster_graph(graph: Graph, rules: Rules) -> Clustering:
    """Clusters a graph in normal form; time is linear in its nodes and operands."""
    clustering = Clustering(rules)
    for node in graph.nodes:
        clustering.take(node)
    for output in graph.outputs:
        clustering.store_output(output)
    return clustering


class Clustering:
    """Which nodes share a kernel, while a graph is walked in order.

    Attributes:
        placed: the nodes that are computed or stored, in the order they were placed.
        refusals: for a placed node, the values it reads from other clusters and why.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules
        self.placed: list[Node] = []
        self.refusals: dict[Node, list[tuple[Value, Refusal]]] = {}
        self._views = Views(rules)
        self._cluster: dict[Value, Cluster] = {}
        self._apart: set[Node] = set()
        self._readers: dict[Value, Cluster] = {}
        self._must: dict[Region, Cluster] = {}

    def cluster(self, value: Value) -> Cluster | None:
        """The cluster that computes or stores a value; None for inputs, constants, index maps."""
        found = self._cluster.get(value)
        return None if found is None else find(found)

    def cluster_of_node(self, node: Node) -> Cluster:
        """The cluster of a placed node."""
        return find(self._cluster[node.outputs[0] if node.outputs else node])

    def reads(self, node: Node) -> list[Read]:
        """What a placed node reads, one per operand."""
        if node in self._apart:
            return [Read(v, (), node_of(v)) for v in node.operands]
        if self._views.root(node) is not node:  # an index map that is stored
            source = self._views.root(node)
            return [Read(source, chain(node.operands[0], source), node_of(source))]
        found = []
        for value in node.operands:
            source = self._views.root(value)
            views = () if source is value else chain(value, source)
            found.append(Read(source, views, node_of(source)))
        return found

    def take(self, node: Node) -> None:
        """Puts the next node of the graph where it belongs."""
        if node.op.name == "constant":
            return
        if self._views.takes(node):
            if not self._views.add(node):
                self._store(node.operands[0], "the chain of index maps on it is long")
            return
        role = self.rules.role(node)
        if role == "elementwise" or role == "reduce":
            self._join(node, role)
        else:
            self._open_alone(node, role)
        region = node.region
        if region is not None and region.fuse == "must":
            self._join_region(node, region)

    def store_output(self, value: Value) -> None:
        """Sees to it that an output of the graph is stored by a kernel."""
        if isinstance(value, Node) and value.op.name == "constant":
            if value not in self._cluster:
                self._apart.add(value)
                self._open(value, Space("single", extents_of(value.type)), [])
        elif self._views.root(value) is not value:
            self._store(value, "its result is an output")

    def _open_alone(self, node: Node, role: Role) -> None:
        """A cluster for a node that joins no other; movement and contractions read index maps."""
        if role == "single":
            self._apart.add(node)
            for value in node.operands:
                if self._views.root(value) is not value:
                    self._store(value, f"{node.op.name} reads stored operands")
        reads = self.reads(node)
        self._note(node, [(r, Refusal(explain_alone(node), node)) for r in reads])
        self._open(node, _own_space(node, role), reads)

    def _join(self, node: Node, role: Role) -> None:
        reads = self.reads(node)
        by_cluster: dict[Cluster, list[Read]] = {}
        for read in reads:
            found = self._cluster.get(read.source)
            if found is not None:
                by_cluster.setdefault(find(found), []).append(read)
        verdicts = {c: refusal(node, role, part, c, self.rules) for c, part in by_cluster.items()}
        accepted = [c for c, why in verdicts.items() if why is None]
        accepted.sort(key=lambda c: -c.depth)
        joined = None
        for base in accepted:
            joined = self._try_join(node, role, base, accepted, verdicts)
            if joined is not None:
                break
        if joined is None:
            for base in self._siblings(node, role, reads, by_cluster):
                joined = self._try_join(node, role, base, (), verdicts)
                if joined is not None:
                    break
        self._note_apart(node, by_cluster, verdicts, joined)
        if joined is None:
            joined = self._open(node, _own_space(node, role), reads)
        for read in reads:
            if not read.views and self.cluster(read.source) is not joined:
                self._readers[read.source] = joined

    def _try_join(
        self,
        node: Node,
        role: Role,
        base: Cluster,
        accepted: Sequence[Cluster],
        verdicts: dict[Cluster, Refusal | None],
    ) -> Cluster | None:
        """Puts a node into a cluster, along with what it can merge; None if that makes a circle."""
        space = base.space.with_other(_own_space(node, role))
        depth, bound, size = base.depth, base.bound, base.size + 1
        merged = [base]
        for other in accepted:
            if other is base:
                continue
            both = None if space is None else space.with_other(other.space)
            if both is None:
                verdicts[other] = Refusal("its operands' kernels have different loops", node)
                continue
            if size + other.size > self._most(node):
                verdicts[other] = Refusal(f"a kernel has at most {self.rules.members} ops", node)
                continue
            if max(depth, other.depth) >= min(bound, other.bound):
                continue
            space, depth, bound = both, max(depth, other.depth), min(bound, other.bound)
            size += other.size
            merged.append(other)
        outside = [c for c in verdicts if c not in merged]
        depth = max([depth, *[c.depth + 1 for c in outside]])
        if depth >= bound or space is None:
            return None
        found = base
        for other in merged[1:]:
            found = united(found, other, space)
        found.space, found.depth = space, depth
        found.size += 1
        for cluster in outside:
            cluster.read_at(depth)
        self._place(node, found)
        return found

    def _siblings(
        self, node: Node, role: Role, reads: Sequence[Read], producers: Iterable[Cluster]
    ) -> list[Cluster]:
        """Clusters that read the same tensor in the same loops; neither needs the other."""
        if not self.rules.siblings:
            return []
        found: dict[Cluster, None] = {}
        for read in reads:
            reader = None if read.views else self._readers.get(read.source)
            if reader is not None:
                found[find(reader)] = None
        return [
            c
            for c in found
            if c not in producers
            and c.space.kind in ("elementwise", "row")
            and refusal(node, role, (), c, self.rules) is None
        ]

    def _join_region(self, node: Node, region: Region) -> None:
        """In a region that must be one kernel, also work without anything in common is merged."""
        mine = self.cluster_of_node(node)
        other = find(self._must.setdefault(region, mine))
        if other is mine:
            return
        space = other.space.with_other(mine.space)
        if space is None or max(mine.depth, other.depth) >= min(mine.bound, other.bound):
            return
        united(mine, other, space)

    def _open(self, node: Node, space: Space, reads: Sequence[Read]) -> Cluster:
        producers = [c for c in (self.cluster(r.source) for r in reads) if c is not None]
        depth = max([c.depth for c in producers], default=-1) + 1
        cluster = Cluster(space, node.region, depth)
        for producer in producers:
            producer.read_at(depth)
        self._place(node, cluster)
        return cluster

    def _store(self, value: Value, why: str) -> None:
        """Gives an index map a kernel that stores it: its producer's, if it keeps the order."""
        if value in self._cluster:
            return
        assert isinstance(value, Node)  # noqa: S101 - only nodes are index maps
        source = self._views.root(value)
        views = chain(value, source)
        cluster = self.cluster(source)
        if cluster is not None and _may_store(cluster, value, views):
            self._place(value, cluster)
            return
        read = Read(source, views, node_of(source))
        self._note(value, [(read, Refusal(f"{value.op.name} is stored: {why}", value))])
        self._open(value, Space("movement", extents_of(value.type)), [read])

    def _place(self, node: Node, cluster: Cluster) -> None:
        self.placed.append(node)
        for value in node.outputs:
            self._cluster[value] = cluster
        if not node.outputs:
            self._cluster[node] = cluster

    def _most(self, node: Node) -> int:
        must = node.region is not None and node.region.fuse == "must"
        return NO_READER if must else self.rules.members

    def _note(self, node: Node, notes: Iterable[tuple[Read, Refusal]]) -> None:
        for read, why in notes:
            if read.source in self._cluster:
                self.refusals.setdefault(node, []).append((read.source, why))

    def _note_apart(
        self,
        node: Node,
        by_cluster: dict[Cluster, list[Read]],
        verdicts: dict[Cluster, Refusal | None],
        joined: Cluster | None,
    ) -> None:
        """Remembers why a node is not with each cluster that it reads from."""
        for cluster, reads in by_cluster.items():
            if find(cluster) is not joined:
                why = verdicts[cluster] or Refusal(CIRCLE, node)
                self._note(node, [(r, why) for r in reads])


def _own_space(node: Node, role: Role) -> Space:
    """The loops of a node on its own."""
    if role == "reduce":
        return Space("row", extents_of(node.operands[0].type), reduced_axes(node))
    return Space(role, extents_of(node.type))


def _may_store(cluster: Cluster, value: Node, views: Sequence[Node]) -> bool:
    """Whether the kernel that computes what an index map shows may store the map's result."""
    computes = cluster.space.kind not in ("single", "movement")
    ordered = all(v.op.name == "reshape" for v in views)
    return computes and ordered and value.region in (None, cluster.region)
