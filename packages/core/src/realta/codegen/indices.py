"""Index expressions: which element is meant, in exact integers over loop variables.

An index is a mathematical integer: no product wraps. Every expression knows the least and the
greatest value it can take (`low`, `high`), from the extents of the loop variables in it; the
renderer uses 32-bit arithmetic where all parts of an index fit and 64-bit arithmetic elsewhere.
Built through operators, which simplify as they go; the rules are in `simplify_*` below.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from realta.records import Record

if TYPE_CHECKING:
    from realta.codegen.ir import Expr

__all__ = [
    "Axis", "Greatest", "Index", "Least", "Number", "Position", "Product", "Quotient", "Remainder",
    "Sum", "as_index",
]  # fmt: skip


class Index(Record):
    """An index expression; immutable, compared by structure.

    Attributes:
        low: the least value it can take.
        high: the greatest value it can take.
    """

    __slots__ = ("high", "low")

    low: int
    high: int

    def __add__(self, other: Index | int) -> Index:
        return add(self, as_index(other))

    __radd__ = __add__

    def __sub__(self, other: Index | int) -> Index:
        return add(self, mul(as_index(other), -1))

    def __rsub__(self, other: Index | int) -> Index:
        return add(as_index(other), mul(self, -1))

    def __mul__(self, factor: int) -> Index:
        return mul(self, factor)

    __rmul__ = __mul__

    def __floordiv__(self, divisor: int) -> Index:
        return quotient(self, divisor)

    def __mod__(self, divisor: int) -> Index:
        return remainder(self, divisor)


class Number(Index):
    """A known integer."""

    __slots__ = ("value",)

    value: int

    def __init__(self, value: int) -> None:
        self._set(value, value, value)


class Axis(Index):
    """A loop variable, the number of the group, or the number of the lane: 0 … extent - 1."""

    __slots__ = ("extent", "name")

    name: str
    extent: int

    def __init__(self, name: str, extent: int) -> None:
        self._set(max(extent - 1, 0), 0, extent, name)


class Sum(Index):
    """The sum of several terms."""

    __slots__ = ("terms",)

    terms: tuple[Index, ...]

    def __init__(self, terms: tuple[Index, ...]) -> None:
        self._set(sum(t.high for t in terms), sum(t.low for t in terms), terms)


class Product(Index):
    """An index times a known integer."""

    __slots__ = ("factor", "of")

    of: Index
    factor: int

    def __init__(self, of: Index, factor: int) -> None:
        ends = (of.low * factor, of.high * factor)
        self._set(max(ends), min(ends), factor, of)


class Quotient(Index):
    """Floor of an index over a known positive integer."""

    __slots__ = ("divisor", "of")

    of: Index
    divisor: int

    def __init__(self, of: Index, divisor: int) -> None:
        self._set(of.high // divisor, of.low // divisor, divisor, of)


class Remainder(Index):
    """What floor division by a known positive integer leaves: 0 … divisor - 1."""

    __slots__ = ("divisor", "of")

    of: Index
    divisor: int

    def __init__(self, of: Index, divisor: int) -> None:
        self._set(divisor - 1, 0, divisor, of)


class Least(Index):
    """The smaller of an index and a known integer."""

    __slots__ = ("bound", "of")

    of: Index
    bound: int

    def __init__(self, of: Index, bound: int) -> None:
        self._set(min(of.high, bound), min(of.low, bound), bound, of)


class Greatest(Index):
    """The greater of an index and a known integer."""

    __slots__ = ("bound", "of")

    of: Index
    bound: int

    def __init__(self, of: Index, bound: int) -> None:
        self._set(max(of.high, bound), max(of.low, bound), bound, of)


class Position(Index):
    """An index that was computed or read as data (gather), promised to be in 0 … extent - 1."""

    __slots__ = ("extent", "value")

    value: Expr
    extent: int

    def __init__(self, value: Expr, extent: int) -> None:
        self._set(max(extent - 1, 0), 0, extent, value)


def as_index(value: Index | int) -> Index:
    """An integer as an index."""
    return value if isinstance(value, Index) else Number(value)


def add(x: Index, y: Index) -> Index:
    """The sum, with known parts folded and equal terms collected."""
    terms: dict[Index, int] = {}
    known = 0
    for part in (x, y):
        for term in part.terms if isinstance(part, Sum) else (part,):
            if isinstance(term, Number):
                known += term.value
            elif isinstance(term, Product):
                terms[term.of] = terms.get(term.of, 0) + term.factor
            else:
                terms[term] = terms.get(term, 0) + 1
    left: list[Index] = [mul(t, n) for t, n in terms.items() if n]
    if known or not left:
        left.append(Number(known))
    return left[0] if len(left) == 1 else Sum(tuple(left))


def mul(x: Index, factor: int) -> Index:
    """The product of an index and a known integer."""
    if factor == 0:
        return Number(0)
    if factor == 1:
        return x
    if isinstance(x, Number):
        return Number(x.value * factor)
    if isinstance(x, Product):
        return mul(x.of, x.factor * factor)
    if isinstance(x, Sum):
        return Sum(tuple(mul(t, factor) for t in x.terms))
    return Product(x, factor)


def _divided(x: Index, divisor: int) -> tuple[Index, Index]:
    """An index as divisor * whole + rest, with as much as possible in the whole part."""
    whole: Index = Number(0)
    rest: Index = Number(0)
    for term in x.terms if isinstance(x, Sum) else (x,):
        factor = term.value if isinstance(term, Number) else getattr(term, "factor", 0)
        if isinstance(term, (Number, Product)) and factor % divisor == 0:
            of: Index = Number(1) if isinstance(term, Number) else term.of
            whole = add(whole, mul(of, factor // divisor))
        elif isinstance(term, Number):
            whole = add(whole, Number(term.value // divisor))
            rest = add(rest, Number(term.value % divisor))
        else:
            rest = add(rest, term)
    return whole, rest


def quotient(x: Index, divisor: int) -> Index:
    """Floor of x over a known positive integer."""
    if divisor == 1:
        return x
    whole, rest = _divided(x, divisor)
    if rest.low // divisor == rest.high // divisor:
        return add(whole, Number(rest.low // divisor))
    if isinstance(rest, Quotient):
        return add(whole, quotient(rest.of, rest.divisor * divisor))
    return add(whole, Quotient(rest, divisor))


def remainder(x: Index, divisor: int) -> Index:
    """An index modulo a known positive integer."""
    if divisor == 1:
        return Number(0)
    _, rest = _divided(x, divisor)
    if rest.low // divisor == rest.high // divisor:
        return add(rest, Number(-divisor * (rest.low // divisor)))
    if isinstance(rest, Remainder) and rest.divisor % divisor == 0:
        return remainder(rest.of, divisor)
    return Remainder(rest, divisor)


def axes_of(index: Index) -> frozenset[Any]:
    """The loop variables in an index, and the computed values in it."""
    found: set[Any] = set()
    stack: list[Index] = [index]
    while stack:
        part = stack.pop()
        if isinstance(part, (Axis, Position)):
            found.add(part)
        elif isinstance(part, Sum):
            stack.extend(part.terms)
        elif not isinstance(part, Number):
            stack.append(part.of)  # type: ignore[attr-defined]
    return frozenset(found)
