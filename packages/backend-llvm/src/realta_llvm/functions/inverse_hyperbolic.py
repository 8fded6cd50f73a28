"""Inverse hyperbolic functions: asinh, acosh and atanh, by the logarithm of 1 plus something.

Where the argument is so large that its square would overflow, or 1 no longer matters beside it,
they are log(x) + log(2).
"""

from __future__ import annotations

from math import log as natural
from math import nan
from typing import Final

from realta_llvm.functions.logarithm import log1p
from realta_llvm.functions.numbers import Number, fma, function, select

__all__ = ["FUNCTIONS", "acosh", "asinh", "atanh"]

_LARGE: Final = {32: 2.0**14, 64: 2.0**29}


def _of_large(large: Number, x: Number, other: Number) -> Number:
    """log(2 x) where x is large, else log(1 + other)."""
    found = log1p(select(large, x - 1.0, other))
    return found + select(large, x.like(natural(2.0)), 0.0)


def asinh(x: Number) -> Number:
    """The inverse hyperbolic sine."""
    size = abs(x)
    square = x * x
    root = (square + 1.0).sqrt()
    return _of_large(size > _LARGE[x.bits], size, size + square / (root + 1.0)).copysign(x)


def acosh(x: Number) -> Number:
    """The inverse hyperbolic cosine; NaN below 1."""
    above = x - 1.0
    root = fma(above, above, above + above).sqrt()
    found = _of_large(x > _LARGE[x.bits], x, above + root)
    return select(x < 1.0, x.like(nan), found)


def atanh(x: Number) -> Number:
    """The inverse hyperbolic tangent; infinities at ±1, NaN beyond."""
    size = abs(x)
    return (log1p((size + size) / (1.0 - size)) * 0.5).copysign(x)


FUNCTIONS: Final = {"asinh": function(asinh), "acosh": function(acosh), "atanh": function(atanh)}
"""By the name of the instruction of the kernel IR."""
