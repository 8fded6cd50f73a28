"""Assembly: clusters of nodes become groups that say everything a code generator must know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from realta.fusion.cluster import Cluster
from realta.fusion.clustering import Clustering
from realta.fusion.draft import Draft, make_group
from realta.fusion.group import Boundary, Group
from realta.fusion.refusals import Refusal
from realta.fusion.space import Space, extents_of
from realta.graph import Graph, Node, Value
from realta.ops import OpKind
from realta.types import Shape

__all__ = ["assemble", "draft_clusters", "stored_values"]


def draft_clusters(clustering: Clustering) -> list[Draft]:
    """One draft per cluster, in the order of their last nodes."""
    members: dict[Cluster, list[Node]] = {}
    last: dict[Cluster, int] = {}
    for number, node in enumerate(clustering.placed):
        cluster = clustering.cluster_of_node(node)
        members.setdefault(cluster, []).append(node)
        last[cluster] = number
    drafts = []
    for cluster, nodes in sorted(members.items(), key=lambda item: last[item[0]]):
        shape = _shape(nodes, cluster.space)
        drafts.append(Draft(nodes, [clustering.reads(n) for n in nodes], cluster.space, shape))
    return drafts


def _shape(nodes: Sequence[Node], space: Space) -> Shape:
    for node in nodes:
        if node.op.kind is OpKind.REDUCE and node.operands:
            return node.operands[0].type.shape
    for node in nodes:
        if extents_of(node.type) == space.shape:
            return node.type.shape
    return nodes[0].type.shape


def stored_values(graph: Graph, drafts: Sequence[Draft]) -> set[Value]:
    """The values that kernels read from memory or that the graph gives back."""
    stored = set(graph.outputs)
    for draft in drafts:
        inside = {v for n in draft.nodes for v in n.outputs}
        stored.update(r.source for reads in draft.reads for r in reads if r.source not in inside)
    return stored


def assemble(
    graph: Graph,
    drafts: Sequence[Draft],
    refusals: Mapping[Node, Sequence[tuple[Value, Refusal]]],
) -> tuple[Group, ...]:
    """The groups, in an order in which they can run, close to the order of the graph."""
    maker: dict[Value, int] = {}
    for number, draft in enumerate(drafts):
        for node in draft.nodes:
            maker.update(dict.fromkeys(node.outputs, number))
    order = _order(drafts, maker)
    rank = {number: place for place, number in enumerate(order)}
    stored = stored_values(graph, drafts)
    groups = []
    for number in order:
        draft = drafts[number]
        made = {v: rank[n] for v, n in _producers(draft, maker).items() if n != number}
        groups.append(make_group(draft, stored, _boundaries(draft, made, refusals)))
    return tuple(groups)


def _producers(draft: Draft, maker: Mapping[Value, int]) -> dict[Value, int]:
    """Which draft makes each value that a draft reads."""
    found = (r.source for reads in draft.reads for r in reads)
    return {v: maker[v] for v in found if v in maker}


def _order(drafts: Sequence[Draft], maker: Mapping[Value, int]) -> list[int]:
    order: list[int] = []
    seen = [False] * len(drafts)
    for start in range(len(drafts)):
        stack = [(start, False)]
        while stack:
            number, ready = stack.pop()
            if ready:
                order.append(number)
                continue
            if seen[number]:
                continue
            seen[number] = True
            stack.append((number, True))
            needed = _producers(drafts[number], maker).values()
            stack.extend((n, False) for n in sorted(set(needed), reverse=True) if not seen[n])
    return order


def _boundaries(
    draft: Draft,
    made: Mapping[Value, int],
    refusals: Mapping[Node, Sequence[tuple[Value, Refusal]]],
) -> tuple[Boundary, ...]:
    """For each producer, why the first op that reads from it could not join it."""
    found: dict[int, Boundary] = {}
    for node in draft.nodes:
        for value, why in refusals.get(node, ()):
            if value in made:
                number = made[value]
                found.setdefault(number, Boundary(number, value, why.node, why.reason))
    if draft.split is not None:
        for node, reads in zip(draft.nodes, draft.reads, strict=True):
            for read in reads:
                number = made.get(read.source, -1)
                if number >= 0:
                    found.setdefault(number, Boundary(number, read.source, node, draft.split))
    return tuple(found.values())
