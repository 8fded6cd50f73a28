"""Indices as C text: integer arithmetic in 32 bits where proven safe, else in 64."""

from __future__ import annotations

from collections.abc import Callable
from math import gcd
from typing import Final

from realta.codegen.dialect import CDialect
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
    as_index,
)
from realta.codegen.ir import Expr
from realta.codegen.literals import literal
from realta.codegen.render_scope import Scopes
from realta.codegen.uniformity import index_varies
from realta.types import DType, int32, int64

__all__ = ["IndexText", "along_lanes"]

_COSTLY: Final = (Quotient, Remainder, Least, Greatest)


class IndexText:
    """Renders indices.

    Args:
        dialect: the language.
        dtype: int32 or int64, the type that all indices of the kernel are computed in.
        scopes: where indices are named.
        position: renders a value that is an index, as a number.
    """

    def __init__(
        self, dialect: CDialect, dtype: DType, scopes: Scopes, position: Callable[[Expr], str]
    ) -> None:
        self.dialect = dialect
        self.dtype = dtype
        self.type = dialect.types[dtype]
        self.scopes = scopes
        self.position = position

    def number(self, value: int) -> str:
        """A known index."""
        return literal(value, self.dtype if abs(value) >= 1 << 31 else int32, self.dialect)

    def text(self, index: Index) -> str:
        """An index as an operand; what takes more than an addition is named once."""
        match index:
            case Number():
                return self.number(index.value)
            case Axis():
                return self.scopes.name(index.name)
            case Position():
                return self.position(index.value)
        home = self.scopes.home(index)
        if home is None or not self._worth_naming(index):
            return self.arithmetic(index)
        if index not in home.names:
            text = self.arithmetic(index)[1:-1]
            name = home.names[index] = self.scopes.fresh(f"at{len(self.scopes.named)}")
            self.scopes.named.append(name)
            home.head.append(f"const {self.type} {name} = {text};")
        return home.names[index]

    def _worth_naming(self, index: Index) -> bool:
        if isinstance(index, _COSTLY):
            return True
        return isinstance(index, Sum) and any(
            not isinstance(t, (Axis, Number)) for t in index.terms
        )

    def arithmetic(self, index: Index) -> str:
        """The operations of an index, in brackets."""
        match index:
            case Sum():
                return "(" + self._sum(index.terms) + ")"
            case Product():
                return f"({self.text(index.of)} * {self.number(index.factor)})"
            case Quotient() | Remainder():
                return self._division(index)
            case Least() | Greatest():
                sign = "<" if isinstance(index, Least) else ">"
                of, bound = self.text(index.of), self.number(index.bound)
                return f"({of} {sign} {bound} ? {of} : {bound})"
        return f"({self.text(index)})"

    def _sum(self, terms: tuple[Index, ...]) -> str:
        found = ""
        for term in terms:
            negative = (isinstance(term, Number) and term.value < 0) or (
                isinstance(term, Product) and term.factor < 0
            )
            text = self._term(term * -1 if negative else term)
            sign = (" - " if negative else " + ") if found else ("-" if negative else "")
            found += sign + text
        return found

    def _term(self, term: Index) -> str:
        if isinstance(term, Product):
            return f"{self.text(term.of)} * {self.number(term.factor)}"
        return self.text(term)

    def _division(self, index: Quotient | Remainder) -> str:
        """C rounds towards zero: what may be negative is moved by a multiple of the divisor."""
        divisor, turns = index.divisor, max(0, -(index.of.low // index.divisor))
        moved, by = index.of + turns * divisor, self.number(divisor)
        if moved.high >= 1 << 31 and self.dtype is int32:
            long = self.dialect.types[int64]
            of = f"(({long}){self.text(index.of)} + {turns * divisor})"
        else:
            of = self.text(moved)
        if isinstance(index, Remainder):
            return f"({of} % {by})"
        return f"({of} / {by} - {self.number(turns)})" if turns else f"({of} / {by})"


def along_lanes(index: Index, lanes: int, names: frozenset[str]) -> tuple[int, Index] | None:
    """An index as stride × lane + base, the base being the same in all lanes; None if it is not.

    Args:
        index: any index.
        lanes: number of lanes.
        names: the names that vary between lanes.
    """
    if not index_varies(index, names):
        return (0, index)
    match index:
        case Axis():
            return (1, as_index(0))
        case Sum():
            stride, base = 0, as_index(0)
            for term in index.terms:
                found = along_lanes(term, lanes, names)
                if found is None:
                    return None
                stride, base = stride + found[0], base + found[1]
            return (stride, base)
        case Product():
            found = along_lanes(index.of, lanes, names)
            return None if found is None else (found[0] * index.factor, found[1] * index.factor)
    if not isinstance(index, (Quotient, Remainder)):
        return None
    found = along_lanes(index.of, lanes, names)
    return None if found is None else _divided(found[0], found[1], index, lanes)


def _divided(
    stride: int, base: Index, index: Quotient | Remainder, lanes: int
) -> tuple[int, Index] | None:
    """The same of a quotient or remainder, where the lanes stay between two of its multiples."""
    step, known = index.divisor, 0
    for term in base.terms if isinstance(base, Sum) else (base,):
        if isinstance(term, Number):
            known = term.value
        else:
            step = gcd(step, term.factor if isinstance(term, Product) else 1)
    first = known % step
    last = first + stride * (lanes - 1)
    if not 0 <= min(first, last) <= max(first, last) < step:
        return None
    if isinstance(index, Quotient):
        return (0, base // index.divisor)
    return (stride, base % index.divisor)
