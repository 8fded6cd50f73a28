"""Exponentials: exp and expm1, and their common reduction, which others are made of.

x = n log(2) + r with a whole n and |r| <= log(2)/2, in two steps of which the first is exact (Cody
and Waite); exp(r) is a polynomial, and 2^n is multiplied in two factors, so that the result may be
infinite, 0 or subnormal and is rounded once. n is read from the bits of n + c, where the constant c
is so large that their sum is a whole number.

The coefficients are fitted by ``tools/fit_functions.py exp``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from realta_llvm.functions.numbers import MANTISSA, Number, fma, function, hexadecimal, polynomial

__all__ = [
    "EXP", "FUNCTIONS", "Exponential", "exp", "exp_not_positive", "expm1", "expm1_not_positive",
    "mantissa_of_exp", "reduced",
]  # fmt: skip

EXP: Final = {
    32: hexadecimal("0x1p-1 0x1.5554bp-3 0x1.555486p-5 0x1.1227f2p-7 0x1.6d98eep-10"),
    64: hexadecimal(
        "0x1.0000000000005p-1 0x1.555555555555cp-3 0x1.55555555520fcp-5 0x1.111111110e6ecp-7 "
        "0x1.6c16c17f3513bp-10 0x1.a01a01b5cf824p-13 0x1.a019a68d79ff5p-16 0x1.71ddea19b5428p-19 "
        "0x1.28a2a37a1cdd2p-22 0x1.af768ab0d44a8p-26"
    ),
}
"""(exp(r) - 1 - r) / r² by powers of r."""
_LOG2_E: Final = float.fromhex("0x1.71547652b82fep+0")
_LN2: Final = {
    32: hexadecimal("0x1.62e430p-1 -0x1.05c610p-29"),
    64: hexadecimal("0x1.62e42fefa39efp-1 0x1.abc9e3b39803fp-56"),
}
"""log(2) as the sum of two floats."""
_RANGE: Final = {32: (-104.0, 89.0), 64: (-746.0, 710.0)}
"""Arguments beyond have the same exponentials as these: 0 and an infinity."""
_BIAS: Final = {32: 127, 64: 1023}
_ONES: Final = {32: -18.0, 64: -40.0}
"""Below, expm1 is -1."""


@dataclass(frozen=True, slots=True)
class Exponential:
    """exp(x) in parts: 2^n * exp(rest + after).

    Args:
        n: the whole number of doublings.
        rest: within log(2)/2.
        before: rest before it was rounded by the second step of the reduction.
        shifted: an integer whose low bits are n plus what was asked for.
    """

    n: Number
    rest: Number
    before: Number
    shifted: Number

    def after(self) -> Number:
        """What rest lacks of its exact value."""
        return fma(self.n, -_LN2[self.n.bits][1], self.before - self.rest)

    def power(self) -> Number:
        """2^n by its low bits alone: n was asked for with the exponent's bias."""
        return (self.shifted << MANTISSA[self.n.bits]).as_float()

    def powers(self) -> tuple[Number, Number]:
        """2^n as the product of two floats: n was asked for with twice the exponent's bias."""
        mantissa = MANTISSA[self.n.bits]
        first = (self.shifted >> 1) << mantissa
        return first.as_float(), ((self.shifted << mantissa) - first).as_float()


def reduced(x: Number, offset: int, scale: float = 1.0) -> Exponential:
    """The parts of exp(scale x) for |scale x| within the range of exponents.

    Args:
        x: the argument.
        offset: what is added to n in `shifted`.
        scale: a power of two, or its negative.
    """
    shift = 1.5 * 2.0 ** MANTISSA[x.bits] + offset
    shifted = fma(x, scale * _LOG2_E, shift)
    n = shifted - shift
    high, low = _LN2[x.bits]
    before = fma(n, -high, x if scale == 1.0 else x * scale)
    return Exponential(n, fma(n, -low, before), before, shifted.as_integer())


def mantissa_of_exp(rest: Number) -> Number:
    """exp(rest) for |rest| <= log(2)/2."""
    coefficients = EXP[rest.bits]
    if rest.bits == 32:
        return polynomial((1.0, 1.0, *coefficients), rest)
    square = rest * rest
    return fma(square, polynomial(coefficients, rest, square), rest) + 1.0


def exp(x: Number) -> Number:
    """E to the power of x."""
    low, high = _RANGE[x.bits]
    parts = reduced(x.at_most(high).at_least(low), 2 * _BIAS[x.bits])
    first, second = parts.powers()
    return mantissa_of_exp(parts.rest) * first * second


def exp_not_positive(x: Number) -> Number:
    """exp(x) for x <= 0 or NaN, in fewer instructions; the same bits."""
    up = 64 if x.bits == 32 else 128
    parts = reduced(x.at_least(_RANGE[x.bits][0]), _BIAS[x.bits] + up)
    return mantissa_of_exp(parts.rest) * parts.power() * 2.0**-up


def expm1_parts(parts: Exponential) -> tuple[Number, Number]:
    """exp(rest + after) - 1 as rest and what is to be added to it."""
    rest = parts.rest
    square = rest * rest
    return rest, fma(square, polynomial(EXP[rest.bits], rest, square), parts.after())


def expm1(x: Number) -> Number:
    """exp(x) - 1, accurate near 0."""
    low, high = _RANGE[x.bits]
    parts = reduced(x.at_most(high).at_least(low), 2 * _BIAS[x.bits])
    first, second = parts.powers()
    one = ((2 * _BIAS[x.bits] << MANTISSA[x.bits]) - second.as_integer()).as_float()
    rest, tail = expm1_parts(parts)
    return (fma(first, tail, fma(first, rest, first - one)) * second).copysign(x)


def expm1_not_positive(x: Number, scale: float = 1.0) -> Number:
    """exp(scale x) - 1 for scale x <= 0 or NaN, scale a power of two or its negative."""
    bound = _ONES[x.bits] / scale
    x = x.at_most(bound) if scale < 0 else x.at_least(bound)
    parts = reduced(x, _BIAS[x.bits], scale)
    power = parts.power()
    rest, tail = expm1_parts(parts)
    below = power - 1.0
    first = fma(power, rest, below)
    second = power * tail
    if x.bits == 64:  # what the first one lost
        second = second + fma(power, rest, below - first)
    return first + second


FUNCTIONS: Final = {"exp": function(exp), "expm1": function(expm1)}
"""By the name of the instruction of the kernel IR."""
