"""Graph: inputs, nodes in order, outputs; what is printed, hashed, passed on and compiled."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from realta.graph.values import Input, Node, Value, node_of
from realta.ops import OpDef, OpKind
from realta.types import Dim

__all__ = ["Graph", "all_nodes", "compares_exactly", "graph_key", "has_effects", "topological"]


def topological(outputs: Iterable[Value], inputs: Iterable[Value] = ()) -> list[Node]:
    """The nodes that the outputs need, operands first, in a deterministic order.

    Stops at the inputs. Linear in nodes and edges; no recursion.
    """
    cut = set(inputs)
    order: list[Node] = []
    done: set[Node] = set()
    stack: list[Any] = []
    for output in outputs:
        stack.append(output)
        while stack:
            item = stack.pop()
            if type(item) is tuple:  # all operands of this node are in order
                order.append(item[0])
                continue
            if item in cut:
                continue
            node = item if isinstance(item, Node) else node_of(item)
            if node is None or node in done or node in cut:
                continue
            done.add(node)
            stack.append((node,))
            stack.extend(reversed(node.operands))
    return order


class Graph:
    """A straight-line program in static single assignment.

    ``inputs`` may be any values: whatever is listed there is taken as given, so a graph can be cut
    out of a larger one without copying a node. Graphs are equal where `graph_key` is.

    Args:
        name: an identifier.
        inputs: parameters in order.
        outputs: results in order.
        nodes: the nodes in an order where operands come first; found from the outputs if left out.
            Nodes given and not needed by an output are kept (effects; dead code until `dce` ran).
        names: names of inputs that are not `Input` objects.
    """

    __slots__ = ("_effects", "_hash", "_key", "inputs", "name", "names", "nodes", "outputs")

    def __init__(
        self,
        name: str,
        inputs: Sequence[Value],
        outputs: Sequence[Value],
        nodes: Sequence[Node] | None = None,
        names: dict[Value, str] | None = None,
    ) -> None:
        self.name: str = name
        self.inputs: tuple[Value, ...] = tuple(inputs)
        self.outputs: tuple[Value, ...] = tuple(outputs)
        self.nodes: tuple[Node, ...] = tuple(
            topological(self.outputs, self.inputs) if nodes is None else nodes
        )
        self.names: dict[Value, str] = names or {}
        self._effects: bool | None = None
        self._hash: int | None = None
        self._key: tuple[Any, ...] | None = None

    def input_name(self, value: Value) -> str:
        """The declared name of an input, or an empty string."""
        given = self.names.get(value, "")
        return given or (value.name if isinstance(value, Input) else "")

    @property
    def has_effects(self) -> bool:
        """Whether it does more than give results."""
        if self._effects is None:
            self._effects = any(node.op.kind is OpKind.EFFECT for node in all_nodes(self))
        return self._effects

    def __len__(self) -> int:
        return len(self.nodes)

    def __str__(self) -> str:
        # The printer is most of the cost of importing this layer, and few programs print a graph.
        return str(importlib.import_module("realta.graph.printer").print_graph(self))

    def __repr__(self) -> str:
        counts = ((self.inputs, "input"), (self.nodes, "op"), (self.outputs, "output"))
        shown = [f"{len(s)} {name}{'' if len(s) == 1 else 's'}" for s, name in counts]
        return f"<Graph {self.name}: {', '.join(shown)}>"

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Graph) and graph_key(self) == graph_key(other))

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(graph_key(self))
        return self._hash


def graph_key(graph: Graph) -> tuple[Any, ...]:
    """The structure of a graph as a hashable tuple: equal iff both do the same in the same way.

    Names of the graph, of its inputs and locations do not take part; types, ops (one that was
    defined anew under an old name is another op), attributes, constants, operand order and fusion
    regions (numbered in order of occurrence) do.
    """
    number: dict[Value, int] = {}
    for value in graph.inputs:
        number.setdefault(value, len(number))
    inner = _InnerKeys()
    parts: list[Any] = [tuple([v.type for v in graph.inputs])]
    regions: dict[Any, int] = {}
    is_exact: dict[OpDef, bool] = {}
    lookup = number.__getitem__
    count = len(number)
    for node in graph.nodes:
        region: Any = node.region
        if region is not None:
            region = (regions.setdefault(region, len(regions)), region.fuse, region.numerics)
        attrs: Any = node.attrs
        if attrs:
            exact = is_exact.get(node.op)
            if exact is None:
                exact = is_exact[node.op] = compares_exactly(node.op)
            if not exact or not node.type.is_static:
                attrs = tuple([(k, inner.exact(v)) for k, v in attrs.items()])
        parts.append((node.op, tuple(map(lookup, node.operands)), attrs, node.types, region))
        if len(node.types) == 1:
            number[node] = count
            count += 1
            continue
        for output in node.outputs:
            number.setdefault(output, count)
            count += 1
    parts.append(tuple([number[v] for v in graph.outputs]))
    return tuple(parts)


def compares_exactly(op: OpDef) -> bool:
    """Whether the attributes of an op can be part of a key as they are."""
    return not op.attrs or all(a.kind not in ("float", "graph") for a in op.attrs.values())


class _InnerKeys:
    """Keys of attributes; a graph that many ops share is in full at the first of them only."""

    def __init__(self) -> None:
        self.numbers: dict[int, int] = {}
        self.known: dict[tuple[Any, ...], int] = {}

    def exact(self, value: Any) -> Any:
        """A value whose ``==`` always answers and tells -0 from 0, but not a NaN from itself."""
        if type(value) is float:
            return value.hex()
        if isinstance(value, Dim):
            return str(value)
        if isinstance(value, Graph):
            return self.of_graph(value)
        return tuple([self.exact(v) for v in value]) if type(value) is tuple else value

    def of_graph(self, graph: Graph) -> Any:
        """The key of a graph, or the number of an equal one that came before."""
        number = self.numbers.get(id(graph))
        if number is not None:
            return ("graph", number)
        if graph._key is None:
            graph._key = graph_key(graph)
        first = len(self.known)
        number = self.numbers[id(graph)] = self.known.setdefault(graph._key, first)
        return graph._key if number == first else ("graph", number)


def all_nodes(graph: Graph) -> Iterator[Node]:
    """The nodes of a graph and of every graph among their attributes, at any depth.

    Those of a graph that several ops share come once.
    """
    stack = [graph]
    seen = {id(graph)}
    while stack:
        for node in stack.pop().nodes:
            yield node
            for name in node.op.graphs:
                inner = node.attrs[name]
                if id(inner) not in seen:
                    seen.add(id(inner))
                    stack.append(inner)


def has_effects(node: Node) -> bool:
    """Whether a node does more than give results: an effect, or control flow with one inside."""
    if node.op.kind is OpKind.EFFECT:
        return True
    return any(node.attrs[name].has_effects for name in node.op.graphs)
