"""Powers: x^y = exp(y log |x|), with more digits in between than the result has.

For float32 everything in between is float64. For float64 the logarithm and its product with y are
sums of two floats, about 2^-66 exact relative to themselves: products are split by fused
multiplication and addition, sums by Dekker's method (1971). The coefficients are fitted by
``tools/fit_functions.py "single log" "single exp" "pair log"``.
"""

from __future__ import annotations

from math import inf, nan
from typing import Final

from realta_llvm.functions.exponential import EXP, reduced
from realta_llvm.functions.logarithm import LN2, split
from realta_llvm.functions.numbers import Number, fma, function, hexadecimal, polynomial, select

__all__ = ["FUNCTIONS", "pow"]

SINGLE_LOG: Final = hexadecimal(
    "0x1.555555561e30fp-1 0x1.999996a980f78p-2 0x1.249411d4f83ffp-2 0x1.c62b1dad7ee81p-3 "
    "0x1.91150214cb154p-3"
)
"""(log((1 + s) / (1 - s)) - 2 s) / s³ by powers of s²."""
SINGLE_EXP: Final = hexadecimal(
    "0x1.00000042e2e82p-1 0x1.55555597fbf7p-3 0x1.55548069770b8p-5 0x1.11107cf61e063p-7 "
    "0x1.6d96739311aaap-10 0x1.a1b7fb7a2ea55p-13"
)
"""(exp(r) - 1 - r) / r² by powers of r."""
PAIR_LOG: Final = hexadecimal(
    "0x1.9999999999996p-2 0x1.2492492492f51p-2 0x1.c71c71c5968f6p-3 0x1.745d1829569fbp-3 "
    "0x1.3b1364c945fedp-3 0x1.11206f2d8b0f5p-3 0x1.de3d70db84cc6p-4 0x1.eac5ba4342697p-4"
)
"""(log((1 + s) / (1 - s)) - 2 s - 2/3 s³) / s⁵ by powers of s²."""
_TWO_THIRDS: Final = hexadecimal("0x1.5555555555555p-1 0x1.5555555555555p-55")
"""2/3 as the sum of two floats."""


def _quick(base: Number, y: Number) -> Number:
    """base^y of float32 numbers in float64, for a base that is not negative."""
    lanes = base.lanes
    wide = lanes.wider()
    x, y = (Number(wide, lanes.extend(number.value)) for number in (base, y))
    e, m = split(x)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    half = f * 0.5 * f
    series = fma(polynomial(SINGLE_LOG, z), z, half)
    logarithm = fma(e, LN2[64][0] + LN2[64][1], f - (half - s * series))
    parts = reduced((y * logarithm).at_most(89.0).at_least(-104.0), 1023)
    rest = parts.rest
    mantissa = polynomial((1.0, 1.0, *SINGLE_EXP), rest, rest * rest)
    return Number(lanes, lanes.shorten((mantissa * parts.power()).value))


def _logarithm(x: Number) -> tuple[Number, Number]:
    """The logarithm of a positive number as the sum of two floats."""
    e, m = split(x)
    f = m - 1.0
    g = m + 1.0
    inverse = 1.0 / g
    s = f * inverse
    # (m + 1) s is f up to what both roundings lost.
    s_low = (fma(s, -g, f) - s * (m - (g - 1.0))) * inverse
    z = s * s
    z_low = fma(s, s, -z) + (s + s) * s_low
    more = polynomial(PAIR_LOG, z, z * z) * z
    high, low = _TWO_THIRDS
    t = more + high
    t_low = (high - t) + more + low
    q = z * t
    q_low = fma(z, t, -q) + fma(z, t_low, z_low * t)
    v = s * q
    v_low = fma(s, q, -v) + fma(s, q_low, s_low * q)
    twice = s + s
    a = twice + v
    a_low = (twice - a) + v + fma(s_low, 2.0, v_low)
    whole = e * LN2[64][0]
    total = whole + a
    total_low = (whole - total) + a + fma(e, LN2[64][1], a_low)
    first = total + total_low
    return first, (total - first) + total_low


def _precise(base: Number, y: Number) -> Number:
    """base^y of float64 numbers, for a base that is not negative."""
    high, low = _logarithm(base)
    product = y * high
    lost = fma(y, high, -product) + y * low
    within = abs(product) < 800.0
    lost = select(within, lost, 0.0)
    parts = reduced(product.at_most(710.0).at_least(-746.0), 2046)
    first, second = parts.powers()
    rest = parts.rest
    square = rest * rest
    grown = rest + fma(square, polynomial(EXP[64], rest, square), parts.after())
    # exp(rest) times 1 + lost
    return (grown + fma(lost, grown, lost) + 1.0) * first * second


def pow(x: Number, y: Number) -> Number:
    """X to the power of y, as IEEE 754's pow."""
    base = abs(x)
    found = _quick(base, y) if x.bits == 32 else _precise(base, y)
    found = select(base.equals(1.0), x.like(1.0), found)
    endless = base.equals(inf)
    grows = endless ^ (y < 0.0)
    extreme = select(grows, x.like(inf), x.like(0.0))
    found = select(endless | base.equals(0.0), extreme, found)
    half = y * 0.5
    whole = y.floor().equals(y)
    odd = whole & half.floor().differs(half)
    sign = x.as_integer() & odd & x.like(-0.0).as_integer()
    found = (found.as_integer() | sign).as_float()
    found = select((x < 0.0) & ~whole & ~endless, x.like(nan), found)
    found = select(x.is_nan() | y.is_nan(), x + y, found)
    return select(x.equals(1.0) | y.equals(0.0), x.like(1.0), found)


FUNCTIONS: Final = {"pow": function(pow)}
"""By the name of the instruction of the kernel IR."""
