"""Integer functions: division, power and shifts that have no bad operands.

Results wrap. Division and modulo by zero give 0, which is what NumPy's own give with warnings
off; so do shifts by the width or more, or -1 for a negative number shifted right that far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["power", "shift_right"]

Array = NDArray[Any]


def power(x: Array, y: Array, out: Array) -> None:
    """X to the power of y, wrapping; a negative exponent gives 1 for 1, ±1 for -1, else 0."""
    if out.dtype.kind == "u" or not (y < 0).any():
        np.power(x, y, out=out)
        return
    np.power(x, np.maximum(y, 0), out=out)
    inverse = np.where(x == 1, 1, np.where(x == -1, np.where(y & 1, -1, 1), 0))
    np.copyto(out, inverse, where=y < 0, casting="unsafe")


def shift_right(x: Array, amount: Array, out: Array) -> None:
    """X shifted right keeping its sign; by a negative amount 0."""
    np.right_shift(x, amount, out=out)
    if out.dtype.kind == "i":
        # Shifting the amount by all its bits but one leaves -1 exactly for negative amounts.
        gone = np.invert(np.right_shift(amount, amount.dtype.itemsize * 8 - 1))
        np.bitwise_and(out, gone, out=out)
