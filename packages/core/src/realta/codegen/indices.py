"""Index expressions: which element is meant, in exact integers over loop variables.

An index is a mathematical integer: no product wraps. Every expression knows the least and the
greatest value it can take (`low`, `high`), from the extents of the loop variables in it; the
renderer uses 32-bit arithmetic where all parts of an index fit and 64-bit arithmetic elsewhere.
Built through operators, which simplify as they go; the rules are in `add`, `mul`, `quotient`,
`remainder`, `least` and `greatest` below.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import gcd
from typing import TYPE_CHECKING

from realta.records import Record

if TYPE_CHECKING:
    from realta.codegen.ir import Expr

__all__ = [
    "Axis", "Greatest", "Index", "Least", "Number", "Position", "Product", "Quotient", "Remainder",
    "Sum", "all_parts", "as_index", "axes_of", "greatest", "least", "leaves", "parts",
    "substitute",
]  # fmt: skip


class Index(Record):
    """An index expression; immutable, compared by structure.

    Attributes:
        low: the least value it can take.
        high: the greatest value it can take.
    """

    __slots__ = ("_hash", "_leaves", "high", "low")

    low: int
    high: int
    _hash: int
    _leaves: tuple[Axis | Position, ...]

    def __hash__(self) -> int:
        # Kept: dictionaries of terms are what sums are made with, and indices are deep.
        try:
            return self._hash
        except AttributeError:
            found = hash(self._values())
            object.__setattr__(self, "_hash", found)
            return found

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
        low = high = 0
        for term in terms:
            low += term.low
            high += term.high
        self._set(high, low, terms)


class Unary(Index):
    """An index made of another one and a known integer."""

    __slots__ = ("of",)

    of: Index


class Product(Unary):
    """An index times a known integer."""

    __slots__ = ("factor",)

    factor: int

    def __init__(self, of: Index, factor: int) -> None:
        low, high = of.low * factor, of.high * factor
        if factor < 0:
            low, high = high, low
        self._set(high, low, of, factor)


class Quotient(Unary):
    """Floor of an index over a known positive integer."""

    __slots__ = ("divisor",)

    divisor: int

    def __init__(self, of: Index, divisor: int) -> None:
        self._set(of.high // divisor, of.low // divisor, of, divisor)


class Remainder(Unary):
    """What floor division by a known positive integer leaves: 0 … divisor - 1."""

    __slots__ = ("divisor",)

    divisor: int

    def __init__(self, of: Index, divisor: int) -> None:
        self._set(divisor - 1, 0, of, divisor)


class Least(Unary):
    """The smaller of an index and a known integer."""

    __slots__ = ("bound",)

    bound: int

    def __init__(self, of: Index, bound: int) -> None:
        self._set(min(of.high, bound), min(of.low, bound), of, bound)


class Greatest(Unary):
    """The greater of an index and a known integer."""

    __slots__ = ("bound",)

    bound: int

    def __init__(self, of: Index, bound: int) -> None:
        self._set(max(of.high, bound), max(of.low, bound), of, bound)


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
    """The sum, with known parts folded, equal terms collected, quotients and remainders joined."""
    if type(y) is Number and y.value == 0:
        return x
    if type(x) is Number and x.value == 0:
        return y
    factors: dict[Index, int] = {}
    terms: dict[Index, Index] = {}
    known = 0
    pending = [x, y]
    while pending:
        part = pending.pop(0)
        for term in part.terms if type(part) is Sum else (part,):
            if type(term) is Number:
                known += term.value
                continue
            of, factor = (term.of, term.factor) if type(term) is Product else (term, 1)
            if of in factors:
                factor += factors[of]
                term = of if factor == 1 else Product(of, factor)
            factors[of], terms[of] = factor, term
        if not pending:
            pending = _joined(factors)
    left = [terms[of] for of, factor in factors.items() if factor]
    if known or not left:
        left.append(Number(known))
    return left[0] if len(left) == 1 else Sum(tuple(left))


def _joined(factors: dict[Index, int]) -> list[Index]:
    """What a quotient and its remainder among the terms make up; they are taken away.

    ``x // n * n + x % n`` is x: the number of an element is split and put together again by views.
    """
    for term, factor in factors.items():
        if type(term) is Remainder and factor:
            whole = quotient(term.of, term.divisor)
            if factors.get(whole) == factor * term.divisor:
                del factors[term], factors[whole]
                return [mul(term.of, factor)]
    return []


def mul(x: Index, factor: int) -> Index:
    """The product of an index and a known integer."""
    if factor == 1:
        return x
    if factor == 0:
        return Number(0)
    if type(x) is Number:
        return Number(x.value * factor)
    if type(x) is Product:
        factor *= x.factor
        return x.of if factor == 1 else Product(x.of, factor)
    if type(x) is Sum:
        return Sum(tuple([mul(t, factor) for t in x.terms]))
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


def _split(rest: Index, divisor: int) -> tuple[int, Index, Index]:
    """A common factor g of divisor and most of an index, as ``rest = g * large + small``.

    0 <= small < g, so that small takes no part in a division by a multiple of g.
    """
    terms = rest.terms if isinstance(rest, Sum) else (rest,)
    factors = [t.factor for t in terms if isinstance(t, Product)]
    for common in sorted({gcd(f, divisor) for f in factors}, reverse=True):
        large, small = _divided(rest, common)
        if common > 1 and small.low >= 0 and small.high < common:
            return common, large, small
    return 1, rest, Number(0)


def quotient(x: Index, divisor: int) -> Index:
    """Floor of x over a known positive integer."""
    if divisor == 1:
        return x
    whole, rest = _divided(x, divisor)
    if rest.low // divisor == rest.high // divisor:
        return add(whole, Number(rest.low // divisor))
    common, large, _ = _split(rest, divisor)
    if common > 1:
        return add(whole, quotient(large, divisor // common))
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
    common, large, small = _split(rest, divisor)
    if common > 1:
        return add(mul(remainder(large, divisor // common), common), small)
    if isinstance(rest, Remainder) and rest.divisor % divisor == 0:
        return remainder(rest.of, divisor)
    return Remainder(rest, divisor)


def least(x: Index, bound: int) -> Index:
    """The smaller of an index and a known integer."""
    if x.high <= bound:
        return x
    return Number(bound) if x.low >= bound else Least(x, bound)


def greatest(x: Index, bound: int) -> Index:
    """The greater of an index and a known integer."""
    if x.low >= bound:
        return x
    return Number(bound) if x.high <= bound else Greatest(x, bound)


def _operands(index: Index) -> tuple[Index, ...]:
    kind = type(index)
    if kind is Axis or kind is Number:
        return ()
    if isinstance(index, Sum):
        return index.terms
    return (index.of,) if isinstance(index, Unary) else ()


def parts(index: Index) -> list[Index]:
    """Every expression in an index, each once, operands before what is made of them.

    The values of computed positions are not entered. Nothing recurses: a chain of views may be as
    long as a graph.
    """
    return all_parts((index,))


def all_parts(indices: Iterable[Index]) -> list[Index]:
    """Every expression in some indices, each once, as `parts`."""
    found: dict[int, Index] = {}
    for index in indices:
        stack: list[Index | None] = [index]
        made: list[Index] = []  # parts whose operands are on the stack, above a None each
        while stack:
            part = stack.pop()
            if part is None:
                part = made.pop()
                found[id(part)] = part
            elif id(part) not in found:
                operands = _operands(part)
                if operands:
                    made.append(part)
                    stack.append(None)
                    stack += operands
                else:
                    found[id(part)] = part
    return list(found.values())


def leaves(index: Index) -> tuple[Axis | Position, ...]:
    """The loop variables and computed positions in an index, each object once.

    Every part remembers its own, so that to ask for those of all parts is linear.
    """
    if type(index) is Axis or type(index) is Position:
        return (index,)
    try:
        return index._leaves
    except AttributeError:
        stack = [index]
        while stack:
            part = stack[-1]
            unknown = [of for of in _operands(part) if not _knows_leaves(of)]
            if unknown:
                stack += unknown
            else:
                object.__setattr__(stack.pop(), "_leaves", _own_leaves(part))
        return index._leaves


def _knows_leaves(index: Index) -> bool:
    kind = type(index)
    return kind is Axis or kind is Number or kind is Position or hasattr(index, "_leaves")


def _own_leaves(part: Index) -> tuple[Axis | Position, ...]:
    if isinstance(part, Unary):
        return leaves(part.of)
    if not isinstance(part, Sum):
        return ()
    found: tuple[Axis | Position, ...] = ()
    for term in reversed(part.terms):
        more = leaves(term)
        if found and more:
            more = tuple([leaf for leaf in more if not any(leaf is known for known in found)])
        found = found + more if found else more
    return found


def axes_of(index: Index) -> frozenset[Axis | Position]:
    """The loop variables in an index, and the computed values in it."""
    return frozenset(leaves(index))


def substitute(
    index: Index,
    axes: Mapping[str, Index | int],
    position: Callable[[Position], Index] = lambda position: position,
) -> Index:
    """An index with loop variables replaced, simplified again.

    Args:
        index: the expression.
        axes: replacements by name; axes that are not named stay.
        position: gives the replacement of a computed position; it stays by default.
    """
    values: dict[int, Index] = {}
    for part in parts(index):
        if isinstance(part, Axis):
            value = as_index(axes.get(part.name, part))
        elif isinstance(part, Position):
            value = position(part)
        elif isinstance(part, Sum):
            value = Number(0)
            for term in part.terms:
                value = add(value, values[id(term)])
        else:
            value = _rebuilt(part, values[id(part.of)]) if isinstance(part, Unary) else part
        values[id(part)] = value
    return values[id(index)]


def _rebuilt(part: Unary, of: Index) -> Index:
    match part:
        case Product():
            return mul(of, part.factor)
        case Quotient():
            return quotient(of, part.divisor)
        case Remainder():
            return remainder(of, part.divisor)
        case Least():
            return least(of, part.bound)
        case Greatest():
            return greatest(of, part.bound)
    raise TypeError(f"no index: {part!r}")
