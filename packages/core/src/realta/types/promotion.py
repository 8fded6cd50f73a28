"""Promotion: the dtype that two dtypes have in common, and the dtype of a sum."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce
from typing import Final

from realta.errors import ArgumentError, DTypeError
from realta.types.dtypes import (
    BY_NAME,
    DTYPES,
    STORAGE_ONLY,
    DType,
    bool_,
    float32,
    int64,
    uint64,
)

__all__ = ["promote", "promote_all", "sum_dtype"]


def _common(a: DType, b: DType) -> DType | None:
    """The lattice of spec 5, None where two types have no common one."""
    if a is b:
        return a
    if a in STORAGE_ONLY or b in STORAGE_ONLY:
        return None
    if b is bool_ or (a.is_float and not b.is_float):
        return a
    if a is bool_ or (b.is_float and not a.is_float):
        return b
    if a.kind == b.kind and a.itemsize != b.itemsize:
        return a if a.itemsize > b.itemsize else b
    if a.is_float:  # float16 and bfloat16
        return float32
    signed, unsigned = (a, b) if a.kind == "int" else (b, a)
    if signed.itemsize > unsigned.itemsize:
        return signed
    return BY_NAME.get(f"int{2 * unsigned.bits}")


_TABLE: Final[Mapping[tuple[DType, DType], DType | None]] = {
    (a, b): _common(a, b) for a in DTYPES for b in DTYPES
}


def promote(a: DType, b: DType) -> DType:
    """The dtype in which tensors of dtypes ``a`` and ``b`` are combined.

    Bool gives way to everything, integers to floats; among integers the array API's lattice holds;
    float16 with bfloat16 gives float32. Formulas: spec 5.

    Raises:
        DTypeError: there is none: uint64 with a signed integer, or float8 with anything else.
    """
    found = _TABLE[a, b]
    if found is not None:
        return found
    if a in STORAGE_ONLY or b in STORAGE_ONLY:
        storage = a if a in STORAGE_ONLY else b
        fix = f"{storage} is for storage only: cast it first, for example with .cast(float32)"
    else:
        fix = "cast one of them first: uint64 does not fit a signed type, nor the other way round"
    raise DTypeError(f"{a} and {b} have no common dtype", fix=fix)


def promote_all(dtypes: Iterable[DType]) -> DType:
    """The dtype in which tensors of all these dtypes are combined.

    The order does not matter: floats win over integers before integers meet each other.

    Raises:
        DTypeError: two of them have no common dtype.
        ArgumentError: there are none.
    """
    given = list(dtypes)
    if not given:
        raise ArgumentError("no dtypes to promote", fix="give at least one tensor")
    floats = [d for d in given if d.is_float]
    return reduce(promote, floats or given)


def sum_dtype(dtype: DType) -> DType:
    """The dtype of the sum or product of a tensor: int64 or uint64 for bool and integers."""
    if dtype.is_float:
        return dtype
    return uint64 if dtype.kind == "uint" else int64
