"""Index width: whether a kernel's indices can be computed in 32 bits without wrapping."""

from __future__ import annotations

from collections.abc import Iterable
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
    all_parts,
)
from realta.codegen.ir import Compare, Kernel, Loop
from realta.codegen.walking import all_expressions, all_indices, statements

__all__ = ["extreme_values", "index_bits"]

_GREATEST: Final = (1 << 31) - 1
"""The greatest int32. The least one is left out, so that every index can be negated."""


def extreme_values(indices: Iterable[Index]) -> list[int]:
    """The least and greatest value of everything that is computed on the way to some indices.

    Sums count in any order of their terms, loops up to their extent.
    """
    found: list[int] = []
    for part in all_parts(indices):
        found += (part.low, part.high)
        if isinstance(part, Sum):
            found.append(sum([term.high for term in part.terms if term.high > 0]))
            found.append(sum([term.low for term in part.terms if term.low < 0]))
        elif isinstance(part, Product):
            found.append(part.factor)
        elif isinstance(part, (Axis, Position)):
            found.append(part.extent)
        elif isinstance(part, (Quotient, Remainder)):
            found.append(part.divisor)
        elif isinstance(part, (Least, Greatest)):
            found.append(part.bound)
    return found


def index_bits(kernel: Kernel) -> Literal[32, 64]:
    """The width of integers that holds every index of a kernel and all that it is made of.

    32 only if that is proven by intervals for each part of each index, bound and loop.
    """
    found = [kernel.groups, kernel.lanes, *extreme_values(all_indices(kernel.body))]
    found += [s.axis.extent for s in statements(kernel.body) if isinstance(s, Loop)]
    found += [e.bound for e in all_expressions(kernel.body) if isinstance(e, Compare)]
    return 32 if max(map(abs, found)) <= _GREATEST else 64
