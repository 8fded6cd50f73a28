"""Index width: whether a kernel's indices can be computed in 32 bits without wrapping."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from realta.codegen.indices import (
    Axis,
    Greatest,
    Index,
    Least,
    Position,
    Product,
    Quotient,
    Remainder,
    Sum,
    parts,
)
from realta.codegen.ir import Compare, Kernel, Loop
from realta.codegen.walking import expressions, indices, roots, statements

__all__ = ["extreme_values", "index_bits"]

_GREATEST: Final = (1 << 31) - 1
"""The greatest int32. The least one is left out, so that every index can be negated."""


def extreme_values(index: Index) -> Iterator[int]:
    """The least and greatest value of everything that is computed on the way to an index.

    Sums count in any order of their terms, loops up to their extent.
    """
    for part in parts(index):
        yield part.low
        yield part.high
        match part:
            case Axis() | Position():
                yield part.extent
            case Sum():
                yield sum(max(term.high, 0) for term in part.terms)
                yield sum(min(term.low, 0) for term in part.terms)
            case Quotient() | Remainder():
                yield part.divisor
            case Product():
                yield part.factor
            case Least() | Greatest():
                yield part.bound


def index_bits(kernel: Kernel) -> Literal[32, 64]:
    """The width of integers that holds every index of a kernel and all that it is made of.

    32 only if that is proven by intervals for each part of each index, bound and loop.
    """
    found = [kernel.groups, kernel.lanes]
    for statement in statements(kernel.body):
        if isinstance(statement, Loop):
            found.append(statement.axis.extent)
        found.extend(e.bound for e in expressions(roots(statement)) if isinstance(e, Compare))
        for index in indices(statement):
            found.extend(extreme_values(index))
    return 32 if all(-_GREATEST <= value <= _GREATEST for value in found) else 64
