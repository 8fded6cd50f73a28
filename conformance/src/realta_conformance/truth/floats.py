"""Float truth: elementwise ops in float64, in more digits where the result is float64."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, Final

import mpmath
import numpy as np

from realta_conformance.formats import Array

__all__ = ["DIGITS", "FLOAT_OPS", "RATIONAL_OPS", "Pair", "precise", "rational"]

Pair = tuple[Array, Array]
"""A value as the sum of two doubles."""
DIGITS: Final = 40


def _maximum(x: Array, y: Array) -> Array:
    larger = np.where((x > y) | ((x == y) & ~np.signbit(x)), x, y)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, larger)


def _minimum(x: Array, y: Array) -> Array:
    smaller = np.where((x < y) | ((x == y) & np.signbit(x)), x, y)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, smaller)


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(np.signbit(x), small / (1 + small), 1 / (1 + small))


def _gelu(x: Array, approximate: str = "none") -> Array:
    if approximate == "quick":
        gate = _sigmoid(1.702 * x)
    elif approximate == "tanh":
        gate = _sigmoid(2 * math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))
    else:
        gate = np.vectorize(lambda v: math.erfc(-v / math.sqrt(2)) / 2, otypes=[np.float64])(x)
    return x * gate


FLOAT_OPS: Final[Mapping[str, Callable[..., Array]]] = {
    "neg": np.negative, "abs": np.abs, "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "round": np.rint, "sqrt": np.sqrt, "rsqrt": lambda x: 1 / np.sqrt(x),
    "exp": np.exp, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "log2": np.log2,
    "log10": np.log10, "sin": np.sin, "cos": np.cos, "tan": np.tan, "asin": np.arcsin,
    "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "erf": _erf,
    "is_nan": np.isnan, "is_inf": np.isinf, "is_finite": np.isfinite, "signbit": np.signbit,
    "logical_not": lambda x: x == 0,
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide,
    "pow": np.power, "maximum": _maximum, "minimum": _minimum, "atan2": np.arctan2,
    "hypot": np.hypot, "copysign": np.copysign, "logaddexp": np.logaddexp,
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal, "select": np.where,
    "relu": lambda x: _maximum(x, np.zeros_like(x)), "square": lambda x: x * x,
    "reciprocal": lambda x: 1 / x, "sigmoid": _sigmoid, "silu": lambda x: x * _sigmoid(x),
    "gelu": _gelu, "clip": lambda x, low, high: _minimum(_maximum(x, low), high),
}  # fmt: skip
"""Elementwise ops by name on float64 arrays."""


def _floor_div(x: float, y: float) -> Fraction | float:
    if y == 0 or math.isnan(x) or math.isnan(y) or math.isinf(x):
        return float(np.float64(x) / np.float64(y)) if y == 0 else math.nan
    if math.isinf(y):
        return -1.0 if x != 0 and (x < 0) != (y < 0) else math.copysign(0.0, x * y)
    quotient = Fraction(x) / Fraction(y)
    floor = Fraction(quotient.numerator // quotient.denominator)
    return floor or math.copysign(0.0, x) * math.copysign(1.0, y)


def _mod(x: float, y: float) -> Fraction | float:
    if y == 0 or math.isnan(x) or math.isnan(y) or math.isinf(x):
        return math.nan
    if math.isinf(y):
        same = x == 0 or (x < 0) == (y < 0)
        return (x if x != 0 else math.copysign(0.0, y)) if same else y
    quotient = Fraction(x) / Fraction(y)
    rest = Fraction(x) - Fraction(y) * (quotient.numerator // quotient.denominator)
    return rest or math.copysign(0.0, y)


RATIONAL_OPS: Final[Mapping[str, Callable[[float, float], Fraction | float]]] = {
    "floor_div": _floor_div,
    "mod": _mod,
}
"""Ops whose exact result is a fraction that float64 cannot find by one operation."""


def rational(name: str, x: Array, y: Array) -> Pair:
    """An op of `RATIONAL_OPS` on float64 arrays, exactly, as two doubles."""
    function = RATIONAL_OPS[name]
    x, y = np.broadcast_arrays(x, y)
    high = np.empty(x.shape)
    low = np.zeros(x.shape)
    for n, (a, b) in enumerate(zip(x.ravel().tolist(), y.ravel().tolist(), strict=True)):
        value = function(a, b)
        try:
            high.flat[n] = float(value)
        except OverflowError:
            high.flat[n] = math.inf if value > 0 else -math.inf
        if isinstance(value, Fraction) and math.isfinite(high.flat[n]):
            low.flat[n] = float(value - Fraction(float(high.flat[n])))
    return high, low


def _precise_gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "quick":
        return x / (1 + mpmath.exp(-mpmath.mpf(1.702) * x))
    if approximate == "tanh":
        inner = mpmath.sqrt(2 / mpmath.pi) * (x + mpmath.mpf(0.044715) * x**3)
        return x / (1 + mpmath.exp(-2 * inner))
    return x * mpmath.erfc(-x / mpmath.sqrt(2)) / 2


_PRECISE: Final[Mapping[str, Callable[..., Any]]] = {
    "rsqrt": lambda x: 1 / mpmath.sqrt(x), "exp": mpmath.exp, "expm1": mpmath.expm1,
    "log": mpmath.log, "log1p": mpmath.log1p, "log2": lambda x: mpmath.log(x, 2),
    "log10": mpmath.log10, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "asin": mpmath.asin, "acos": mpmath.acos, "atan": mpmath.atan, "sinh": mpmath.sinh,
    "cosh": mpmath.cosh, "tanh": mpmath.tanh, "asinh": mpmath.asinh, "acosh": mpmath.acosh,
    "atanh": mpmath.atanh, "erf": mpmath.erf, "pow": mpmath.power, "atan2": mpmath.atan2,
    "hypot": mpmath.hypot, "logaddexp": lambda x, y: mpmath.log(mpmath.exp(x) + mpmath.exp(y)),
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)), "silu": lambda x: x / (1 + mpmath.exp(-x)),
    "gelu": _precise_gelu,
}  # fmt: skip


def precise(name: str, operands: tuple[Array, ...], attrs: Mapping[str, Any]) -> Pair:
    """An elementwise op on float64 arrays to `DIGITS` digits, as two doubles.

    Points where the float64 result is zero, infinite or NaN are taken from it: what happens there
    is written in the standards of C and IEEE 754 and needs no digits.
    """
    with np.errstate(all="ignore"):
        high = np.array(FLOAT_OPS[name](*operands, **attrs))
    low = np.zeros(high.shape)
    function = _PRECISE.get(name)
    if function is None or high.dtype != np.float64:
        return high, low
    rows = np.broadcast_arrays(*operands)
    finite = np.isfinite(high) & (high != 0)
    for row in rows:
        finite &= np.isfinite(row)
        if name == "atan2":  # mpmath has no signed zeros
            finite &= row != 0
    with mpmath.workdps(DIGITS):
        for n in np.flatnonzero(finite):
            value = function(*[mpmath.mpf(float(row.flat[n])) for row in rows], **attrs)
            high.flat[n] = float(value)
            low.flat[n] = float(value - mpmath.mpf(float(high.flat[n])))
    return high, low
