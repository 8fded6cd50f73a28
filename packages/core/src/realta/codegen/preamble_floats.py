"""Float helpers: NaN, signed zeros and infinities as spec 5 has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf, log
from typing import Final

from realta.codegen.preamble_tanh import tanh
from realta.codegen.preamble_trace import Trace, V, select

__all__ = ["FLOATS"]


def _maximum(trace: Trace, x: V, y: V) -> V:
    # Equal numbers have equal bits, zeros apart: of those, and of the bits prefers +0.
    same = trace.let("same", (x.bits() & y.bits()).as_type(x.dtype))
    return select(x.equals(y), same, select((x > y) | x.is_nan(), x, y))


def _minimum(trace: Trace, x: V, y: V) -> V:
    same = trace.let("same", (x.bits() | y.bits()).as_type(x.dtype))
    return select(x.equals(y), same, select((x < y) | x.is_nan(), x, y))


def _mod(trace: Trace, x: V, y: V) -> V:
    rest = trace.let("rest", x.c("fmod", y))
    moved = select((y < 0.0) ^ (rest < 0.0), rest + y, rest)
    return select(rest.equals(0.0), y.like(0.0).c("copysign", y), moved)


def _floor_div(trace: Trace, x: V, y: V) -> V:
    rest = trace.let("rest", x.c("fmod", y))
    above = trace.let("above", rest.differs(0.0) & ((y < 0.0) ^ (rest < 0.0)))
    quotient = trace.let("quotient", (x - rest) / y)
    below = trace.let("below", select(above, quotient - 1.0, quotient))
    floor = trace.let("floor_", below.c("floor"))
    nearest = trace.let("nearest", select(below - floor > 0.5, floor + 1.0, floor))
    ratio = trace.let("ratio", x / y)
    found = select(below.equals(0.0), below.like(0.0).c("copysign", ratio), nearest)
    return select(y.equals(0.0), ratio, found)


def _sign(_trace: Trace, x: V) -> V:
    zero = select(x.equals(0.0), x.like(0.0), x)
    return select(x > 0.0, x.like(1.0), select(x < 0.0, x.like(-1.0), zero))


def _rsqrt(_trace: Trace, x: V) -> V:
    return x.like(1.0) / x.c("sqrt")


def _nextafter(trace: Trace, x: V, y: V) -> V:
    bits = trace.let("bits", x.bits("int"))
    # Bits of positive numbers grow with the number, those of negative ones with its magnitude.
    away = (x < y) ^ (x < 0.0)
    moved = (bits + select(away, bits.like(1), bits.like(-1))).as_type(x.dtype)
    least = bits.like(1).as_type(x.dtype).c("copysign", y)
    found = select(x.equals(y), y, select(x.equals(0.0), least, moved))
    return select(x.is_nan() | y.is_nan(), x + y, found)


def _logaddexp(trace: Trace, x: V, y: V) -> V:
    larger = trace.let("larger", x.apply("maximum", y))
    apart = trace.let("apart", (x - y).c("fabs"))
    return select(x.equals(y), x + log(2.0), larger + (-apart).c("exp").c("log1p"))


def _is_nan(_trace: Trace, x: V) -> V:
    return x.is_nan()


def _is_inf(_trace: Trace, x: V) -> V:
    return x.c("fabs").equals(inf)


def _is_finite(_trace: Trace, x: V) -> V:
    return x.c("fabs") < inf


def _signbit(_trace: Trace, x: V) -> V:
    return x.bits("int") < 0


FLOATS: Final[Mapping[str, tuple[Callable[..., V], str, bool]]] = {
    "maximum": (_maximum, "the larger one; NaN if either is, 0 over -0", True),
    "minimum": (_minimum, "the smaller one; NaN if either is, -0 under 0", True),
    "mod": (_mod, "what floor division leaves, with the divisor's sign", True),
    "floor_div": (_floor_div, "the quotient rounded down", True),
    "sign": (_sign, "-1, 0 or 1; NaN stays", True),
    "rsqrt": (_rsqrt, "one over the square root", True),
    "nextafter": (_nextafter, "the float next to x in the direction of y", True),
    "logaddexp": (_logaddexp, "log(exp(x) + exp(y))", False),
    "tanh": (tanh, "the hyperbolic tangent; 1 or -1 where those are nearest", False),
    "is_nan": (_is_nan, "whether it is NaN", True),
    "is_inf": (_is_inf, "whether it is an infinity", True),
    "is_finite": (_is_finite, "whether it is neither NaN nor an infinity", True),
    "signbit": (_signbit, "whether the sign bit is set", True),
}  # fmt: skip
"""By instruction: its definition for floats, what it computes, and whether that is exact."""
