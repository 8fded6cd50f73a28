"""The error function: a polynomial below 1, and 1 - exp(p) beyond.

p is a polynomial too, of log(1 - erf(x)), as accurate as that has to be for 1 - exp(p): the more
exp(p) vanishes beside 1, the less. The coefficients are fitted by ``tools/fit_functions.py``:
``erf``, ``erfc``, and ``"long erfc"`` for float64, where the interval is longer until erf is 1.
"""

from __future__ import annotations

from typing import Final

from realta_llvm.functions.exponential import exp_not_positive
from realta_llvm.functions.numbers import Number, fma, function, hexadecimal, polynomial, select

__all__ = ["FUNCTIONS", "erf"]

ERF: Final = {
    32: hexadecimal(
        "0x1.06eba8p-3 -0x1.81274p-2 0x1.ce2d5p-4 -0x1.b7fe9p-6 0x1.542e1p-8 -0x1.a50b14p-11 "
        "0x1.4c348p-14"
    ),
    64: hexadecimal(
        "0x1.06eba8214db69p-3 -0x1.812746b037a27p-2 0x1.ce2f21a045b8fp-4 -0x1.b82ce31366581p-6 "
        "0x1.565bcd2faa46ap-8 -0x1.c02db9e1deef7p-11 0x1.f9a3cf9864ec1p-14 -0x1.f4dec47d16889p-17 "
        "0x1.ba8234a8017abp-20 -0x1.6472bfa12c99cp-23 0x1.181fc3e1539fdp-26 -0x1.e50cfd3d7bf1ap-30 "
        "0x1.693481af1b335p-33"
    ),
}
"""erf(x) / x - 1 by powers of x²."""
ERFC: Final = {
    32: hexadecimal(
        "-0x1.575b32p+2 -0x1.1ac32p+2 -0x1.d8f62ap-1 -0x1.0e20ap-6 0x1.d07a48p-9 -0x1.75ac8ep-11 "
        "0x1.852b44p-13"
    ),
    64: hexadecimal(
        "-0x1.575b329b1f514p+2 -0x1.1ac3258a8dc2ap+2 -0x1.d8f5dece92965p-1 -0x1.0dc3b5fb31083p-6 "
        "0x1.d406b378c0112p-9 -0x1.7ffcfb02358d8p-11 0x1.1bc3a4d1f5e77p-13 -0x1.5b659d13d7b81p-16 "
        "0x1.0604a15ef9548p-19 0x1.b58018f7ab111p-23 -0x1.73e2295af9e7p-23 0x1.ef9bb5facb057p-25 "
        "-0x1.e0b12ab3115bap-27 0x1.66a5aa6e8c2c5p-29 -0x1.1a707c92bed9ep-32 "
        "-0x1.3a9c72610a95ap-34 0x1.421ce7b3fa7ebp-35 -0x1.5652e12caf948p-38"
    ),
}
"""log(1 - erf(2 + t)) by powers of t."""
_ONE: Final = {32: 4.0, 64: 6.0}
"""Beyond, erf is 1."""


def erf(x: Number) -> Number:
    """The error function."""
    square = x * x
    near = fma(polynomial(ERF[x.bits], square, square * square), x, x)
    size = abs(x)
    t = size.at_most(_ONE[x.bits]) - 2.0
    far = 1.0 - exp_not_positive(polynomial(ERFC[x.bits], t, t * t))
    return select(size < 1.0, near, far.copysign(x))


FUNCTIONS: Final = {"erf": function(erf)}
"""By the name of the instruction of the kernel IR."""
