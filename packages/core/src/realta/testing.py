"""Testing: comparisons for tests of programs that use tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["assert_all_close", "assert_same_bits"]


def assert_all_close(x: Any, y: Any, *, atol: float = 1e-6, rtol: float = 1e-6) -> None:
    """Raises AssertionError unless ``|x - y| <= atol + rtol * |y|``, NaN being equal to NaN.

    Args:
        x: tensor or array.
        y: what it should be; of the same shape.
        atol: absolute tolerance.
        rtol: relative tolerance.
    """
    np.testing.assert_allclose(_wide(x), _wide(y), atol=atol, rtol=rtol, equal_nan=True)


def assert_same_bits(x: Any, y: Any) -> None:
    """Raises AssertionError unless dtypes, shapes and bits are equal; all NaNs count as equal.

    Args:
        x: tensor or array.
        y: what it should be.
    """
    first, second = np.asarray(x), np.asarray(y)
    if first.dtype != second.dtype or first.shape != second.shape:
        raise AssertionError(
            f"{first.dtype}{list(first.shape)} and {second.dtype}{list(second.shape)} differ"
        )
    wrong = _bits(first) != _bits(second)
    if first.dtype.kind not in "biu":
        wrong &= ~(np.isnan(first) & np.isnan(second))
    places = np.argwhere(wrong)
    if len(places):
        place = tuple(int(n) for n in places[0])
        raise AssertionError(
            f"{len(places)} of {first.size} elements differ, the first at {place}: "
            f"{first[place]!r} and {second[place]!r}"
        )


def _bits(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(array.shape)


def _wide(x: Any) -> NDArray[Any]:
    array = np.asarray(x)
    return array if array.dtype.kind in "biuf" else array.astype(np.float32)
