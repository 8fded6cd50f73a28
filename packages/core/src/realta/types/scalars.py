"""Weak scalars: how a Python number joins a tensor without deciding its dtype."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from realta.errors import DTypeError, ScalarOverflowError
from realta.types.dtypes import STORAGE_ONLY, DType, bfloat16, bool_, float32, int64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["convert_scalar", "is_weak", "weak_dtype"]

Scalar = bool | int | float


def is_weak(value: object) -> bool:
    """Whether a value is a weak scalar: Python bool, int, float, or np.float64 (which is a float).

    Other NumPy scalars count as 0-d arrays of their dtype.
    """
    return isinstance(value, (bool, int, float))


def weak_dtype(value: Scalar, dtype: DType, *, default_float: DType = float32) -> DType:
    """The dtype in which a tensor of ``dtype`` and a weak scalar are combined.

    The tensor's dtype if its kind allows the scalar (bool < int < float); otherwise int64 for an
    int beside a bool, the default float for a float beside a bool or an integer. Source: spec 3.

    Raises:
        ScalarOverflowError: an int that ``dtype`` cannot hold; also an OverflowError.
        DTypeError: ``dtype`` is for storage only.
    """
    if dtype in STORAGE_ONLY:
        raise DTypeError(
            f"{dtype} is for storage only and takes no part in arithmetic",
            fix="cast it first, for example with .cast(float32)",
        )
    if isinstance(value, bool):
        return dtype
    if isinstance(value, float):
        return dtype if dtype.is_float else default_float
    found = int64 if dtype is bool_ else dtype
    _check_range(value, found)
    return found


def convert_scalar(value: Scalar, dtype: DType) -> NDArray[Any]:
    """A scalar as a 0-d array of ``dtype``, rounded once to nearest even where it is a float type.

    Raises:
        ScalarOverflowError: an int that an integer ``dtype`` cannot hold, or no float can.
        DTypeError: a float for an integer or bool dtype that would change its value.
    """
    if dtype.is_float:
        return _as_float(value, dtype)
    if isinstance(value, float):
        if not value.is_integer():
            raise DTypeError(
                f"{value!r} is not an integer, so {dtype} cannot hold it",
                fix="give an integer, or cast the tensor to a float dtype",
            )
        value = int(value)
    if dtype is bool_:
        if value not in (0, 1):
            raise DTypeError(
                f"{value!r} is neither True nor False", fix="compare it, or cast the tensor"
            )
        return np.array(bool(value))
    _check_range(value, dtype)
    return np.array(value, dtype=dtype.numpy)


def _check_range(value: int, dtype: DType) -> None:
    if dtype.is_float:
        _to_double(value)
        return
    info = np.iinfo(dtype.numpy)
    if not info.min <= value <= info.max:
        raise ScalarOverflowError(
            f"the integer {value} does not fit {dtype} ({info.min} to {info.max})",
            fix="cast the tensor to a wider dtype first",
        )


def _to_double(value: int) -> float:
    """An int as a float64 that rounds to narrower types as the int itself would (round to odd)."""
    shift = max(abs(value).bit_length() - 60, 0)
    kept = abs(value) >> shift
    if shift and abs(value) & ((1 << shift) - 1):
        kept |= 1
    over = max(kept.bit_length() - 53, 0)
    if over:
        sticky = 1 if kept & ((1 << over) - 1) else 0
        kept = (kept >> over) | sticky
    try:
        return math.copysign(math.ldexp(kept, shift + over), value)
    except OverflowError:
        raise ScalarOverflowError(
            f"an integer of {abs(value).bit_length()} bits does not fit any float dtype",
            fix="scale it first",
        ) from None


def _as_float(value: Scalar, dtype: DType) -> NDArray[Any]:
    if dtype.itemsize == 8:
        _to_double(value) if isinstance(value, int) else None
        return np.array(float(value), dtype=dtype.numpy)
    double = value if isinstance(value, float) else _to_double(int(value))
    with np.errstate(over="ignore", under="ignore"):
        if dtype is bfloat16 or dtype in STORAGE_ONLY:
            # ml_dtypes goes through float32; rounding to odd there keeps the second rounding right.
            return np.array(_single_to_odd(double)).astype(dtype.numpy)
        return np.array(double).astype(dtype.numpy)


def _single_to_odd(double: float) -> np.float32:
    single = np.float32(double)
    if not math.isfinite(double) or float(single) == double or not np.isfinite(single):
        return single
    if abs(float(single)) > abs(double):
        single = np.nextafter(single, np.float32(0))
    bits = single.view(np.uint32) | np.uint32(1)
    return bits.view(np.float32)
