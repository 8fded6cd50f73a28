"""Inverse trigonometry: asin, acos, atan and atan2.

asin(x) is a polynomial for |x| <= 1/2, and π/2 - 2 asin(sqrt((1 - |x|) / 2)) beyond. atan(y / x)
is a polynomial in t with |t| <= tan(π/8), after as many of these steps as it takes: the smaller of
both magnitudes over the larger one, and (t - 1) / (t + 1), which is π/4 less; one division does for
both.
The coefficients are fitted by ``tools/fit_functions.py asin atan``.
"""

from __future__ import annotations

from math import inf
from typing import Final

from realta_llvm.functions.numbers import Number, fma, function, hexadecimal, polynomial, select

__all__ = ["FUNCTIONS", "acos", "asin", "atan", "atan2"]

ASIN: Final = {
    32: hexadecimal("0x1.5555cap-3 0x1.33016ap-4 0x1.748a2cp-5 0x1.8bb536p-6 0x1.59cc92p-5"),
    64: hexadecimal(
        "0x1.5555555555387p-3 0x1.333333336f883p-4 0x1.6db6db41d3e54p-5 0x1.f1c72c6d53bbcp-6 "
        "0x1.6e89ef79029c3p-6 0x1.1c6c27ccc4729p-6 0x1.c6f87caec3d2fp-7 0x1.8ee4ac6b9e339p-7 "
        "0x1.aab3855ec515ap-8 0x1.40b1f30c588acp-6 -0x1.0af4e2a668e59p-6 0x1.05ce59ce3b664p-5"
    ),
}
"""(asin(x) - x) / x³ by powers of x²."""
ATAN: Final = {
    32: hexadecimal("-0x1.555458p-2 0x1.9925f6p-3 -0x1.1c4338p-3 0x1.4a2b26p-4"),
    64: hexadecimal(
        "-0x1.555555555553dp-2 0x1.999999999589cp-3 -0x1.24924922af185p-3 0x1.c71c70e6cfbe8p-4 "
        "-0x1.745cf8f2bd1c6p-4 0x1.3b111aa8057b5p-4 -0x1.10ebc9727fdf7p-4 0x1.df103abea432ep-5 "
        "-0x1.9cd6abac64364p-5 0x1.37de96695101bp-5 -0x1.257ad1607f2eap-6"
    ),
}
"""(atan(t) - t) / t³ by powers of t²."""
_HALF_PI: Final = {
    32: hexadecimal("0x1.921fb6p+0 -0x1.777a5cp-25"),
    64: hexadecimal("0x1.921fb54442d18p+0 0x1.1a62633145c07p-54"),
}
"""π/2 as the sum of two floats."""
_TAN_EIGHTH: Final = float.fromhex("0x1.a827999fcef32p-2")
"""tan(π/8) = sqrt(2) - 1."""


def _folded(x: Number) -> tuple[Number, Number, Number]:
    """Where |x| is at most 1/2, the number whose arc sine is to be found, and what exceeds it."""
    size = abs(x)
    near = size <= 0.5
    far_square = fma(size, -0.5, 0.5)
    square = select(near, x * x, far_square)
    root = select(near, size, far_square.sqrt())
    series = polynomial(ASIN[x.bits], square, square * square) * square
    return near, root, series * root


def asin(x: Number) -> Number:
    """The angle with this sine; NaN outside [-1, 1]."""
    near, root, more = _folded(x)
    high, low = _HALF_PI[x.bits]
    far = high - ((root + root) - fma(more, -2.0, low))
    return select(near, root + more, far).copysign(x)


def acos(x: Number) -> Number:
    """The angle with this cosine; NaN outside [-1, 1]."""
    near, root, more = _folded(x)
    high, low = _HALF_PI[x.bits]
    signed, rest = root.copysign(x), more.copysign(x)
    middle = high - (signed - (low - rest))
    twice = (root + more) * 2.0
    left = 2.0 * high - (twice - 2.0 * low)
    return select(near, middle, select(x < 0.0, left, twice))


def _arc(small: Number, large: Number) -> tuple[Number, Number]:
    """atan(small / large) for 0 <= small <= large, as the sum of two."""
    high, low = _HALF_PI[small.bits]
    steep = small > large * _TAN_EIGHTH
    t = select(steep, small - large, small) / select(steep, small + large, large)
    square = t * t
    series = polynomial(ATAN[t.bits], square, square * square) * square
    tail = fma(series, t, select(steep, t.like(0.5 * low), 0.0))
    first = select(steep, t.like(0.5 * high), t.like(0.0))
    return first, t + tail


def _in_octant(swapped: Number, small: Number, large: Number) -> Number:
    """The angle whose tangent is small / large, or the other way round where they are swapped."""
    high, low = _HALF_PI[small.bits]
    first, rest = _arc(small, large)
    # π/2 minus it; minus 0 + t is t, of which the sign of zero does not matter here.
    turned = (high - first) - (rest - low)
    return select(swapped, turned, first + rest)


def atan(x: Number) -> Number:
    """The angle with this tangent."""
    size = abs(x)
    swapped = size > 1.0
    one = x.like(1.0)
    # The greatest numbers must not overflow when 1 is added, and do not; infinities would be NaN.
    size = size.at_most(2.0 ** (x.bits + 30))
    found = _in_octant(swapped, select(swapped, one, size), select(swapped, size, one))
    return found.copysign(x)


def atan2(y: Number, x: Number) -> Number:
    """The angle of the point (x, y), in [-π, π]."""
    up, along = abs(y), abs(x)
    swapped = up > along
    small, large = select(swapped, along, up), select(swapped, up, along)
    # Both infinite, or both zero: as if equal, or as if the larger one were 1.
    endless = large.equals(inf)
    small = select(endless, select(small.equals(inf), x.like(1.0), x.like(0.0)), small)
    large = select(endless | large.equals(0.0), x.like(1.0), large)
    # Their sum must not overflow.
    scale = select(large > 2.0 ** (126 if x.bits == 32 else 1022), x.like(0.25), 1.0)
    found = _in_octant(swapped, small * scale, large * scale)
    high, low = _HALF_PI[x.bits]
    left = 2.0 * high - (found - 2.0 * low)
    negative = x.as_integer() < 0
    found = select(negative, left, found).copysign(y)
    return select(x.is_nan() | y.is_nan(), x + y, found)


FUNCTIONS: Final = {
    "asin": function(asin),
    "acos": function(acos),
    "atan": function(atan),
    "atan2": function(atan2),
}
"""By the name of the instruction of the kernel IR."""
