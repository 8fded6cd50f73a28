"""Specialization: a graph with its symbolic dimensions bound to numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from realta.errors import RealtaError
from realta.graph import Graph, Input, Node, Value, call_text
from realta.ops import Attributes
from realta.types import Dim, TensorType

__all__ = ["bind_type", "bound_node", "specialize"]


def _bound(value: Any, dims: Mapping[str, int]) -> Any:
    if isinstance(value, Dim):
        return value.evaluate(dims)
    if isinstance(value, tuple):
        return tuple([_bound(v, dims) for v in value])
    if isinstance(value, TensorType):
        return bind_type(value, dims)
    return value


def bind_type(type: TensorType, dims: Mapping[str, int]) -> TensorType:
    """The type with every symbolic extent worked out.

    Raises:
        ShapeError: a name is not bound.
    """
    return type if type.is_static else type.with_shape(_bound(type.shape, dims))


def bound_node(node: Node, operands: tuple[Value, ...], dims: Mapping[str, int]) -> Node:
    """The node for these extents; its result types are taken from it, not worked out anew."""
    if all(type.is_static for type in node.types):
        types = node.types
    else:
        types = tuple([bind_type(type, dims) for type in node.types])
    attrs = Attributes()
    for name, value in node.attrs.items():
        dict.__setitem__(attrs, name, _bound(value, dims))
    return Node(node.op, operands, attrs, types=types, where=node.where, region=node.region)


def _made(node: Node, operands: tuple[Value, ...], attrs: Attributes) -> Node:
    try:
        return Node(node.op, operands, attrs, where=node.where, region=node.region)
    except RealtaError as error:
        place = f" at {node.location}" if node.location is not None else ""
        raise error.at(call_text(node.op, [v.type for v in operands], attrs) + place) from None


def specialize(graph: Graph, dims: Mapping[str, int]) -> Graph:
    """The graph for these extents; result types are worked out anew by each op's rule.

    Args:
        graph: a graph with symbolic dimensions.
        dims: a number for each name.

    Raises:
        ShapeError: the numbers do not fit an op, or a name is not bound.
    """
    new: dict[Value, Value] = {}
    for value in graph.inputs:
        bound = Input(bind_type(value.type, dims), graph.input_name(value), value.payload)
        new[value] = bound
    nodes = []
    shared: dict[int, Graph] = {}
    for node in graph.nodes:
        attrs = Attributes()
        for name, value in node.attrs.items():
            if isinstance(value, Graph):
                # Ops that share a graph go on sharing it.
                if id(value) not in shared:
                    shared[id(value)] = specialize(value, dims)
                dict.__setitem__(attrs, name, shared[id(value)])
            else:
                dict.__setitem__(attrs, name, _bound(value, dims))
        operands = tuple([new[v] for v in node.operands])
        made = _made(node, operands, attrs)
        nodes.append(made)
        new.update(zip(node.outputs, made.outputs, strict=True))
    return Graph(
        graph.name,
        [new[v] for v in graph.inputs],
        [new[v] for v in graph.outputs],
        nodes,
    )
