"""Polynomial: integer polynomials over names, ``// % min max``, in one canonical form.

The algebra under `realta.types.Dim`. All names stand for integers >= 0, which is what lets some
comparisons be decided by the interval that a polynomial's value lies in.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, reduce
from math import inf, isinf
from typing import Final

from realta.errors import ShapeError

__all__ = ["Atom", "Monomial", "Polynomial", "divide_exactly", "extreme"]

Interval = tuple[float, float]


class Atom:
    """A factor that a polynomial does not look into: a name, or ``//``, ``%``, ``min``, ``max``.

    Args:
        kind: ``"name"`` or the operation.
        args: its operands; none for a name.
        text: canonical text; equal atoms have equal texts.
    """

    def __init__(self, kind: str, args: tuple[Polynomial, ...], text: str) -> None:
        self.kind = kind
        self.args = args
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __lt__(self, other: Atom) -> bool:
        return self.text < other.text

    @property
    def grouped(self) -> str:
        """Its text as a factor: a quotient or a remainder binds like a product."""
        return f"({self.text})" if self.kind in ("//", "%") else self.text

    @cached_property
    def span(self) -> Interval:
        """The interval its value lies in."""
        if self.kind == "name":
            return 0, inf
        spans = [a.span for a in self.args]
        if self.kind in ("min", "max"):
            pick = min if self.kind == "min" else max
            return pick(s[0] for s in spans), pick(s[1] for s in spans)
        (low, high), (by_low, by_high) = spans
        if by_low < 0:
            return -inf, inf
        if self.kind == "%":
            return 0, max(by_high - 1, 0)
        by = max(by_low, 1)  # zero is no divisor
        return (_floor(low, by) if low < 0 else 0), (_floor(high, by) if high >= 0 else 0)


Monomial = tuple[Atom, ...]
"""A product of atoms, sorted by their texts; the empty one stands for 1."""

_OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "//": operator.floordiv,
    "%": operator.mod,
    "min": min,
    "max": max,
}


class Polynomial:
    """A sum of products with integer coefficients; equal polynomials have equal texts."""

    def __init__(self, terms: Mapping[Monomial, int]) -> None:
        self.terms: Mapping[Monomial, int] = {
            m: terms[m] for m in sorted(terms, key=_print_order) if terms[m]
        }

    @classmethod
    def constant(cls, value: int) -> Polynomial:
        """An integer."""
        return cls({(): value})

    @classmethod
    def named(cls, name: str) -> Polynomial:
        """A name."""
        return cls({(Atom("name", (), name),): 1})

    @classmethod
    def applied(cls, kind: str, args: tuple[Polynomial, ...]) -> Polynomial:
        """An operation that stays as it is written."""
        if kind in ("min", "max"):
            text = f"{kind}({', '.join(a.text for a in args)})"
        else:
            text = kind.join(a.operand_text for a in args)
        return cls({(Atom(kind, args, text),): 1})

    @property
    def value(self) -> int | None:
        """Its value if it depends on no name."""
        return None if any(self.terms) else self.terms.get((), 0)

    @property
    def atom(self) -> Atom | None:
        """The one atom that it is, if it is that."""
        if len(self.terms) == 1:
            (monomial, coefficient), *_ = self.terms.items()
            if coefficient == 1 and len(monomial) == 1:
                return monomial[0]
        return None

    @cached_property
    def text(self) -> str:
        """Canonical text, which parses back to the same polynomial."""
        text = ""
        for monomial, coefficient in self.terms.items():
            size = abs(coefficient)
            # A leading minus binds closer than a quotient, as a product does.
            bare = len(monomial) == 1 and size == 1 and (coefficient > 0 or bool(text))
            factors = [a.text if bare else a.grouped for a in monomial]
            if size != 1 or not monomial:
                factors.insert(0, str(size))
            sign = " - " if coefficient < 0 else " + "
            text += (sign if text else sign.strip(" +")) + "*".join(factors)
        return text or "0"

    @property
    def operand_text(self) -> str:
        """Its text as an operand of ``//`` or ``%``."""
        if self.value is not None and self.value >= 0:
            return self.text
        return self.atom.grouped if self.atom else f"({self.text})"

    @cached_property
    def names(self) -> frozenset[str]:
        """The names it depends on."""
        found: set[str] = set()
        for atom in {a for monomial in self.terms for a in monomial}:
            found.update((atom.text,) if atom.kind == "name" else ())
            found.update(*(a.names for a in atom.args))
        return frozenset(found)

    @cached_property
    def span(self) -> Interval:
        """The interval its value lies in; ends are infinite where it is not bounded."""
        low, high = 0.0, 0.0
        for monomial, coefficient in self.terms.items():
            span: Interval = (coefficient, coefficient)
            for atom in monomial:
                span = _product_span(span, atom.span)
            low, high = low + span[0], high + span[1]
        return low, high

    def evaluate(self, names: Mapping[str, int]) -> int:
        """Its value where the names are bound; ShapeError for a division by zero."""
        total = 0
        for monomial, coefficient in self.terms.items():
            for atom in monomial:
                coefficient *= _atom_value(atom, names)
            total += coefficient
        return total

    def __add__(self, other: Polynomial) -> Polynomial:
        return Polynomial(_added(self.terms, other.terms))

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + -other

    def __mul__(self, other: Polynomial) -> Polynomial:
        total: dict[Monomial, int] = {}
        for left, left_coefficient in self.terms.items():
            for right, right_coefficient in other.terms.items():
                monomial = tuple(sorted(left + right))
                total[monomial] = total.get(monomial, 0) + left_coefficient * right_coefficient
        return Polynomial(total)

    def __floordiv__(self, other: Polynomial) -> Polynomial:
        by = other.value
        if by is None:
            return Polynomial.applied("//", (self, other))
        if by < 0:
            return (-self) // (-other)
        whole, rest = self._split(by, "//")
        return whole if _lies_below(rest, by) else whole + Polynomial.applied("//", (rest, other))

    def __mod__(self, other: Polynomial) -> Polynomial:
        by = other.value
        if by is None:
            return Polynomial.applied("%", (self, other))
        if by < 0:
            return -((-self) % (-other))
        rest = self._split(by, "%")[1]
        return rest if _lies_below(rest, by) else Polynomial.applied("%", (rest, other))

    def _split(self, by: int, sign: str) -> tuple[Polynomial, Polynomial]:
        """It as ``by * whole + rest`` where the coefficients of the rest lie in ``[0, by)``."""
        if by == 0:
            raise ShapeError(f"{self.operand_text}{sign}0 divides by zero", fix="divide by another")
        whole = Polynomial({m: c // by for m, c in self.terms.items()})
        return whole, Polynomial({m: c % by for m, c in self.terms.items()})


def extreme(kind: str, given: Iterable[Polynomial]) -> Polynomial:
    """The ``min`` or ``max`` of polynomials, without those that another always beats."""
    kept: list[Polynomial] = []
    for item in _flattened(kind, given):
        if any(_beats(kind, other, item) for other in kept):
            continue
        kept = [other for other in kept if not _beats(kind, item, other)]
        kept.append(item)
    if len(kept) == 1:
        return kept[0]
    return Polynomial.applied(kind, tuple(sorted(kept, key=lambda p: p.text)))


def divide_exactly(dividend: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """The polynomial whose product with ``divisor`` is ``dividend``, or None.

    Multivariate division by the leading term in graded order; None where a remainder is left.
    """
    if not divisor.terms:
        return None
    lead = max(divisor.terms, key=_grade)
    rest, quotient = dividend, Polynomial({})
    while rest.terms:
        top = max(rest.terms, key=_grade)
        factors = Counter(top)
        factors.subtract(Counter(lead))
        if rest.terms[top] % divisor.terms[lead] or min(factors.values(), default=0) < 0:
            return None
        monomial = tuple(sorted(factors.elements()))
        step = Polynomial({monomial: rest.terms[top] // divisor.terms[lead]})
        quotient, rest = quotient + step, rest - step * divisor
    return quotient


def _grade(monomial: Monomial) -> tuple[int, tuple[str, ...]]:
    return len(monomial), tuple(a.text for a in monomial)


def _print_order(monomial: Monomial) -> tuple[int, tuple[str, ...]]:
    """Highest degree first, the constant last."""
    return -len(monomial), tuple(a.text for a in monomial)


def _added(a: Mapping[Monomial, int], b: Mapping[Monomial, int]) -> dict[Monomial, int]:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, 0) + coefficient
    return total


def _atom_value(atom: Atom, names: Mapping[str, int]) -> int:
    if atom.kind == "name":
        return names[atom.text]
    args = [a.evaluate(names) for a in atom.args]
    if atom.kind in ("//", "%") and args[1] == 0:
        raise ShapeError(
            f"{atom.text} divides by zero", where=f"with {dict(names)}", fix="bind other values"
        )
    return reduce(_OPERATIONS[atom.kind], args)


def _lies_below(value: Polynomial, end: int) -> bool:
    low, high = value.span
    return low >= 0 and high < end


def _flattened(kind: str, given: Iterable[Polynomial]) -> Iterator[Polynomial]:
    for item in given:
        if item.atom is not None and item.atom.kind == kind:
            yield from item.atom.args
        else:
            yield item


def _beats(kind: str, a: Polynomial, b: Polynomial) -> bool:
    """Whether ``a`` makes ``b`` needless in a min or max."""
    low, high = (a - b).span
    return high <= 0 if kind == "min" else low >= 0


def _floor(value: float, by: float) -> float:
    """``value // by``, which Python makes NaN of an infinite value."""
    return value if isinf(value) else value // by


def _product_span(a: Interval, b: Interval) -> Interval:
    corners = [x * y if x and y else 0 for x in a for y in b]
    return min(corners), max(corners)
