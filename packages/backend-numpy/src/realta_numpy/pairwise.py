"""Pairwise: terms added one after the other in eights, and the eights in pairs.

The order depends on the number of terms alone. Each term is a whole array, and arrays are added
element by element, so neither layout, nor tiles, nor threads can change a bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["pairwise"]

Array = NDArray[Any]
_RUN: Final = 8


def pairwise(ufunc: np.ufunc, first: Callable[[int], Array], term: Callable[[int], Array],
             count: int) -> Array:  # fmt: skip
    """``count`` terms combined.

    Args:
        ufunc: what combines two.
        first: makes a term as an array that may be written over.
        term: makes a term that is read once, before the next one is made.
        count: how many there are, at least 1.
    """
    return _combined(ufunc, first, term, 0, count)


def _combined(
    ufunc: np.ufunc,
    first: Callable[[int], Array],
    term: Callable[[int], Array],
    start: int,
    stop: int,
) -> Array:
    count = stop - start
    if count > _RUN:
        middle = start + -(-count // (2 * _RUN)) * _RUN
        left = _combined(ufunc, first, term, start, middle)
        return np.asarray(ufunc(left, _combined(ufunc, first, term, middle, stop), out=left))
    total = first(start)
    for number in range(start + 1, stop):
        ufunc(total, term(number), out=total)
    return total
