"""Remainder: what truncated division leaves, exactly."""

from __future__ import annotations

import math
from typing import Final

from realta_llvm.lanes import Lanes
from realta_llvm.text import Value

__all__ = ["FUNCTIONS"]

_QUOTIENTS: Final = {32: 2.0**23, 64: 2.0**52}
"""Quotients below this are known to the last unit."""


def fmod(lanes: Lanes, x: Value, y: Value) -> Value:
    """X minus the whole quotient times y, with the sign of x; never rounded.

    A rounded quotient is the whole one or one more, so the difference, which one fused operation
    gives exactly, is the remainder or that less the divisor. Large quotients, infinities and NaN
    take the rare path, the C library's ``fmod``, which is exact too.
    """
    dividend, divisor = lanes.abs(x), lanes.abs(y)
    quotient = lanes.trunc(lanes.div(dividend, divisor))
    rest = lanes.fma(lanes.neg(quotient), divisor, dividend)
    below = lanes.compare("olt", rest, lanes.constant(0.0))
    rest = lanes.select(below, lanes.add(rest, divisor), rest)
    found = lanes.copysign(rest, x)
    large = lanes.compare("uge", quotient, lanes.constant(_QUOTIENTS[lanes.bits]))
    endless = lanes.compare("oeq", divisor, lanes.constant(math.inf))
    rare = lanes.bit_or(large, endless)

    def exactly() -> Value:
        remainder = lanes.body.value(f"frem {x.type} {x.text}, {y.text}", x.type)
        return lanes.select(rare, remainder, found)

    return lanes.when_any(rare, exactly, found)


FUNCTIONS: Final = {"fmod": fmod}
"""By instruction."""
