"""Dim: a symbolic extent, known once its names are bound.

``Dim("batch")`` stands for an integer >= 0 that a call binds. Dims add, subtract, multiply,
divide with ``//``, take ``%`` and go into `smallest` and `largest`. Equal expressions have equal
texts, and an expression that does not depend on its names is a plain int.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from realta.errors import ArgumentError, ShapeError
from realta.types import polynomials
from realta.types.assumptions import current_assumptions
from realta.types.dim_text import parse_extent
from realta.types.polynomials import Polynomial, extreme

__all__ = ["Dim", "as_dim", "divide_exactly", "largest", "smallest"]

_COMPARE: Final[Mapping[str, Callable[[Any, Any], bool]]] = {
    "==": operator.eq, "<": operator.lt, ">": operator.gt, "<=": operator.le, ">=": operator.ge,
}  # fmt: skip


class Dim:
    """A symbolic extent.

    Comparisons answer where the answer is the same for all values of the names and raise ShapeError
    where it is not; the hash is that of the canonical text.

    Args:
        text: a name, or an expression over names and integers with ``+ - * // % min() max()``.

    Raises:
        ShapeError: the text is no such expression, or does not depend on a name.
    """

    __slots__ = ("polynomial",)

    polynomial: Polynomial

    def __init__(self, text: str) -> None:
        self.polynomial = parse_extent(text)
        if self.polynomial.value is not None:
            raise ShapeError(
                f"{text!r} does not depend on a name",
                fix=f"write the integer {self.polynomial.value}",
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The names it depends on, sorted."""
        return tuple(sorted(self.polynomial.names))

    @property
    def bounds(self) -> tuple[float, float]:
        """An interval that its value lies in for all names >= 0; infinite ends mean no bound."""
        return self.polynomial.span

    def evaluate(self, names: Mapping[str, int]) -> int:
        """Its value where the names are bound.

        Raises:
            ShapeError: a name is not bound, or a division is by zero.
        """
        missing = [n for n in self.names if n not in names]
        if missing:
            raise ShapeError(
                f"the dimension {missing[0]!r} is not bound",
                where=f"in the extent {self}",
                fix=f"bind it; bound are {', '.join(sorted(names)) or 'none'}",
            )
        return self.polynomial.evaluate(names)

    def __add__(self, other: object) -> Any:
        return _combined(operator.add, self, other)

    def __sub__(self, other: object) -> Any:
        return _combined(operator.sub, self, other)

    def __mul__(self, other: object) -> Any:
        return _combined(operator.mul, self, other)

    def __floordiv__(self, other: object) -> Any:
        return _combined(operator.floordiv, self, other)

    def __mod__(self, other: object) -> Any:
        return _combined(operator.mod, self, other)

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: object) -> Any:
        return _combined(operator.sub, other, self)

    def __rfloordiv__(self, other: object) -> Any:
        return _combined(operator.floordiv, other, self)

    def __rmod__(self, other: object) -> Any:
        return _combined(operator.mod, other, self)

    def __neg__(self) -> Any:
        return _extent(-self.polynomial)

    def __eq__(self, other: object) -> bool:
        """Whether both are the same for all values of the names.

        Raises:
            ShapeError: that depends on what the names are bound to.
        """
        right = _polynomial(other)
        if right is None:
            return False
        if self.polynomial.text == right.text:
            return True
        low, high = (self.polynomial - right).span
        if low > 0 or high < 0:
            return False
        return _assumed(self, "==", other)

    def __lt__(self, other: int | Dim) -> bool:
        return _ordered(self, "<", other)

    def __gt__(self, other: int | Dim) -> bool:
        return _ordered(self, ">", other)

    def __le__(self, other: int | Dim) -> bool:
        return _ordered(self, "<=", other)

    def __ge__(self, other: int | Dim) -> bool:
        return _ordered(self, ">=", other)

    def __hash__(self) -> int:
        return hash(self.polynomial.text)

    def __str__(self) -> str:
        return self.polynomial.text

    def __repr__(self) -> str:
        return f"Dim({str(self)!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return (Dim, (str(self),))


def as_dim(value: object) -> int | Dim:
    """An extent from an int, a name, an expression in text, or a Dim.

    Raises:
        ShapeError: not an integer (a bool is none), negative for all names, or no expression.
    """
    if type(value) is int or isinstance(value, Dim):
        found: int | Dim = value
    elif isinstance(value, str):
        found = _extent(parse_extent(value))
    elif isinstance(value, bool) or not hasattr(value, "__index__"):
        raise ShapeError(
            f"{value!r} is not an extent", fix="give an int >= 0 or the name of a dimension"
        )
    else:
        found = operator.index(value)
    if (found.bounds[1] if isinstance(found, Dim) else found) < 0:
        raise ShapeError(f"an extent cannot be negative, got {value}", fix="give an int >= 0")
    return found


def smallest(*extents: int | Dim) -> int | Dim:
    """The least of some extents."""
    return _extremum("min", extents)


def largest(*extents: int | Dim) -> int | Dim:
    """The greatest of some extents."""
    return _extremum("max", extents)


def divide_exactly(dividend: int | Dim, divisor: int | Dim) -> int | Dim | None:
    """The extent whose product with ``divisor`` is ``dividend`` for all names, or None."""
    found = polynomials.divide_exactly(_known(dividend), _known(divisor))
    return None if found is None else _extent(found)


def _extremum(kind: str, extents: tuple[int | Dim, ...]) -> int | Dim:
    if not extents:
        raise ArgumentError(f"there is no {kind} of nothing", fix="give at least one extent")
    return _extent(extreme(kind, [_known(e) for e in extents]))


def _extent(polynomial: Polynomial) -> int | Dim:
    """A polynomial as an int if it is one, else as a Dim."""
    if polynomial.value is not None:
        return polynomial.value
    found = object.__new__(Dim)
    found.polynomial = polynomial
    return found


def _known(value: int | Dim) -> Polynomial:
    return value.polynomial if isinstance(value, Dim) else Polynomial.constant(value)


def _polynomial(value: object) -> Polynomial | None:
    """A Dim or an integer as a polynomial, None for anything else (bools too)."""
    if isinstance(value, Dim):
        return value.polynomial
    if isinstance(value, bool) or not hasattr(value, "__index__"):
        return None
    return Polynomial.constant(operator.index(value))


def _combined(
    how: Callable[[Polynomial, Polynomial], Polynomial], left: object, right: object
) -> Any:
    a, b = _polynomial(left), _polynomial(right)
    return NotImplemented if a is None or b is None else _extent(how(a, b))


def _ordered(a: Dim, sign: str, b: int | Dim) -> bool:
    """The answer that both ends of the interval of the difference give, else the assumed one."""
    low, high = (_known(a) - _known(b)).span
    least, most = _COMPARE[sign](low, 0), _COMPARE[sign](high, 0)
    return least if least is most else _assumed(a, sign, b)


def _assumed(a: object, sign: str, b: object) -> bool:
    """The answer for the extents that are assumed now.

    Raises:
        ShapeError: none are, so that it depends on what the names are bound to.
    """
    assumptions = current_assumptions()
    if assumptions is not None:
        values = [x.evaluate(assumptions.names) if isinstance(x, Dim) else x for x in (a, b)]
        found = _COMPARE[sign](*values)
        return assumptions.answer(f"({a})", sign, f"({b})", found)
    raise ShapeError(
        f"whether {a} {sign} {b} depends on what the dimensions are bound to",
        fix="use the same name for dimensions that are equal, or an integer",
    )
