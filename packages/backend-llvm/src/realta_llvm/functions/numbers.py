"""Numbers: operators over the values of `Lanes`, in which formulas are written as formulas.

Every operator is one instruction. Masks are integers that are -1 where something holds, else 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Final

from realta_llvm.lanes import Lanes
from realta_llvm.text import Value, lane_type

__all__ = ["MANTISSA", "Number", "fma", "function", "hexadecimal", "polynomial", "select"]

MANTISSA: Final = {32: 23, 64: 52}
"""Bits of a mantissa, the leading one left out, by the width of the float type."""
_SPLIT: Final = 7
"""From this number of coefficients on, a polynomial is evaluated as two that do not wait for each
other."""


class Number:
    """Floats, integers or a mask in lanes.

    Args:
        lanes: what writes the instructions.
        value: their name and type.
    """

    __slots__ = ("lanes", "value")

    def __init__(self, lanes: Lanes, value: Value) -> None:
        self.lanes = lanes
        self.value = value

    @property
    def bits(self) -> int:
        """The width of the float type: 32 or 64."""
        return self.lanes.bits

    @property
    def whole(self) -> bool:
        """Whether these are integers or a mask."""
        return lane_type(self.value.type).startswith("i")

    def given(self, other: Number | float) -> Value:
        """Another operand: what it is, or a constant of the same kind."""
        if isinstance(other, Number):
            return other.value
        if self.whole:
            return self.lanes.integer(int(other))
        return self.lanes.constant(other)

    def like(self, number: float) -> Number:
        """A constant of the same kind."""
        return Number(self.lanes, self.given(number))

    def _of(
        self, whole: Callable[..., Value], real: Callable[..., Value], y: Number | float
    ) -> Number:
        return Number(self.lanes, (whole if self.whole else real)(self.value, self.given(y)))

    def __add__(self, y: Number | float) -> Number:
        return self._of(self.lanes.int_add, self.lanes.add, y)

    def __sub__(self, y: Number | float) -> Number:
        return self._of(self.lanes.int_sub, self.lanes.sub, y)

    def __rsub__(self, y: float) -> Number:
        return self.like(y) - self

    def __mul__(self, y: Number | float) -> Number:
        return self._of(self.lanes.int_mul, self.lanes.mul, y)

    def __truediv__(self, y: Number | float) -> Number:
        return Number(self.lanes, self.lanes.div(self.value, self.given(y)))

    def __rtruediv__(self, y: float) -> Number:
        return self.like(y) / self

    def __neg__(self) -> Number:
        return Number(self.lanes, self.lanes.neg(self.value))

    def __abs__(self) -> Number:
        return Number(self.lanes, self.lanes.abs(self.value))

    def _compared(self, whole: str, real: str, y: Number | float) -> Number:
        predicate = whole if self.whole else real
        return Number(self.lanes, self.lanes.compare(predicate, self.value, self.given(y)))

    def __lt__(self, y: Number | float) -> Number:
        return self._compared("slt", "olt", y)

    def __le__(self, y: Number | float) -> Number:
        return self._compared("sle", "ole", y)

    def __gt__(self, y: Number | float) -> Number:
        return self._compared("sgt", "ogt", y)

    def __ge__(self, y: Number | float) -> Number:
        return self._compared("sge", "oge", y)

    def equals(self, y: Number | float) -> Number:
        """Where both are equal, as a mask."""
        return self._compared("eq", "oeq", y)

    def differs(self, y: Number | float) -> Number:
        """Where they are not equal, as a mask; NaN differs from everything."""
        return self._compared("ne", "une", y)

    def __and__(self, y: Number | int) -> Number:
        return Number(self.lanes, self.lanes.bit_and(self.value, self.given(y)))

    def __or__(self, y: Number | int) -> Number:
        return Number(self.lanes, self.lanes.bit_or(self.value, self.given(y)))

    def __xor__(self, y: Number | int) -> Number:
        return Number(self.lanes, self.lanes.bit_xor(self.value, self.given(y)))

    def __invert__(self) -> Number:
        return Number(self.lanes, self.lanes.bit_not(self.value))

    def __lshift__(self, amount: int) -> Number:
        return Number(self.lanes, self.lanes.shift_left(self.value, self.given(amount)))

    def __rshift__(self, amount: int) -> Number:
        """Shifted down, zeros following."""
        return Number(self.lanes, self.lanes.shift_right(self.value, self.given(amount)))

    def as_integer(self) -> Number:
        """The bits of floats as integers."""
        return Number(self.lanes, self.lanes.as_integer(self.value))

    def as_float(self) -> Number:
        """Integers as the floats with these bits."""
        return Number(self.lanes, self.lanes.as_float(self.value))

    def sqrt(self) -> Number:
        """The square root."""
        return Number(self.lanes, self.lanes.sqrt(self.value))

    def floor(self) -> Number:
        """The whole number not above it."""
        return Number(self.lanes, self.lanes.floor(self.value))

    def copysign(self, y: Number) -> Number:
        """With the sign of another."""
        return Number(self.lanes, self.lanes.copysign(self.value, y.value))

    def at_most(self, bound: float) -> Number:
        """The bound where it is exceeded; NaN stays."""
        return select(self > bound, self.like(bound), self)

    def at_least(self, bound: float) -> Number:
        """The bound where it is not reached; NaN stays."""
        return select(self < bound, self.like(bound), self)

    def is_nan(self) -> Number:
        """Where it is NaN, as a mask."""
        return Number(self.lanes, self.lanes.compare("uno", self.value, self.value))


def fma(x: Number, y: Number | float, z: Number | float) -> Number:
    """X * y + z, rounded once."""
    return Number(x.lanes, x.lanes.fma(x.value, x.given(y), x.given(z)))


def select(mask: Number, x: Number, y: Number | float) -> Number:
    """X where a mask holds, else y."""
    return Number(x.lanes, x.lanes.select(mask.value, x.value, x.given(y)))


def polynomial(coefficients: Sequence[float], x: Number, square: Number | None = None) -> Number:
    """A polynomial, its coefficients lowest power first, by Horner's rule.

    Args:
        coefficients: at least two.
        x: where to evaluate it.
        square: x * x, if that is known: a long polynomial is then evaluated as even plus odd part.
    """
    if square is not None and len(coefficients) >= _SPLIT:
        odd = polynomial(coefficients[1::2], square)
        return fma(odd, x, polynomial(coefficients[::2], square))
    total = fma(x, coefficients[-1], coefficients[-2])
    for coefficient in reversed(coefficients[:-2]):
        total = fma(total, x, coefficient)
    return total


def hexadecimal(text: str) -> tuple[float, ...]:
    """Floats written in hexadecimal, separated by blanks."""
    return tuple(map(float.fromhex, text.split()))


def function(body: Callable[..., Number]) -> Callable[..., Value]:
    """A function of numbers as one of lanes and values."""

    @wraps(body)
    def written(lanes: Lanes, *operands: Value) -> Value:
        return body(*(Number(lanes, operand) for operand in operands)).value

    return written
