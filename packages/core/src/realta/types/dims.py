"""Dim: a symbolic extent, a polynomial over names kept in one canonical form.

``Dim("batch")`` stands for an extent that a call binds to an integer >= 0. Dims add, subtract,
multiply, divide with ``//``, take ``%`` and go into `smallest` and `largest`; equal expressions have
the same text, and an expression that does not depend on its names is a plain int.
"""

from __future__ import annotations

import ast
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import reduce
from math import inf
from typing import Any, Final

from realta.errors import ShapeError

__all__ = ["Dim", "as_dim", "divide_exactly", "largest", "smallest"]

Extent = "int | Dim"
Monomial = tuple["Atom", ...]
"""A product of atoms, sorted by their text; the empty one stands for 1."""
Interval = tuple[float, float]


class Atom:
    """A factor that a polynomial cannot look into: a name, or ``//``, ``%``, ``min``, ``max``.

    Attributes:
        kind: ``"name"`` or the operation.
        args: the operands; none for a name.
        text: canonical text; equal atoms have equal texts.
    """

    __slots__ = ("args", "kind", "text")

    def __init__(self, kind: str, args: tuple[int | Dim, ...], text: str) -> None:
        self.kind = kind
        self.args = args
        self.text = text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Atom) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __lt__(self, other: Atom) -> bool:
        return self.text < other.text


class Dim:
    """A symbolic extent: an integer that is known once its names are bound.

    Args:
        text: a name or an expression over names and integers with ``+ - * // % min() max()``.

    Raises:
        ShapeError: the text is no such expression, or does not depend on a name.
    """

    __slots__ = ("_text", "terms")

    terms: Mapping[Monomial, int]
    _text: str

    def __new__(cls, text: str) -> Dim:
        found = _parse(text)
        if isinstance(found, Dim):
            return found
        raise ShapeError(f"{text!r} does not depend on a name", fix=f"write the integer {found}")

    @property
    def names(self) -> tuple[str, ...]:
        """The names it depends on, sorted."""
        found: set[str] = set()
        for atom in {a for monomial in self.terms for a in monomial}:
            if atom.kind == "name":
                found.add(atom.text)
            for arg in atom.args:
                found.update(() if isinstance(arg, int) else arg.names)
        return tuple(sorted(found))

    def evaluate(self, names: Mapping[str, int]) -> int:
        """Its value where the names are bound.

        Raises:
            ShapeError: a name is not bound, or a division is by zero.
        """
        total = 0
        for monomial, coefficient in self.terms.items():
            for atom in monomial:
                coefficient *= self._value(atom, names)
            total += coefficient
        return total

    def _value(self, atom: Atom, names: Mapping[str, int]) -> int:
        if atom.kind == "name":
            if atom.text not in names:
                raise ShapeError(
                    f"the dimension {atom.text!r} is not bound",
                    where=f"in the extent {self}",
                    fix=f"bind it; known are {', '.join(sorted(names)) or 'none'}",
                )
            return names[atom.text]
        args = [a if isinstance(a, int) else a.evaluate(names) for a in atom.args]
        if atom.kind in ("//", "%") and args[1] == 0:
            raise ShapeError(f"{atom.text} divides by zero", where=f"with {dict(names)}")
        return reduce(_INTEGER_OPERATIONS[atom.kind], args)

    @property
    def bounds(self) -> Interval:
        """The interval its value lies in for all names >= 0; infinite ends where it is not bounded."""
        low, high = 0.0, 0.0
        for monomial, coefficient in self.terms.items():
            span: Interval = (coefficient, coefficient)
            for atom in monomial:
                span = _product_span(span, _atom_span(atom))
            low, high = low + span[0], high + span[1]
        return low, high

    def __add__(self, other: object) -> Any:
        return _combine(self, other, lambda a, b: _sum(a, b, 1))

    __radd__ = __add__

    def __sub__(self, other: object) -> Any:
        return _combine(self, other, lambda a, b: _sum(a, b, -1))

    def __rsub__(self, other: object) -> Any:
        return _combine(self, other, lambda a, b: _sum(b, a, -1))

    def __neg__(self) -> Any:
        return _make({m: -c for m, c in self.terms.items()})

    def __mul__(self, other: object) -> Any:
        return _combine(self, other, _product)

    __rmul__ = __mul__

    def __floordiv__(self, other: object) -> Any:
        return _combine(self, other, _quotient)

    def __rfloordiv__(self, other: object) -> Any:
        return _combine(self, other, lambda a, b: _quotient(b, a))

    def __mod__(self, other: object) -> Any:
        return _combine(self, other, _remainder)

    def __rmod__(self, other: object) -> Any:
        return _combine(self, other, lambda a, b: _remainder(b, a))

    def __eq__(self, other: object) -> bool:
        """Whether both are the same for all values of the names.

        Raises:
            ShapeError: it depends on what the names are bound to.
        """
        difference = self - other
        if difference is NotImplemented:
            return False
        if isinstance(difference, int):
            return difference == 0
        low, high = difference.bounds
        if low > 0 or high < 0:
            return False
        raise _undecidable(self, "==", other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __lt__(self, other: int | Dim) -> bool:
        return _decide(self, "<", other, strict=True)

    def __gt__(self, other: int | Dim) -> bool:
        return not _decide(self, ">", other, strict=False)

    def __le__(self, other: int | Dim) -> bool:
        return _decide(self, "<=", other, strict=False)

    def __ge__(self, other: int | Dim) -> bool:
        return not _decide(self, ">=", other, strict=True)

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Dim({self._text!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (Dim, (self._text,))


_INTEGER_OPERATIONS: Final[Mapping[str, Callable[[int, int], int]]] = {
    "//": operator.floordiv,
    "%": operator.mod,
    "min": min,
    "max": max,
}


def as_dim(value: object) -> int | Dim:
    """An extent from an int, a name, an expression in text, or a Dim.

    Raises:
        ShapeError: not an integer (a bool is none), negative, or no expression.
    """
    if type(value) is int or isinstance(value, Dim):
        found: int | Dim = value
    elif isinstance(value, str):
        found = _parse(value)
    else:
        try:
            found = operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            found = -1
        if isinstance(value, bool) or found == -1:
            raise ShapeError(
                f"{value!r} is not an extent", fix="give an int >= 0 or the name of a dimension"
            )
    if (found if isinstance(found, int) else found.bounds[1]) < 0:
        raise ShapeError(f"an extent cannot be negative, got {value}", fix="give an int >= 0")
    return found


def divide_exactly(dividend: int | Dim, divisor: int | Dim) -> int | Dim | None:
    """The extent whose product with ``divisor`` is ``dividend`` whatever the names are, or None.

    Multivariate polynomial division by the leading term; None where a remainder is left.
    """
    rest, by = _terms(dividend), _terms(divisor)
    if not by:
        return None
    lead = max(by, key=_order)
    quotient: dict[Monomial, int] = {}
    while rest:
        top = max(rest, key=_order)
        left = Counter(top)
        left.subtract(Counter(lead))
        if rest[top] % by[lead] or min(left.values(), default=0) < 0:
            return None
        monomial = tuple(sorted(left.elements()))
        quotient[monomial] = rest[top] // by[lead]
        step = _terms(_product(_make({monomial: quotient[monomial]}), divisor))
        rest = {m: c for m, c in _added(rest, step, -1).items() if c}
    return _make(quotient)


def smallest(*extents: int | Dim) -> int | Dim:
    """The least of some extents."""
    return _extreme("min", extents)


def largest(*extents: int | Dim) -> int | Dim:
    """The greatest of some extents."""
    return _extreme("max", extents)


def _combine(a: Dim, b: object, how: Callable[[Any, Any], int | Dim]) -> Any:
    if isinstance(b, Dim):
        return how(a, b)
    if isinstance(b, bool):
        return NotImplemented
    try:
        return how(a, operator.index(b))  # type: ignore[arg-type]
    except TypeError:
        return NotImplemented


def _terms(value: int | Dim) -> Mapping[Monomial, int]:
    if isinstance(value, Dim):
        return value.terms
    return {(): value} if value else {}


def _order(monomial: Monomial) -> tuple[int, tuple[str, ...]]:
    """Graded order: by degree, then by the names."""
    return len(monomial), tuple(a.text for a in monomial)


def _make(terms: Mapping[Monomial, int]) -> int | Dim:
    kept = {m: c for m, c in terms.items() if c}
    if all(not m for m in kept):
        return kept.get((), 0)
    found = object.__new__(Dim)
    found.terms = {m: kept[m] for m in sorted(kept, key=lambda m: (-len(m), _order(m)))}
    found._text = _text(found.terms)
    return found


def _text(terms: Mapping[Monomial, int]) -> str:
    text = ""
    for monomial, coefficient in terms.items():
        size = abs(coefficient)
        factors = [str(size)] if size != 1 or not monomial else []
        # A quotient or remainder binds like a product, so it takes parentheses beside one.
        alone = len(monomial) == 1 and size == 1
        bare = alone or all(a.kind not in ("//", "%") for a in monomial)
        factors += [a.text if bare else _grouped(a) for a in monomial]
        sign = " - " if coefficient < 0 else " + "
        text += (sign if text else sign.strip(" +")) + "*".join(factors)
    return text


def _grouped(atom: Atom) -> str:
    return f"({atom.text})" if atom.kind in ("//", "%") else atom.text


def _named(name: str) -> Dim:
    return _make({(Atom("name", (), name),): 1})  # type: ignore[return-value]


def _applied(kind: str, args: tuple[int | Dim, ...]) -> int | Dim:
    if kind in ("min", "max"):
        text = f"{kind}({', '.join(map(str, args))})"
    else:
        text = kind.join(_operand_text(a) for a in args)
    return _make({(Atom(kind, args, text),): 1})


def _operand_text(value: int | Dim) -> str:
    if isinstance(value, int):
        return str(value)
    (monomial, coefficient), *more = value.terms.items()
    plain = not more and coefficient == 1 and len(monomial) == 1
    return str(value) if plain and monomial[0].kind not in ("//", "%") else f"({value})"


def _added(a: Mapping[Monomial, int], b: Mapping[Monomial, int], sign: int) -> dict[Monomial, int]:
    total = dict(a)
    for monomial, coefficient in b.items():
        total[monomial] = total.get(monomial, 0) + sign * coefficient
    return total


def _sum(a: int | Dim, b: int | Dim, sign: int) -> int | Dim:
    return _make(_added(_terms(a), _terms(b), sign))


def _product(a: int | Dim, b: int | Dim) -> int | Dim:
    total: dict[Monomial, int] = {}
    for left, left_coefficient in _terms(a).items():
        for right, right_coefficient in _terms(b).items():
            monomial = tuple(sorted(left + right))
            total[monomial] = total.get(monomial, 0) + left_coefficient * right_coefficient
    return _make(total)


def _divided(a: int | Dim, by: int) -> tuple[int | Dim, int | Dim]:
    """``a`` as ``by * whole + rest`` where the coefficients of the rest lie in ``[0, by)``."""
    whole = _make({m: c // by for m, c in _terms(a).items()})
    rest = _make({m: c % by for m, c in _terms(a).items()})
    return whole, rest


def _quotient(a: int | Dim, b: int | Dim) -> int | Dim:
    if not isinstance(b, int):
        return 1 if a is b and b > 0 else _applied("//", (a, b))
    if b == 0:
        raise ShapeError(f"{a}//0 divides by zero")
    if b < 0:
        return _quotient(_product(a, -1), -b)
    whole, rest = _divided(a, b)
    return _sum(whole, 0 if _lies_below(rest, b) else _applied("//", (rest, b)), 1)


def _remainder(a: int | Dim, b: int | Dim) -> int | Dim:
    if not isinstance(b, int):
        return _applied("%", (a, b))
    if b == 0:
        raise ShapeError(f"{a}%0 divides by zero")
    if b < 0:
        return _product(_remainder(_product(a, -1), -b), -1)
    rest = _divided(a, b)[1]
    return rest if _lies_below(rest, b) else _applied("%", (rest, b))


def _lies_below(value: int | Dim, end: int) -> bool:
    low, high = _span(value)
    return low >= 0 and high < end


def _extreme(kind: str, extents: tuple[int | Dim, ...]) -> int | Dim:
    kept: list[int | Dim] = []
    for extent in _flattened(kind, extents):
        if any(_beats(kind, other, extent) for other in kept):
            continue
        kept = [other for other in kept if not _beats(kind, extent, other)]
        kept.append(extent)
    if not kept:
        raise ShapeError(f"{kind}() needs at least one extent")
    if len(kept) == 1:
        return kept[0]
    return _applied(kind, tuple(sorted(kept, key=str)))


def _flattened(kind: str, extents: tuple[int | Dim, ...]) -> Iterator[int | Dim]:
    for extent in extents:
        monomials = [] if isinstance(extent, int) else list(extent.terms.items())
        if len(monomials) == 1 and monomials[0][1] == 1 and len(monomials[0][0]) == 1:
            atom = monomials[0][0][0]
            if atom.kind == kind:
                yield from atom.args
                continue
        yield extent


def _beats(kind: str, a: int | Dim, b: int | Dim) -> bool:
    """Whether ``a`` makes ``b`` needless in a min or max."""
    low, high = _span(_sum(a, b, -1))
    return high <= 0 if kind == "min" else low >= 0


def _span(value: int | Dim) -> Interval:
    return (value, value) if isinstance(value, int) else value.bounds


def _product_span(a: Interval, b: Interval) -> Interval:
    corners = [x * y if x and y else 0 for x in a for y in b]
    return min(corners), max(corners)


def _atom_span(atom: Atom) -> Interval:
    if atom.kind == "name":
        return 0, inf
    spans = [_span(a) for a in atom.args]
    if atom.kind == "min":
        return min(s[0] for s in spans), min(s[1] for s in spans)
    if atom.kind == "max":
        return max(s[0] for s in spans), max(s[1] for s in spans)
    (low, high), (by_low, by_high) = spans
    if by_low < 0:
        return -inf, inf
    if atom.kind == "%":
        return 0, max(by_high - 1, 0)
    by = max(by_low, 1)  # zero is no divisor
    return (low // by if low < 0 else 0), (high // by if high >= 0 else 0)


def _decide(a: Dim, sign: str, b: object, *, strict: bool) -> bool:
    """Whether ``a < b`` (strict) or ``a <= b``."""
    difference = a - b  # type: ignore[operator]
    low, high = _span(difference)
    if high < 0 or (high == 0 and not strict):
        return True
    if low > 0 or (low == 0 and strict):
        return False
    raise _undecidable(a, sign, b)


def _undecidable(a: Dim, sign: str, b: object) -> ShapeError:
    return ShapeError(
        f"whether {a} {sign} {b} depends on what the dimensions are bound to",
        fix="use the same name for dimensions that are equal, or an integer",
    )


_AST_OPERATIONS: Final[Mapping[type[ast.operator], Callable[[Any, Any], int | Dim]]] = {
    ast.Add: lambda a, b: _sum(a, b, 1),
    ast.Sub: lambda a, b: _sum(a, b, -1),
    ast.Mult: _product,
    ast.FloorDiv: _quotient,
    ast.Mod: _remainder,
}


def _parse(text: str) -> int | Dim:
    try:
        return _built(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, RecursionError, MemoryError, ValueError) as error:
        if isinstance(error, ShapeError) and "divides by zero" in error.what:
            raise
        raise ShapeError(
            f"{text!r} is not an extent",
            fix="use a name such as 'batch', or an expression with + - * // % min() max()",
        ) from None


def _built(node: ast.expr) -> int | Dim:
    if isinstance(node, ast.Constant) and type(node.value) is int:
        return node.value
    if isinstance(node, ast.Name) and node.id not in ("min", "max"):
        return _named(node.id)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _product(_built(node.operand), -1)
    if isinstance(node, ast.BinOp) and type(node.op) in _AST_OPERATIONS:
        return _AST_OPERATIONS[type(node.op)](_built(node.left), _built(node.right))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
        if node.func.id in ("min", "max"):
            return _extreme(node.func.id, tuple(_built(a) for a in node.args))
    raise ValueError(f"no extent: {ast.dump(node)}")
