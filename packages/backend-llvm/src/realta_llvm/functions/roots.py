"""Roots and sums that must not overflow on the way: rsqrt, hypot and logaddexp."""

from __future__ import annotations

from math import inf
from math import log as natural
from typing import Final

from realta_llvm.functions.exponential import exp_not_positive
from realta_llvm.functions.logarithm import log1p
from realta_llvm.functions.numbers import Number, fma, function, select

__all__ = ["FUNCTIONS", "hypot", "logaddexp", "rsqrt"]

_EXTREMES: Final = {
    32: (2.0**62, 2.0**-66, 2.0**-60, 2.0**100),
    64: (2.0**500, 2.0**-600, 2.0**-500, 2.0**700),
}
"""Above the first number hypot scales by the second, below the third by the fourth."""


def rsqrt(x: Number) -> Number:
    """One over the square root."""
    return 1.0 / x.sqrt()


def hypot(x: Number, y: Number) -> Number:
    """sqrt(x² + y²)."""
    x, y = abs(x), abs(y)
    swapped = y > x
    long, short = select(swapped, y, x), select(swapped, x, y)
    high, down, low, up = _EXTREMES[x.bits]
    large, small = long > high, long < low
    scale = select(large, x.like(down), select(small, x.like(up), x.like(1.0)))
    back = select(large, x.like(1.0 / down), select(small, x.like(1.0 / up), x.like(1.0)))
    long, short = long * scale, short * scale
    found = fma(long, long, short * short).sqrt() * back
    return select(x.equals(inf) | y.equals(inf), x.like(inf), found)


def logaddexp(x: Number, y: Number) -> Number:
    """log(exp(x) + exp(y))."""
    larger = select(x > y, x, y)
    found = larger + log1p(exp_not_positive(-abs(x - y)))
    return select(x.equals(y), x + natural(2.0), found)


FUNCTIONS: Final = {
    "rsqrt": function(rsqrt),
    "hypot": function(hypot),
    "logaddexp": function(logaddexp),
}
"""By the name of the instruction of the kernel IR."""
