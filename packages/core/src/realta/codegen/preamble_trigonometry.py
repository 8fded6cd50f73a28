"""Sine, cosine and tangent for languages whose vector library lets lanes disturb each other.

In PoCL's float32 vectors, beside an angle of 3e38 the sine of 0.001 is 0.008. Up to `LARGE` these
functions are computed here, from angles reduced by π/2 in three parts (Cody and Waite's method)
with what is left over carried along, and from polynomials. Larger angles go to the language's
function for single numbers, lane by lane. The coefficients are minimax fits in powers of the
reduced angle's square over [0, (π/4)²], made for this file by Remez exchange with 60 digits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from realta.codegen.preamble_trace import Trace, V, select
from realta.types import DType, float32, float64, int32

__all__ = ["LARGE", "TRIGONOMETRY"]

LARGE: Final = 131072.0
"""The greatest angle that is reduced here; up to it a part times a number of turns is exact."""


class _Numbers(NamedTuple):
    """What the functions of one type are made of."""

    turns: str
    """2/π."""
    parts: tuple[str, str, str]
    """π/2 = the sum of these."""
    sine: tuple[str, ...]
    """(sin r - r) / r³ by powers of r²."""
    cosine: tuple[str, ...]
    """(cos r - 1 + r²/2) / r⁴ by powers of r²."""


_NUMBERS: Final[Mapping[DType, _Numbers]] = {
    float32: _Numbers(
        "0x1.45f306p-1",
        ("0x1.921fb6p+0", "-0x1.777a5cp-25", "-0x1.ee59dap-50"),
        ("-0x1.555556p-3", "0x1.111108p-7", "-0x1.a00f9ep-13", "0x1.6cd838p-19"),
        ("0x1.555556p-5", "-0x1.6c16b8p-10", "0x1.a01120p-16", "-0x1.242adap-22"),
    ),
    float64: _Numbers(
        "0x1.45f306dc9c883p-1",
        ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110"),
        (
            "-0x1.5555555555549p-3", "0x1.111111110f87ap-7", "-0x1.a01a019c11971p-13",
            "0x1.71de3577b53bep-19", "-0x1.ae5e6639e26bap-26", "0x1.5d9300e1207f8p-33",
        ),
        (
            "0x1.555555555554cp-5", "-0x1.6c16c16c1517ep-10", "0x1.a01a019cb1bddp-16",
            "-0x1.27e4f809f0bd4p-22", "0x1.1ee9ebe944060p-29", "-0x1.8fae9c8350bb2p-37",
        ),
    ),
}  # fmt: skip


def _polynomial(coefficients: Sequence[str], x: V) -> V:
    total = x.like(float.fromhex(coefficients[-1]))
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + float.fromhex(coefficient)
    return total


def _reduced(trace: Trace, x: V, numbers: _Numbers) -> tuple[V, V, V]:
    """An angle as a number of quarter turns and a rest within π/4, as a sum of two floats."""
    first, second, third = (float.fromhex(part) for part in numbers.parts)
    turns = trace.let("turns", (x * float.fromhex(numbers.turns)).c("rint"))
    near = trace.let("near_", (-turns).c("fma", x.like(first), x))  # exact
    step = trace.let("step_", turns * second)
    high = trace.let("high", near - step)
    back = trace.let("back", high - near)
    low = (near - (high - back)) - (step + back)  # what the difference lost
    low = low - turns.c("fma", x.like(second), -step) - turns * third
    low = trace.let("low", low)
    rest = trace.let("rest", select(turns.equals(0.0), x, high + low))
    after = trace.let("after", select(turns.equals(0.0), x.like(0.0), (high - rest) + low))
    return rest, after, trace.let("quarter", turns.to(int32))


def _both(trace: Trace, x: V) -> tuple[V, V, V, V]:
    """The sine and the cosine of the rest of an angle, its quarter turns, and where it is large."""
    numbers = _NUMBERS[x.dtype]
    large = trace.let("large", ~(x.c("fabs") <= LARGE))
    angle = trace.let("angle", select(large, x.like(0.0), x))
    rest, after, quarter = _reduced(trace, angle, numbers)
    square = trace.let("square", rest * rest)
    half = trace.let("half_", square * 0.5)
    whole = trace.let("whole", half.like(1.0) - half)
    cube = rest * square * _polynomial(numbers.sine, square)
    sine = trace.let("sine", rest + (cube + after * whole))
    fourth = square * square * _polynomial(numbers.cosine, square)
    lost = (whole.like(1.0) - whole) - half
    cosine = trace.let("cosine", whole + (lost + (fourth - rest * after)))
    return sine, cosine, quarter, large


def _with_large(trace: Trace, function: str, x: V, large: V, found: V) -> V:
    result = trace.var("result", found)
    with trace.when_any(large):
        angle = trace.let("large_angle", select(large, x, 0.0))
        trace.assign(result, select(large, angle.each(function), result))
    # The rest of -0 is 0.
    return result if function == "cos" else select(x.equals(0.0), x, result)


def _chosen(quarter: V, even: V, odd: V) -> V:
    found = select((quarter & 1).differs(0), odd, even)
    return select((quarter & 2).differs(0), -found, found)


def _sin(trace: Trace, x: V) -> V:
    sine, cosine, quarter, large = _both(trace, x)
    return _with_large(trace, "sin", x, large, _chosen(quarter, sine, cosine))


def _cos(trace: Trace, x: V) -> V:
    sine, cosine, quarter, large = _both(trace, x)
    return _with_large(trace, "cos", x, large, _chosen(quarter, cosine, -sine))


def _tan(trace: Trace, x: V) -> V:
    sine, cosine, quarter, large = _both(trace, x)
    odd = trace.let("odd", (quarter & 1).differs(0))
    found = select(odd, -cosine, sine) / select(odd, sine, cosine)
    return _with_large(trace, "tan", x, large, found)


TRIGONOMETRY: Final[Mapping[str, tuple[Callable[..., V], str]]] = {
    "sin": (_sin, "the sine of an angle in radians"),
    "cos": (_cos, "the cosine of an angle in radians"),
    "tan": (_tan, "the tangent of an angle in radians"),
}
"""By instruction: its definition and what it computes."""
