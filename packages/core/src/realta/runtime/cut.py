"""Cut: a graph taken apart into segments, each for one device, with the moves between them.

A node runs where its results live, or on the reference device if its own device refuses it. Nodes
of one stage and device form a segment; an edge from one device to another raises the stage.
``transfer`` nodes themselves disappear: they say only where their result is wanted. What core does
itself (control flow, effects) stands alone, in a stage of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, NamedTuple

from realta.graph import Graph, Node, Value

__all__ = ["BY_CORE", "Cut", "HostWork", "Move", "Place", "Segment", "cut"]

BY_CORE: Final = "*"
"""In place of a device: core runs the node itself."""
Place = tuple[Value, str]
"""A value on a device; a transferred value is the value it was transferred from."""


class Segment:
    """What one device runs in one launch.

    Attributes:
        device: name of the device.
        nodes: its nodes, operands first.
        ordinals: their numbers in the whole graph.
        reads: values taken from outside, as its nodes name them.
        results: values that are needed outside.
    """

    __slots__ = ("device", "nodes", "ordinals", "reads", "results")

    def __init__(self, device: str) -> None:
        self.device = device
        self.nodes: list[Node] = []
        self.ordinals: list[int] = []
        self.reads: dict[Value, Place] = {}
        self.results: dict[Value, None] = {}

    def graph(self, name: str) -> Graph:
        """The segment as a graph of its own."""
        return Graph(name, tuple(self.reads), tuple(self.results), self.nodes)


class Move(NamedTuple):
    """A value that is copied from one device to another."""

    source: Place
    target: Place


class HostWork(NamedTuple):
    """A node that core runs itself.

    Attributes:
        node: the node.
        reads: its operands, where they are.
        results: its results, where they will be.
    """

    node: Node
    reads: tuple[Place, ...]
    results: tuple[Place, ...]


class Cut(NamedTuple):
    """A graph in parts.

    Attributes:
        steps: segments, moves and what core does itself, in an order in which each finds what it
            reads.
        inputs: the graph's inputs as places.
        outputs: the graph's outputs as places.
        literals: constants that core provides itself: place and node.
    """

    steps: list[Segment | Move | HostWork]
    inputs: list[Place]
    outputs: list[Place]
    literals: dict[Place, Node]


def cut(
    graph: Graph,
    default: str,
    place: Callable[[Node, str], str],
) -> Cut:
    """Takes a graph apart.

    Args:
        graph: in normal form.
        default: device of values whose type names none.
        place: where a node runs, given the device of its results; an empty string for a constant
            or an identity, which need no running; `BY_CORE` for what core runs itself.
    """
    return _Cutter(graph, default, place).run()


class _Cutter:
    def __init__(self, graph: Graph, default: str, place: Callable[[Node, str], str]) -> None:
        self.graph = graph
        self.default = default
        self.place = place
        self.roots: dict[Value, Value] = {}
        """What stands for a value that was transferred, and for results of nodes that read one."""
        self.homes: dict[Value, str] = {}
        self.stages: dict[Value, int] = dict.fromkeys(graph.inputs, 0)
        self.segments: dict[tuple[int, str], Segment] = {}
        self.owner: dict[Value, Segment] = {}
        self.literals: dict[Place, Node] = {}
        self.by_core: list[tuple[int, HostWork]] = []
        self.from_core: set[Value] = set()

    def run(self) -> Cut:
        for value in self.graph.inputs:
            self.homes[value] = self.device_of(value)
        for ordinal, node in enumerate(self.graph.nodes):
            self.add(ordinal, node)
        outputs = [self.wanted(value, self.device_of(value)) for value in self.graph.outputs]
        inputs = [(value, self.homes[value]) for value in self.graph.inputs]
        return Cut(self.order(outputs), inputs, outputs, self.literals)

    def device_of(self, value: Value) -> str:
        return value.type.device or self.default

    def root(self, value: Value) -> Value:
        return self.roots.get(value, value)

    def add(self, ordinal: int, node: Node) -> None:
        if node.op.name == "transfer":
            self.roots[node] = self.root(node.operands[0])
            return
        device = self.place(node, self.device_of(node))
        if device == BY_CORE:
            self.add_by_core(self.rewired(node))
            return
        if not device and node.operands:
            self.roots[node] = self.root(node.operands[0])
            return
        if not device:
            home = self.device_of(node)
            self.homes[node] = home
            self.stages[node] = 0
            self.literals[(node, home)] = node
            return
        node = self.rewired(node)
        stage = 0
        for source in node.operands:
            moved = self.homes[source] != device or source in self.from_core
            stage = max(stage, self.stages[source] + moved)
        segment = self.segments.setdefault((stage, device), Segment(device))
        segment.nodes.append(node)
        segment.ordinals.append(ordinal)
        for source in node.operands:
            if self.owner.get(source) is not segment:
                segment.reads[source] = self.wanted(source, device)
        for result in node.outputs:
            self.homes[result] = device
            self.stages[result] = stage
            self.owner[result] = segment

    def add_by_core(self, node: Node) -> None:
        stage = 1 + max([self.stages[source] for source in node.operands], default=-1)
        reads = tuple([self.wanted(source, self.homes[source]) for source in node.operands])
        for result in node.outputs:
            self.homes[result] = self.device_of(result)
            self.stages[result] = stage
            self.from_core.add(result)
        results = tuple([(result, self.homes[result]) for result in node.outputs])
        self.by_core.append((stage, HostWork(node, reads, results)))

    def rewired(self, node: Node) -> Node:
        """The node reading roots; itself where it does so already."""
        operands = tuple([self.root(value) for value in node.operands])
        if operands == node.operands:
            return node
        fresh = Node(
            node.op, operands, node.attrs, types=node.types, where=node.where, region=node.region
        )
        self.roots.update(zip(node.outputs, fresh.outputs, strict=True))
        return fresh

    def wanted(self, value: Value, device: str) -> Place:
        """The place where a value is read; its segment has to deliver it."""
        source = self.root(value)
        maker = self.owner.get(source)
        if maker is not None:
            maker.results.setdefault(source)
        return (source, device)

    def order(self, outputs: list[Place]) -> list[Segment | Move | HostWork]:
        steps: list[Segment | Move | HostWork] = []
        there: set[Place] = set()

        def bring(target: Place) -> None:
            source = (target[0], self.homes[target[0]])
            if source != target and target not in there:
                there.add(target)
                steps.append(Move(source, target))

        parts: list[tuple[int, Segment | HostWork]] = [
            (stage, segment) for (stage, _), segment in self.segments.items()
        ]
        for _, part in sorted([*parts, *self.by_core], key=lambda part: part[0]):
            if isinstance(part, Segment):
                for target in part.reads.values():
                    bring(target)
            steps.append(part)
        for target in outputs:
            bring(target)
        return steps
