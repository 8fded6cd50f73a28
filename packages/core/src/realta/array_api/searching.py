"""Searching, sorting and set functions under the standard's names."""

from __future__ import annotations

from typing import Any

import realta.functional as F
from realta.functional import (
    argmax,
    argmin,
    argsort,
    nonzero,
    searchsorted,
    sort,
    unique_all,
    unique_counts,
    unique_inverse,
    unique_values,
    where,
)
from realta.functional.arguments import known_extent, promoted
from realta.functional.operation import operation
from realta.tensor import Tensor
from realta.types import bool_, int64, uint8

__all__ = [
    "argmax", "argmin", "argsort", "count_nonzero", "isin", "nonzero", "searchsorted", "sort",
    "unique_all", "unique_counts", "unique_inverse", "unique_values", "where",
]  # fmt: skip


@operation
def count_nonzero(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """How many elements along axes are not zero (int64); arguments as in `F.sum`."""
    return F.sum(F.not_equal(x, 0), axis, dtype=int64, keepdims=keepdims)


@operation
def isin(x1: Any, x2: Any, /, *, invert: bool = False) -> Tensor:
    """For each element of a tensor whether it occurs in another; NaN occurs nowhere.

    Args:
        x1: tensor or number.
        x2: tensor or number.
        invert: whether to tell which elements do not occur.

    Returns:
        A bool tensor of the shape of ``x1``.
    """
    values, others = promoted("isin", x1, x2)
    if values.dtype is bool_:
        values, others = F.cast(values, uint8), F.cast(others, uint8)
    if values.dtype.is_float:  # 0 and -0 are equal, and here must lie in one place
        values, others = values + 0.0, others + 0.0
    row = F.sort(F.reshape(others, (-1,)) if others.rank != 1 else others)
    extent = known_extent(row, 0)
    if not extent:
        found = F.zeros_like(values, dtype=bool_)
    else:
        places = F.minimum(F.searchsorted(row, values), extent - 1)
        found = F.equal(F.take(row, places, axis=0, mode="clip"), values)
    return F.logical_not(found) if invert else found
