"""Hyperbolic functions: sinh, cosh and tanh.

With a = exp(|x|) / 2, whose factors of 2 are chosen so that it does not overflow before they do,
cosh is a + 1/(4a) and sinh a - 1/(4a) for |x| > 1; below 1 sinh is a polynomial, whose coefficients
are fitted by ``tools/fit_functions.py sinh``. tanh is -e / (e + 2) with e = exp(-2 |x|) - 1.
"""

from __future__ import annotations

from typing import Final

from realta_llvm.functions.exponential import (
    expm1_not_positive,
    mantissa_of_exp,
    reduced,
)
from realta_llvm.functions.numbers import Number, fma, function, hexadecimal, polynomial, select

__all__ = ["FUNCTIONS", "cosh", "sinh", "tanh"]

SINH: Final = {
    32: hexadecimal("0x1.555556p-3 0x1.1110e2p-7 0x1.a02156p-13 0x1.75a6f4p-19"),
    64: hexadecimal(
        "0x1.5555555555555p-3 0x1.1111111111199p-7 0x1.a01a01a007b23p-13 0x1.71de3a682263fp-19 "
        "0x1.ae64420b09a1ap-26 0x1.6130ac20f3782p-33 0x1.a6d52ca26d7b7p-41 0x1.c3427e07da5a1p-48"
    ),
}
"""(sinh(x) - x) / x³ by powers of x²."""
_BIAS: Final = {32: 127, 64: 1023}
_HIGHEST: Final = {32: 90.0, 64: 711.0}
"""From here on the results are infinite."""


def _halves(x: Number) -> tuple[Number, Number]:
    """exp(|x|) / 2 and exp(-|x|) / 2."""
    bias = _BIAS[x.bits]
    parts = reduced(abs(x).at_most(_HIGHEST[x.bits]), 2 * bias - 1)
    first, second = parts.powers()
    part = mantissa_of_exp(parts.rest) * first
    grown = part * second
    return grown, 0.25 / grown


def sinh(x: Number) -> Number:
    """The hyperbolic sine."""
    square = x * x
    series = polynomial(SINH[x.bits], square, square * square) * square
    grown, shrunk = _halves(x)
    return select(abs(x) < 1.0, fma(series, x, x), (grown - shrunk).copysign(x))


def cosh(x: Number) -> Number:
    """The hyperbolic cosine."""
    grown, shrunk = _halves(x)
    return grown + shrunk


def tanh(x: Number) -> Number:
    """The hyperbolic tangent."""
    lost = expm1_not_positive(abs(x), -2.0)
    return (lost / (lost + 2.0)).copysign(x)


FUNCTIONS: Final = {"sinh": function(sinh), "cosh": function(cosh), "tanh": function(tanh)}
"""By the name of the instruction of the kernel IR."""
