"""The hyperbolic tangent for languages whose library is slow at it, or does not reach 1.

tanh x = -e / (e + 2) with e = exp(-2 |x|) - 1, and -2 |x| = n log(2) + r with a whole n and
|r| <= log(2)/2, in two steps of which the first is exact (Cody and Waite's method). n is read from
the bits of n + c, where the constant c is so large that their sum is a whole number. The
coefficients are fitted by ``tools/fit_functions.py exp``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from realta.codegen.preamble_trace import Trace, V, select
from realta.types import DType, float32, float64

__all__ = ["EXPONENTIALS", "tanh"]

_LOG2_E: Final = float.fromhex("0x1.71547652b82fep+0")


class _Numbers(NamedTuple):
    """What the function of one type is made of."""

    limit: float
    """From here on 1 is the float nearest to the hyperbolic tangent."""
    mantissa: int
    """Bits behind the point."""
    bias: int
    """Of the exponent."""
    log2: tuple[str, str]
    """log(2) as the sum of two floats, the first short enough for its product with n."""


_NUMBERS: Final[Mapping[DType, _Numbers]] = {
    float32: _Numbers(9.125, 23, 127, ("0x1.62e4p-1", "0x1.7f7d1cp-20")),
    float64: _Numbers(19.125, 52, 1023, ("0x1.62e42feep-1", "0x1.a39ef35793c76p-33")),
}
EXPONENTIALS: Final[Mapping[DType, str]] = {
    float32: "0x1p-1 0x1.5554bp-3 0x1.555486p-5 0x1.1227f2p-7 0x1.6d98eep-10",
    float64: (
        "0x1.0000000000005p-1 0x1.555555555555cp-3 0x1.55555555520fcp-5 0x1.111111110e6ecp-7 "
        "0x1.6c16c17f3513bp-10 0x1.a01a01b5cf824p-13 0x1.a019a68d79ff5p-16 0x1.71ddea19b5428p-19 "
        "0x1.28a2a37a1cdd2p-22 0x1.af768ab0d44a8p-26"
    ),
}
"""(exp(r) - 1 - r) / r² by powers of r."""


def tanh(trace: Trace, x: V) -> V:
    """The hyperbolic tangent of a float; NaN and the sign of 0 stay."""
    numbers = _NUMBERS[x.dtype]
    high, low = map(float.fromhex, numbers.log2)
    magnitude = x.c("fabs")
    least = x.like(numbers.limit)
    bounded = trace.let("bounded", select(magnitude > numbers.limit, least, magnitude) * -2.0)
    # The exponent's bias is added too, so that the low bits are those of 2^n.
    constant = 1.5 * 2.0**numbers.mantissa + numbers.bias
    shifted = trace.let("shifted", bounded * _LOG2_E + constant)
    turns = trace.let("turns", shifted - constant)
    rest = trace.let("rest", (bounded - turns * high) - turns * low)
    *others, last = map(float.fromhex, EXPONENTIALS[x.dtype].split())
    series = x.like(last)
    for coefficient in reversed(others):
        series = series * rest + coefficient
    grown = trace.let("grown", series * (rest * rest) + rest)
    power = trace.let("power", (shifted.bits() << numbers.mantissa).as_type(x.dtype))
    less = trace.let("less", grown * power + (power - 1.0))
    return (-less / (less + 2.0)).c("copysign", x)
