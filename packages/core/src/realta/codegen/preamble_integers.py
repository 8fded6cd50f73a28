"""Integer helpers: division, powers and shifts that have no bad operands (spec 5)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from realta.codegen.preamble_trace import Trace, V, select
from realta.types import uint64

__all__ = ["INTEGERS"]


def _divisor(trace: Trace, x: V, y: V) -> V:
    """The divisor, with 1 in place of those that the machine cannot take."""
    bad = y.equals(0)
    if x.dtype.kind == "int":
        bad = bad | y.equals(-1)
    return trace.let("divisor", select(bad, y.like(1), y))


def _floor_div(trace: Trace, x: V, y: V) -> V:
    divisor = _divisor(trace, x, y)
    quotient = trace.let("quotient", x // divisor)
    if x.dtype.kind == "uint":
        return select(y.equals(0), y.like(0), quotient)
    rest = trace.let("rest", x - quotient * divisor)
    above = rest.differs(0) & ((rest ^ divisor) < 0)
    floor = trace.let("floor_", select(above, quotient - 1, quotient))
    return select(y.equals(0), y.like(0), select(y.equals(-1), -x, floor))


def _mod(trace: Trace, x: V, y: V) -> V:
    divisor = _divisor(trace, x, y)
    rest = trace.let("rest", x - (x // divisor) * divisor)
    if x.dtype.kind == "uint":
        return rest  # a divisor of 0 became 1, which leaves 0
    return select(rest.differs(0) & ((rest ^ divisor) < 0), rest + divisor, rest)


def _pow(trace: Trace, x: V, y: V) -> V:
    result = trace.var("result", x.like(1))
    base = trace.var("base", x)
    exponent = trace.var("exponent", y)
    with trace.repeat(x.dtype.bits):
        odd = (exponent & 1).differs(0)
        trace.assign(result, select(odd, result * base, result))
        trace.assign(base, base * base)
        trace.assign(exponent, exponent >> 1)
    if x.dtype.kind == "uint":
        return result
    inverse = select(x.equals(-1), select((y & 1).differs(0), x, x.like(1)), x.like(0))
    return select(y < 0, select(x.equals(1), x, inverse), result)


def _outside(x: V, amount: V) -> V:
    return (amount < 0) | (amount >= x.dtype.bits) if x.dtype.kind == "int" else (
        amount >= x.dtype.bits
    )  # fmt: skip


def _shift_left(trace: Trace, x: V, y: V) -> V:
    outside = trace.let("outside", _outside(x, y))
    return select(outside, x.like(0), x << select(outside, y.like(0), y))


def _shift_right(trace: Trace, x: V, y: V) -> V:
    outside = trace.let("outside", _outside(x, y))
    gone = x.like(0)
    if x.dtype.kind == "int":
        gone = select((x < 0) & (y > 0), x.like(-1), gone)
    return select(outside, gone, x >> select(outside, y.like(0), y))


def _maximum(_trace: Trace, x: V, y: V) -> V:
    return select(x > y, x, y)


def _minimum(_trace: Trace, x: V, y: V) -> V:
    return select(x < y, x, y)


def _abs(_trace: Trace, x: V) -> V:
    return select(x < 0, -x, x)


def _sign(_trace: Trace, x: V) -> V:
    one = select(x > 0, x.like(1), x.like(0))
    return one if x.dtype.kind == "uint" else select(x < 0, x.like(-1), one)


def _mul_high(trace: Trace, x: V, y: V) -> V:
    if x.dtype is not uint64:
        return ((x.to(uint64) * y.to(uint64)) >> 32).to(x.dtype)
    x_low, y_low = trace.let("x_low", x & 0xFFFFFFFF), trace.let("y_low", y & 0xFFFFFFFF)
    x_high, y_high = trace.let("x_high", x >> 32), trace.let("y_high", y >> 32)
    middle = trace.let("middle", x_high * y_low + ((x_low * y_low) >> 32))
    carried = trace.let("carried", x_low * y_high + (middle & 0xFFFFFFFF))
    return x_high * y_high + (middle >> 32) + (carried >> 32)


INTEGERS: Final[Mapping[str, tuple[Callable[..., V], str]]] = {
    "floor_div": (_floor_div, "the quotient rounded down; 0 for a divisor of 0"),
    "mod": (_mod, "what floor division leaves; 0 for a divisor of 0"),
    "pow": (_pow, "x to the power of y, wrapping; for a negative y the whole part of it"),
    "shift_left": (_shift_left, "x shifted left; 0 for amounts outside its width"),
    "shift_right": (_shift_right, "x shifted right; what all its bits leave for larger amounts"),
    "maximum": (_maximum, "the larger one"),
    "minimum": (_minimum, "the smaller one"),
    "abs": (_abs, "the magnitude; the lowest integer stays"),
    "sign": (_sign, "-1, 0 or 1"),
    "mul_high": (_mul_high, "the upper half of the product"),
}  # fmt: skip
"""By instruction: its definition for integers and what it computes."""
