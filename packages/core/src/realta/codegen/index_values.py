"""Index values: what an index is where its loop variables are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from realta.codegen.indices import (
    Axis,
    Greatest,
    Index,
    Least,
    Number,
    Position,
    Product,
    Quotient,
    Remainder,
    Sum,
    Unary,
    parts,
)

__all__ = ["evaluate"]


def _unplaced(position: Position) -> Any:
    raise KeyError(f"a computed position: {position!r}")


def evaluate(
    index: Index,
    axes: Mapping[str, Any],
    position: Callable[[Position], Any] = _unplaced,
    order: Sequence[Index] | None = None,
) -> Any:
    """The value of an index.

    Args:
        index: the expression.
        axes: values of the loop variables by name: integers, or integer arrays that broadcast.
        position: gives the value of a computed position.
        order: its `parts`, if it is evaluated so often that they are kept.

    Raises:
        KeyError: a loop variable, or a computed position, has no value.
    """
    values: dict[int, Any] = {}
    for part in parts(index) if order is None else order:
        if isinstance(part, Number):
            value: Any = part.value
        elif isinstance(part, Axis):
            value = axes[part.name]
        elif isinstance(part, Position):
            value = position(part)
        elif isinstance(part, Sum):
            value = sum(values[id(term)] for term in part.terms)
        else:
            value = _applied(part, values[id(part.of)] if isinstance(part, Unary) else None)
        values[id(part)] = value
    return values[id(index)]


def _applied(part: Index, of: Any) -> Any:
    match part:
        case Product():
            return of * part.factor
        case Quotient():
            return of // part.divisor
        case Remainder():
            return of % part.divisor
        case Least():  # np.minimum would make NumPy's integers of Python's, which never wrap
            return of + (part.bound - of) * (of > part.bound)
        case Greatest():
            return of + (part.bound - of) * (of < part.bound)
    raise TypeError(f"no index: {part!r}")
