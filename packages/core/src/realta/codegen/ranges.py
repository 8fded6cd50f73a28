"""Ranges: how small and how large an index can be where predicates hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from realta.codegen.indices import Index, Number, Product, Sum
from realta.codegen.ir import Apply, Compare, Expr, Var

__all__ = ["comparisons", "range_where"]

_MOST: Final = 6
"""Comparisons that are combined; each may be tried after each other."""


def comparisons(
    predicates: Sequence[Expr], values: Mapping[str, Expr]
) -> tuple[list[Compare], bool]:
    """The comparisons that hold where all predicates do, and whether there is nothing else.

    Args:
        predicates: bools that hold.
        values: what names stand for.
    """
    found: list[Compare] = []
    complete = True
    stack = list(predicates)
    while stack:
        part = stack.pop()
        if isinstance(part, Var) and part.name in values:
            stack.append(values[part.name])
        elif isinstance(part, Apply) and part.op == "bitwise_and":
            stack.extend(part.operands)
        elif isinstance(part, Compare):
            found.append(part)
        else:
            complete = False
    return found, complete


def _factors(index: Index) -> dict[Index, int]:
    terms = index.terms if isinstance(index, Sum) else (index,)
    return {
        (t.of if isinstance(t, Product) else t): (t.factor if isinstance(t, Product) else 1)
        for t in terms
        if not isinstance(t, Number)
    }


def _multiples(index: Index, part: Index) -> Iterator[int]:
    """Numbers of times that a part may be contained in an index, judged by their terms."""
    own = _factors(index)
    ratios = {own[t] // n for t, n in _factors(part).items() if t in own and own[t] % n == 0}
    yield from sorted(ratios - {0})


def range_where(index: Index, holding: Sequence[Compare]) -> tuple[int, int]:
    """The least and the greatest value of an index that can be proven where comparisons hold.

    Where ``p < bound``, an index that is ``k·p`` and a rest is at most ``k·(bound - 1)`` and the
    rest's greatest value for a positive k, and at least that and the rest's least one for a
    negative k. The rest may be bounded by the other comparisons in turn.
    """
    low, high = index.low, index.high
    for number, compare in enumerate(holding[:_MOST]):
        others = [*holding[:number], *holding[number + 1 : _MOST]]
        for multiple in _multiples(index, compare.index):
            rest_low, rest_high = range_where(index - compare.index * multiple, others)
            edge = multiple * (compare.bound - 1)
            if multiple > 0:
                high = min(high, edge + rest_high)
            else:
                low = max(low, edge + rest_low)
    return low, high
