"""Integer arithmetic of spec 5: floor division, modulo, power and shifts that have no bad operands.

Results wrap to the operands' type. Division and modulo by zero give 0; so do shifts by negative
amounts and by the width or more (-1 for a negative number shifted right that far).
"""

from __future__ import annotations

import numpy as np

from realta.ops.conversion import Array

__all__ = ["floor_divide", "modulo", "power", "shift_left", "shift_right"]


def floor_divide(x: Array, y: Array) -> Array:
    """The quotient rounded down; the lowest integer divided by -1 wraps to itself."""
    zero = y == 0
    return np.where(zero, 0, np.floor_divide(x, np.where(zero, 1, y))).astype(x.dtype)


def modulo(x: Array, y: Array) -> Array:
    """The remainder of floor division, with the divisor's sign."""
    zero = y == 0
    return np.where(zero, 0, np.mod(x, np.where(zero, 1, y))).astype(x.dtype)


def power(x: Array, y: Array) -> Array:
    """X to the power of y by repeated squaring, wrapping.

    A negative exponent gives the truncated true value: 1 for base 1, ±1 for base -1, else 0.
    """
    negative = y < 0
    base, exponent = x.copy(), np.where(negative, 0, y).astype(y.dtype)
    result = np.ones_like(x)
    for _ in range(y.dtype.itemsize * 8):
        if not np.any(exponent):
            break
        result = np.where(exponent & 1 != 0, result * base, result)
        base = base * base
        exponent = exponent >> 1
    odd = np.where(y & 1 != 0, x, np.ones_like(x))
    inverse = np.where(x == 1, 1, np.where((x < 0) & (~x == 0), odd, 0))
    return np.where(negative, inverse, result).astype(x.dtype)


def _outside(x: Array, amount: Array) -> tuple[Array, Array]:
    """Where an amount is negative or not below the width, and the amounts with those made 0."""
    outside = (amount < 0) | (amount >= x.dtype.itemsize * 8)
    return outside, np.where(outside, 0, amount).astype(x.dtype)


def shift_left(x: Array, amount: Array) -> Array:
    """X times two to the power of the amount, wrapping."""
    outside, safe = _outside(x, amount)
    return np.where(outside, 0, np.left_shift(x, safe)).astype(x.dtype)


def shift_right(x: Array, amount: Array) -> Array:
    """X divided by two to the power of the amount, rounded down."""
    outside, safe = _outside(x, amount)
    gone = np.where((x < 0) & (amount > 0), -1, 0).astype(x.dtype)
    return np.where(outside, gone, np.right_shift(x, safe)).astype(x.dtype)
