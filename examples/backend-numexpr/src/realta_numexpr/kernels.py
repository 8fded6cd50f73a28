"""Kernels: one function for each op that this backend knows.

Elementwise ops are texts of numexpr; what moves elements or reduces axes is NumPy's work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.backend import DType, Node, bool_, float32, float64, int32, int64

from realta_numexpr.expressions import BY_KIND, SAME, evaluate

__all__ = ["DTYPES", "KERNELS"]

Array = NDArray[Any]
Kernel = Callable[..., Array]
DTYPES: Final[frozenset[DType]] = frozenset({bool_, int32, int64, float32, float64})
"""The element types that numexpr has."""


def expression(texts: str | Mapping[str, str]) -> Kernel:
    """The kernel of an expression, the same one for all element types or one for each kind."""

    def kernel(node: Node, *operands: Array) -> Array:
        text = texts if isinstance(texts, str) else texts[operands[0].dtype.kind]
        # Some of its functions know float64 only; what they return is exact in float32.
        with np.errstate(all="ignore"):
            return evaluate(text, operands).astype(node.types[0].dtype.numpy, copy=False)

    return kernel


def reduced(text: Mapping[str, str]) -> Kernel:
    """A reduction by an expression of two operands, in halves."""
    pick = expression(text)

    def kernel(node: Node, x: Array) -> Array:
        for axis in sorted(node.attrs["axes"], reverse=True):
            parts = np.moveaxis(x, axis, 0)
            while len(parts) > 1:
                half = len(parts) // 2
                joined = pick(node, parts[:half], parts[half : 2 * half])
                parts = np.concatenate([joined, parts[2 * half :]])
            x = parts[0]
        return x

    return kernel


def total(node: Node, x: Array) -> Array:
    """Sums in float64 and rounds once; integers wrap around."""
    wide = np.float64 if x.dtype.kind == "f" else x.dtype
    with np.errstate(all="ignore"):
        return np.asarray(x.sum(axis=node.attrs["axes"], dtype=wide).astype(x.dtype))


def cast(node: Node, x: Array) -> Array:
    """Converts. A float becomes the nearest integer towards zero that there is, NaN becomes 0."""
    dtype = node.types[0].dtype.numpy
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        with np.errstate(all="ignore"):
            return x.astype(dtype)
    limits = np.iinfo(dtype)
    over, under = x >= -float(limits.min), x < float(limits.min)
    inside = np.where(over | under | np.isnan(x), 0, x).astype(dtype)
    return np.where(over, limits.max, np.where(under, limits.min, inside)).astype(dtype)


def sliced(node: Node, x: Array) -> Array:
    """Elements from start to stop by step; a stop of -1 means before the first."""
    bounds = zip(node.attrs["start"], node.attrs["stop"], node.attrs["step"], strict=True)
    return x[tuple(slice(a, None if b < 0 else b, step) for a, b, step in bounds)]


KERNELS: Final[dict[str, Kernel]] = {
    **{name: expression(text) for name, text in SAME.items()},
    **{name: expression(texts) for name, texts in BY_KIND.items()},
    "max": reduced(BY_KIND["maximum"]),
    "min": reduced(BY_KIND["minimum"]),
    "sum": total,
    "cast": cast,
    "broadcast": lambda node, x: np.broadcast_to(x, node.attrs["shape"]),
    "concat": lambda node, *parts: np.concatenate(parts, axis=node.attrs["axis"]),
    "permute": lambda node, x: np.transpose(x, node.attrs["axes"]),
    "reshape": lambda node, x: np.reshape(x, node.attrs["shape"]),
    "slice": sliced,
}
