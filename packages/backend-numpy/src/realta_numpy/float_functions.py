"""Float functions: what NumPy lacks, or has out of bounds or dependent on the layout.

Every function takes arrays that broadcast to ``out`` and writes all of it; ``out`` shares no memory
with an operand.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta_numpy.scratch import borrowed

__all__ = [
    "erf", "log", "maximum", "minimum", "nextafter_bfloat16", "nextafter_float16", "power", "rsqrt",
    "select", "sigmoid",
]  # fmt: skip

Array = NDArray[Any]
_ZERO: Final = {t: np.array(0, t) for t in (np.dtype(np.float32), np.dtype(np.float64))}
_ONE: Final = {t: np.array(1, t) for t in _ZERO}
_LN2: Final = np.array(np.log(2.0), np.float32)
_SMALL: Final = 4096
"""Up to this many elements calls cost more than elements do."""


def maximum(x: Array, y: Array, out: Array) -> None:
    """The larger operand; NaN if either is; 0 over -0, which NumPy leaves to chance."""
    np.maximum(x, y, out=out)
    if not out.all():
        # Of two zeros the sum is the larger one.
        np.add(x, y, out=out, where=(x == 0) & (y == 0))


def minimum(x: Array, y: Array, out: Array) -> None:
    """The smaller operand; NaN if either is; -0 under 0."""
    np.minimum(x, y, out=out)
    if not out.all():
        both = (x == 0) & (y == 0)
        np.copyto(out, np.negative(np.add(np.negative(x), np.negative(y))), where=both)


def rsqrt(x: Array, out: Array) -> None:
    """One over the square root, by two correctly rounded steps."""
    np.sqrt(x, out=out)
    np.divide(_ONE[out.dtype], out, out=out)


_DEEP: Final = {t: np.array(v, t) for t, v in zip(_ZERO, (-88, -709), strict=True)}
"""Below it the exponential of -x overflows, or nearly."""


def sigmoid(x: Array, out: Array) -> None:
    """1 / (1 + exp(-x)); that is exp(x) to the last digit where exp(-x) would overflow."""
    np.negative(x, out=out)
    np.exp(out, out=out)
    one, deep = _ONE[out.dtype], _DEEP[out.dtype]
    np.add(out, one, out=out)
    np.divide(one, out, out=out)
    if np.fmin.reduce(x, axis=None, initial=0) < deep:
        np.exp(x, out=out, where=x < deep)


def log(x: Array, out: Array) -> None:
    """The natural logarithm of float32: NumPy's own misses 3 ulp without AVX-512."""
    np.log2(x, out=out)
    np.multiply(out, _LN2, out=out)


def power(x: Array, y: Array, out: Array) -> None:
    """X to the power of y.

    For an exponent that does not vary along the loop (2, 0.5, -1) NumPy takes a short cut with
    other bits, so both operands are spread out first, a single element over two places.
    """
    if out.size == 1:
        pair = borrowed(2, (2,), out.dtype)
        np.power(_spread(0, x, (2,)), _spread(1, y, (2,)), out=pair)
        out[...] = pair[0]
        return
    np.power(_spread(0, x, out.shape), _spread(1, y, out.shape), out=out)


def _spread(slot: int, x: Array, shape: tuple[int, ...]) -> Array:
    if x.shape == shape and x.flags.c_contiguous:
        return x
    full = borrowed(slot, shape, x.dtype)
    np.copyto(full, x.reshape(()) if x.size == 1 else x)
    return full


def select(condition: Array, x: Array, y: Array, out: Array) -> None:
    """Takes x where the condition holds, else y: by bits, since `numpy.where` branches."""
    if out.size <= _SMALL:
        np.copyto(out, np.where(condition, x, y))
        return
    integer = np.dtype(f"i{out.itemsize}")
    mask = borrowed(0, out.shape, integer)
    # One byte of -1 widens to a mask of all ones.
    np.copyto(mask, np.negative(condition.view(np.int8)))
    bits, other = out.view(integer), y.view(integer)
    np.bitwise_xor(x.view(integer), other, out=bits)
    np.bitwise_and(bits, mask, out=bits)
    np.bitwise_xor(bits, other, out=bits)


def nextafter_float16(x: Array, y: Array, out: Array) -> None:
    """The float16 next to x in the direction of y; both hold float16 values."""
    np.copyto(out, np.nextafter(x.astype(np.float16), y.astype(np.float16)))


def nextafter_bfloat16(x: Array, y: Array, out: Array) -> None:
    """The bfloat16 next to x in the direction of y; both hold bfloat16 values.

    As sign and magnitude, neighbouring floats are neighbouring integers.
    """
    bits = np.broadcast_to(x, out.shape).view(np.int32) >> 16
    outwards = (y > x) == (x > 0)
    stepped = bits + np.where(outwards, 1, -1).astype(np.int32)
    stepped = np.where(x == 0, np.where(np.signbit(y), -32767, 1), stepped).astype(np.int32)
    found = np.asarray(stepped << 16).view(np.float32)
    found = np.where(x == y, y, found)
    np.copyto(out, np.where(np.isnan(x) | np.isnan(y), np.float32(np.nan), found))


# Chebyshev fits at 40 digits, lowest power first. Below 1: erf(x)/x in x². From 1 on:
# exp(x²)·erfc(x) in u = (x - 5/2)/(x + 5/2), up to where erf rounds to 1.
_ERF_NEAR: Final = {
    "f": (1.1283791658483509, -0.37612626666720334, 0.11283594715160218, -0.026854212010626412,
          0.005189087423433974, -0.000801686428716587, 7.875875062685488e-05),
    "d": (1.1283791670955126, -0.3761263890318375, 0.11283791670954879, -0.026866170645076792,
          0.0052239776248180145, -0.000854832698083379, 0.0001205533111164271,
          -1.4925595266831182e-05, 1.6461000484121368e-06, -1.6350312701054695e-07,
          1.4659775274047436e-08, -1.1372848856791674e-09, 5.957176147748911e-11),
}  # fmt: skip
_ERF_FAR: Final = {
    "f": (0.21080636426621585, -0.37173672495993376, 0.2517131334974789, -0.12503395508301737,
          0.03992453356202979, -0.00396896239471436, -0.002645356446487811,
          0.0006626698724680748),
    "d": (0.2108063640611436, -0.37173673394897333, 0.2517131932174492, -0.12503305237882886,
          0.03992253907559357, -0.0039937011658959225, -0.002642365964816812,
          0.0008759154515777119, 0.00022838039426582933, -0.00012887720055484983,
          -3.41824935809924e-05, 1.8614791904586304e-05, 7.555093927009722e-06,
          -2.3002823742431595e-06, -1.81627901800887e-06, 8.520122382564343e-08,
          3.882119575673581e-07, 5.906418717696655e-08, -5.6640267769039343e-08),
}  # fmt: skip
_ERF_ONE: Final = {"f": 4.2, "d": 6.2}


def erf(x: Array, out: Array) -> None:
    """The error function, within 2.5 ulp in float32 and 1.5 in float64."""
    kind, real = out.dtype.char, out.dtype.type
    near, far, work, bounded = (borrowed(n, x.shape, x.dtype) for n in range(1, 5))
    _polynomial(_ERF_NEAR[kind], np.multiply(x, x, out=work), near)
    np.multiply(near, x, out=near)
    np.minimum(np.abs(x, out=bounded), real(_ERF_ONE[kind]), out=bounded)
    half = real(2.5)
    np.divide(np.subtract(bounded, half, out=work), np.add(bounded, half, out=far), out=work)
    _polynomial(_ERF_FAR[kind], work, far)
    np.multiply(np.negative(bounded, out=work), bounded, out=work)
    np.multiply(far, np.exp(work, out=work), out=far)
    np.subtract(_ONE[out.dtype], far, out=far)
    np.copysign(far, x, out=far)
    select(np.less(bounded, real(1)), near, far, out)


def _polynomial(coefficients: Sequence[float], x: Array, out: Array) -> None:
    """Horner's rule, each step rounded."""
    real = x.dtype.type
    out[...] = real(coefficients[-1])
    for coefficient in coefficients[-2::-1]:
        np.multiply(out, x, out=out)
        np.add(out, real(coefficient), out=out)
