"""Testing: comparisons for tests of programs that use tensors."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["assert_all_close", "assert_same_bits"]


def assert_all_close(x: Any, y: Any, *, atol: float = 1e-6, rtol: float = 1e-6) -> None:
    """Raises AssertionError unless ``|x - y| <= atol + rtol * |y|`` everywhere, NaN equal to NaN."""
    np.testing.assert_allclose(_wide(x), _wide(y), atol=atol, rtol=rtol, equal_nan=True)


def assert_same_bits(x: Any, y: Any) -> None:
    """Raises AssertionError unless dtypes, shapes and bits are equal; all NaNs count as equal."""
    first, second = np.asarray(x), np.asarray(y)
    if first.dtype != second.dtype or first.shape != second.shape:
        raise AssertionError(
            f"{first.dtype}{list(first.shape)} and {second.dtype}{list(second.shape)} differ"
        )
    np.testing.assert_array_equal(_wide(first), _wide(second))
    signs = np.signbit(_wide(first)) != np.signbit(_wide(second))
    wrong = signs & ~np.isnan(_wide(first).astype(np.float64))
    if wrong.any():
        raise AssertionError(f"{int(wrong.sum())} zeros differ in sign")


def _wide(x: Any) -> Any:
    array = np.asarray(x)
    return array if array.dtype.kind in "biuf" else array.astype(np.float32)
