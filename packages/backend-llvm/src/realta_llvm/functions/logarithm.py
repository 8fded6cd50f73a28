"""Logarithms: log, log1p, log2 and log10.

x = 2^e (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)). With s = f / (2 + f) and z = s²,
log(1 + f) = f - (f²/2 - s (f²/2 + z L(z))), in which f is exact and everything else is small (the
form of FreeBSD's ``e_log.c``). The coefficients of L are fitted by ``tools/fit_functions.py log``.
"""

from __future__ import annotations

from math import inf, nan
from typing import Final

from realta_llvm.functions.numbers import (
    MANTISSA,
    Number,
    fma,
    function,
    hexadecimal,
    polynomial,
    select,
)

__all__ = ["FUNCTIONS", "log", "log1p", "log2", "log10", "split"]

LOG: Final = {
    32: hexadecimal("0x1.55557ap-1 0x1.995ed6p-2 0x1.31e082p-2"),
    64: hexadecimal(
        "0x1.5555555555592p-1 0x1.999999997ff14p-2 0x1.24924941e1c8bp-2 0x1.c71c5213d8f52p-3 "
        "0x1.74663d0a80903p-3 0x1.39a1e5777c415p-3 0x1.2f03df1e122b2p-3"
    ),
}
"""(log((1 + s) / (1 - s)) - 2 s) / s³ by powers of s²."""
LN2: Final = {
    32: hexadecimal("0x1.62e4p-1 0x1.7f7d1cp-20"),
    64: hexadecimal("0x1.62e42fefa38p-1 0x1.ef35793c7673p-45"),
}
"""log(2) as the sum of two floats; times an exponent the first one is exact."""
_LOG10_2: Final = {
    32: hexadecimal("0x1.344p-2 0x1.3509f8p-18"),
    64: hexadecimal("0x1.34413509f78p-2 0x1.fef311f12b358p-46"),
}
"""log10(2) likewise."""
_LOG2_E: Final = {
    32: hexadecimal("0x1.715476p+0 0x1.4ae0cp-26"),
    64: hexadecimal("0x1.71547652b82fep+0 0x1.777d0ffda0d24p-56"),
}
_LOG10_E: Final = {
    32: hexadecimal("0x1.bcb7b2p-2 -0x1.5b235ep-27"),
    64: hexadecimal("0x1.bcb7b1526e50ep-2 0x1.95355baaafad3p-57"),
}
_SQRT_HALF: Final = {32: 0x3F3504F3, 64: 0x3FE6A09E667F3BCD}
"""The bits of sqrt(1/2)."""
_BIAS: Final = {32: 127, 64: 1023}


def split(x: Number) -> tuple[Number, Number]:
    """A positive number as an exponent e and m in [sqrt(1/2), sqrt(2)), where x = 2^e m."""
    mantissa, bias, half = MANTISSA[x.bits], _BIAS[x.bits], _SQRT_HALF[x.bits]
    up = mantissa + 2
    small = x < 2.0 ** (1 - bias)
    bits = select(small, x * 2.0**up, x).as_integer()
    offset = (bias << mantissa) - half
    exponent = (bits + offset) >> mantissa
    m = (bits - ((exponent - bias) << mantissa)).as_float()
    # An integer below 2^mantissa as a float: its bits below those of 2^mantissa.
    shift = 2.0**mantissa
    number = (exponent | x.like(shift).as_integer()).as_float()
    return number - select(small, x.like(shift + bias + up), x.like(shift + bias)), m


def _tail(f: Number) -> tuple[Number, Number]:
    """f²/2 and s (f²/2 + z L(z)): log(1 + f) is f minus the first plus the second."""
    s = f / (f + 2.0)
    z = s * s
    half = f * 0.5 * f
    long = f.bits == 64
    series = polynomial(LOG[f.bits], z, z * z if long else None)
    return half, s * fma(series, z, half)


def _whole_range(x: Number, found: Number) -> Number:
    """A result for positive finite x, with the others filled in: -inf for 0, NaN below."""
    beyond = select(x < 0.0, x.like(nan), select(x.equals(0.0), x.like(-inf), x))
    return select((x > 0.0) & (x < inf), found, beyond)


def log(x: Number) -> Number:
    """The natural logarithm."""
    e, m = split(x)
    f = m - 1.0
    half, tail = _tail(f)
    high, low = LN2[x.bits]
    return _whole_range(x, fma(e, high, f - (half - fma(e, low, tail))))


def log1p(x: Number) -> Number:
    """log(1 + x), accurate near 0."""
    y = x + 1.0
    e, m = split(y)
    near = e.equals(0.0)
    # What 1 + x lost by rounding, and the derivative of the logarithm.
    lost = select(x >= 1.0, 1.0 - (y - x), x - (y - 1.0)) / y
    f = select(near, x, m - 1.0)
    half, tail = _tail(f)
    high, low = LN2[x.bits]
    tail = fma(e, low, tail) + select(near, x.like(0.0), lost)
    found = fma(e, high, f - (half - tail))
    return select(x.equals(0.0), x, _whole_range(y, found))


def _to_base(x: Number, factor: tuple[float, ...], two: tuple[float, ...]) -> Number:
    """The logarithm to a base: natural logarithms times a factor, exponents times log(2)."""
    e, m = split(x)
    f = m - 1.0
    half, tail = _tail(f)
    high = f - half
    low = ((f - high) - half) + tail
    product = high * factor[0]
    rest = fma(high, factor[0], -product)
    rest = fma(high, factor[1], fma(low, factor[0], rest))
    whole = e if two[0] == 1.0 else e * two[0]
    total = whole + product
    rest = rest + select(e.equals(0.0), x.like(0.0), (whole - total) + product)
    if len(two) > 1:
        rest = fma(e, two[1], rest)
    return _whole_range(x, total + rest)


def log2(x: Number) -> Number:
    """The logarithm to base 2; of powers of 2 exact."""
    return _to_base(x, _LOG2_E[x.bits], (1.0,))


def log10(x: Number) -> Number:
    """The logarithm to base 10."""
    return _to_base(x, _LOG10_E[x.bits], _LOG10_2[x.bits])


FUNCTIONS: Final = {
    "log": function(log),
    "log1p": function(log1p),
    "log2": function(log2),
    "log10": function(log10),
}
"""By the name of the instruction of the kernel IR."""
