"""Trigonometry: sin, cos and tan of angles in radians.

x = n π/2 + r with |r| <= π/4: up to `LARGE` by subtracting n times the three parts of π/2 (Cody and
Waite's method; with fused multiplication and addition the first step is exact), beyond it with as
many digits of 2/π as it takes (`large_angles`). In float64 what r lacks is carried along. Sine and
cosine of r are polynomials, fitted by ``tools/fit_functions.py sin cos``.
"""

from __future__ import annotations

from typing import Final

from realta_llvm.functions.large_angles import reduced_large
from realta_llvm.functions.numbers import (
    MANTISSA,
    Number,
    fma,
    function,
    hexadecimal,
    polynomial,
    select,
)

__all__ = ["FUNCTIONS", "LARGE", "cos", "sin", "tan"]

LARGE: Final = 131072.0
"""The greatest angle that is reduced in three steps."""
_TURNS: Final = float.fromhex("0x1.45f306dc9c883p-1")
"""2/π."""
_QUARTER: Final = {
    32: hexadecimal("0x1.921fb4p+0 0x1.4442dp-24 0x1.846988p-48"),
    64: hexadecimal("0x1.921fb54442d18p+0 0x1.1a62633145c06p-54 0x1.c1cd129024e08p-107"),
}
"""π/2 as the sum of three floats, all positive."""
SIN: Final = {
    32: hexadecimal("-0x1.555546p-3 0x1.11077cp-7 -0x1.9955b6p-13"),
    64: hexadecimal(
        "-0x1.5555555555549p-3 0x1.111111110f8a4p-7 -0x1.a01a019c15b09p-13 0x1.71de357aa6649p-19 "
        "-0x1.ae5e6832c5ae9p-26 0x1.5d93812e686e4p-33"
    ),
}
"""(sin(r) - r) / r³ by powers of r²."""
COS: Final = {
    32: hexadecimal("0x1.55554ap-5 -0x1.6c0c1ap-10 0x1.99e0eep-16"),
    64: hexadecimal(
        "0x1.555555555554cp-5 -0x1.6c16c16c1521dp-10 0x1.a01a019cbf0d3p-16 -0x1.27e4f812650efp-22 "
        "0x1.1ee9f1105d4ccp-29 -0x1.8fb109ee7e82ap-37"
    ),
}
"""(cos(r) - 1 + r²/2) / r⁴ by powers of r²."""


def _reduced(x: Number) -> tuple[Number, Number, Number]:
    """The rest of an angle, what the rest lacks, and the number of quarter turns as an integer."""
    shift = 1.5 * 2.0 ** MANTISSA[x.bits]
    first, second, third = _QUARTER[x.bits]
    shifted = fma(x, _TURNS, shift)
    n = shifted - shift
    near = fma(n, -first, x)  # exact
    if x.bits == 32:
        rest = fma(n, -third, fma(n, -second, near))
        after = rest  # not used
    else:
        step = n * second
        rest = near - step
        back = rest - near
        lost = (near - (rest - back)) - (step + back)  # what the difference lost
        after = fma(n, -third, lost - fma(n, second, -step))
    quarter = shifted.as_integer()
    # False for NaN as well, of which nothing is left but NaN.
    large = abs(x) > LARGE
    return reduced_large(x, large, rest, after, quarter)


def _sine(rest: Number, after: Number, square: Number) -> Number:
    series = polynomial(SIN[rest.bits], square) * square
    if rest.bits == 32:
        return fma(series, rest, rest)
    return rest + fma(series, rest, after * fma(square, -0.5, 1.0))


def _cosine(rest: Number, after: Number, square: Number) -> Number:
    series = polynomial(COS[rest.bits], square)
    if rest.bits == 32:
        return fma(series * square, square, fma(square, -0.5, 1.0))
    half = square * 0.5
    whole = 1.0 - half
    lost = (1.0 - whole) - half
    return whole + (lost + fma(series * square, square, -(rest * after)))


def _both(x: Number) -> tuple[Number, Number, Number]:
    """Sine and cosine of the rest of an angle, and its number of quarter turns."""
    rest, after, quarter = _reduced(x)
    square = rest * rest
    return _sine(rest, after, square), _cosine(rest, after, square), quarter


def _turned(quarter: Number, even: Number, odd: Number) -> Number:
    """One of both by the last bit of the turns, with the sign that the bit above it says."""
    found = select((quarter & 1).differs(0), odd, even).as_integer()
    return (found ^ ((quarter & 2) << (quarter.bits - 2))).as_float()


def sin(x: Number) -> Number:
    """The sine."""
    sine, cosine, quarter = _both(x)
    return select(x.equals(0.0), x, _turned(quarter, sine, cosine))


def cos(x: Number) -> Number:
    """The cosine."""
    sine, cosine, quarter = _both(x)
    return _turned(quarter + 1, sine, cosine)


def tan(x: Number) -> Number:
    """The tangent."""
    sine, cosine, quarter = _both(x)
    odd = (quarter & 1).differs(0)
    found = select(odd, -cosine, sine) / select(odd, sine, cosine)
    return select(x.equals(0.0), x, found)


FUNCTIONS: Final = {"sin": function(sin), "cos": function(cos), "tan": function(tan)}
"""By the name of the instruction of the kernel IR."""
