"""Index width: whether a kernel's indices can be computed in 32 bits without wrapping."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
from realta.codegen.ir import Compare, Expr, Kernel, Loop, Store
from realta.codegen.walking import INDEXED, all_expressions, statements

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


def index_bits(kernel: Kernel, exprs: Sequence[Expr] | None = None) -> Literal[32, 64]:
    """The width of integers that holds every index of a kernel and all that it is made of.

    32 only if that is proven by intervals for each part of each index, bound and loop.

    Args:
        kernel: the kernel.
        exprs: all its expressions, if they are at hand.
    """
    steps = statements(kernel.body)
    if exprs is None:
        exprs = all_expressions(kernel.body)
    indices = [expr.index for expr in exprs if isinstance(expr, INDEXED)]
    indices += [step.index for step in steps if isinstance(step, Store)]
    found = [kernel.groups, kernel.lanes, *extreme_values(indices)]
    found += [step.axis.extent for step in steps if isinstance(step, Loop)]
    found += [expr.bound for expr in exprs if isinstance(expr, Compare)]
    return 32 if max(map(abs, found)) <= _GREATEST else 64
