"""Index maps: which element of a stored value an element of a view is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from realta.codegen.indices import Index, Number
from realta.graph import Node

__all__ = ["VIEWS", "Coordinates", "flat_of", "operand_coordinates", "row_major", "unravel"]

Coordinates = tuple[Index, ...]
"""One index per axis."""


def row_major(shape: Sequence[int]) -> tuple[int, ...]:
    """Elements from one index to the next along each axis of a dense row-major array."""
    strides = []
    step = 1
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return tuple(reversed(strides))


def flat_of(coordinates: Sequence[Index], shape: Sequence[int]) -> Index:
    """The number of an element in row-major order."""
    found: Index = Number(0)
    for coordinate, stride in zip(coordinates, row_major(shape), strict=True):
        found = found + coordinate * stride
    return found


def unravel(flat: Index, shape: Sequence[int]) -> Coordinates:
    """The coordinates of an element from its number in row-major order."""
    found: list[Index] = []
    for extent in reversed(shape[1:]):
        found.append(flat % extent)
        flat = flat // extent
    if shape:
        found.append(flat)
    return tuple(reversed(found))


def _reshaped(node: Node, coordinates: Coordinates) -> Coordinates:
    """Through the shortest runs of axes that hold the same number of elements on both sides."""
    result, operand = node.type.static_shape, node.operands[0].type.static_shape
    found: list[Index] = []
    i = j = 0
    while i < len(result) or j < len(operand):
        first, start = i, j
        outer, i = (result[i], i + 1) if i < len(result) else (1, i)
        inner, j = (operand[j], j + 1) if j < len(operand) else (1, j)
        while outer != inner:
            if outer < inner:
                outer, i = outer * result[i], i + 1
            else:
                inner, j = inner * operand[j], j + 1
        flat = flat_of(coordinates[first:i], result[first:i])
        found.extend(unravel(flat, operand[start:j]))
    return tuple(found)


def _permuted(node: Node, coordinates: Coordinates) -> Coordinates:
    found: list[Index] = [Number(0)] * len(coordinates)
    for coordinate, axis in zip(coordinates, node.attrs["axes"], strict=True):
        found[axis] = coordinate
    return tuple(found)


def _broadcast(node: Node, coordinates: Coordinates) -> Coordinates:
    shape = node.operands[0].type.static_shape
    tail = coordinates[len(coordinates) - len(shape) :]
    return tuple(Number(0) if n == 1 else c for c, n in zip(tail, shape, strict=True))


def _sliced(node: Node, coordinates: Coordinates) -> Coordinates:
    pairs = zip(coordinates, node.attrs["start"], node.attrs["step"], strict=True)
    return tuple(c * step + start for c, start, step in pairs)


def _same(node: Node, coordinates: Coordinates) -> Coordinates:
    return coordinates


_MAPS: Final[dict[str, Callable[[Node, Coordinates], Coordinates]]] = {
    "barrier": _same,
    "broadcast": _broadcast,
    "permute": _permuted,
    "reshape": _reshaped,
    "slice": _sliced,
}
VIEWS: Final = frozenset(_MAPS)
"""Ops that are index maps."""


def operand_coordinates(node: Node, coordinates: Coordinates) -> Coordinates:
    """Where in its operand an index map finds what it shows at some coordinates."""
    return _MAPS[node.op.name](node, coordinates)
