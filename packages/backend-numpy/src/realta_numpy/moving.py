"""Moving: direct calls that only take elements from their places: slices, reshapes, one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from numpy.typing import NDArray
from realta.graph import Graph, Node

from realta_numpy.memory import typed
from realta_numpy.movement import basic_slices

__all__ = ["moving_call"]

Array = NDArray[Any]
_MAPS: Final = frozenset({"slice", "reshape", "permute"})


def moving_call(graph: Graph) -> Callable[..., Any] | None:
    """A function of the handles that gives the one result as a new array; None for other graphs."""
    if len(graph.outputs) != 1 or not graph.nodes:
        return None
    if len(graph.nodes) == 1 and graph.nodes[0].op.name == "gather":
        return _row_call(graph, graph.nodes[0])
    maps: list[Callable[[Array], Array]] = []
    last: Any = graph.inputs[0] if len(graph.inputs) == 1 else None
    for node in graph.nodes:
        if node.op.name not in _MAPS or node.operands != (last,):
            return None
        maps.append(_map(node))
        last = node
    if last is not graph.outputs[0]:
        return None
    given = graph.inputs[0].type
    if len(maps) == 1 and graph.nodes[0].op.name == "slice":
        return _slice_call(graph.nodes[0])
    shape, dtype = given.static_shape, given.dtype.numpy

    def moved(x: Any) -> Any:
        x = typed(x, shape, dtype)
        for step in maps:
            x = step(x)
        return x.copy()

    return moved


def _slice_call(node: Node) -> Callable[..., Any]:
    """One slice, with as few calls as there can be."""
    given = node.operands[0].type
    shape, dtype = given.static_shape, given.dtype.numpy
    shown = _shown(node)

    def sliced(x: Any) -> Any:
        if x.dtype is not dtype or x.shape != shape:
            x = typed(x, shape, dtype)
        return x[shown].copy()

    return sliced


def _shown(node: Node) -> Any:
    attrs = node.attrs
    # The ellipsis makes it an array, also where there are no axes.
    return (*basic_slices(attrs["start"], attrs["stop"], attrs["step"]), Ellipsis)


def _map(node: Node) -> Callable[[Array], Array]:
    attrs = node.attrs
    if node.op.name == "slice":
        shown = _shown(node)
        return lambda x: x[shown]
    if node.op.name == "permute":
        axes = attrs["axes"]
        return lambda x: x.transpose(axes)
    shape = attrs["shape"]
    return lambda x: x.reshape(shape)


def _row_call(graph: Graph, node: Node) -> Callable[..., Any] | None:
    """One row by a position that is known when it runs."""
    x, index = node.operands
    known = x in graph.inputs and index in graph.inputs and len(graph.inputs) == 2
    if node.attrs["axis"] or index.type.rank or not known:
        return None
    shape, dtype = x.type.static_shape, x.type.dtype.numpy
    number, extent = index.type.dtype.numpy, x.type.static_shape[0]
    if not extent:
        return None

    def row(rows: Any, position: Any) -> Any:
        if position.dtype is not number or position.shape:
            position = typed(position, (), number)
        place = position.item()
        if place < 0:
            place += extent
        if not 0 <= place < extent:
            place = min(max(place, 0), extent - 1)
        if rows.dtype is not dtype or rows.shape != shape:
            rows = typed(rows, shape, dtype)
        return rows[place, ...].copy()

    if graph.inputs[0] is x:
        return row
    return lambda position, rows: row(rows, position)
