"""Sorting: stable, NaN last in both directions; -0 and 0 are equal and keep their order."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["argsort_lines", "sort_lines"]

Array = NDArray[Any]


def sort_lines(x: Array, descending: bool) -> Array:
    """A register sorted along its last axis.

    Equal elements are alike except for zeros, so NumPy's fastest sort serves and only the zeros are
    put back in their order.
    """
    result = np.sort(x, axis=-1)
    if x.dtype.kind == "f":
        _restore_zeros(x, result)
    if not descending:
        return result
    if x.dtype.kind != "f":
        return result[..., ::-1]
    return _reverse_numbers(x, result)


def _restore_zeros(x: Array, result: Array) -> None:
    zero = x == 0
    if not (zero & np.signbit(x)).any():
        return
    # Line by line in row-major order, both masks have the same number of places.
    result[result == 0] = x[zero]


def _reverse_numbers(x: Array, ascending: Array) -> Array:
    """Ascending lines with NaN last, turned round with NaN still last and zeros in their order."""
    nans = np.isnan(ascending).sum(axis=-1, keepdims=True)
    if nans.any():
        n = x.shape[-1]
        place = np.arange(n)
        numbers = n - nans
        source = np.where(place < numbers, numbers - 1 - place, place)
        result = np.take_along_axis(ascending, source, axis=-1)
    else:
        result = ascending[..., ::-1].copy()
    _restore_zeros(x, result)
    return np.asarray(result)


def argsort_lines(x: Array, descending: bool) -> Array:
    """The int64 order that sorts a register along its last axis, stable in both directions."""
    if not descending:
        return np.asarray(np.argsort(x, axis=-1, kind="stable"))
    if x.dtype.kind == "f":
        # Negated, a descending order is an ascending one, ties keep their places, NaN stays last.
        return np.asarray(np.argsort(np.negative(x), axis=-1, kind="stable"))
    return np.asarray(np.argsort(np.invert(x), axis=-1, kind="stable"))
