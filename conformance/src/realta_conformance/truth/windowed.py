"""Window truth: convolutions and reductions of windows, by the place of every single element.

Nothing is padded or moved apart here: for each element of each window it is worked out where it
comes from, and whether it comes from anywhere.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from functools import reduce as fold_left
from typing import Any, Final

import numpy as np
from realta.types import DType

from realta_conformance.formats import Array
from realta_conformance.truth.floats import FLOAT_OPS
from realta_conformance.truth.integers import wrap
from realta_conformance.truth.reductions import dot, total

__all__ = ["conv_general", "reduce_window"]


def _origins(
    extent: int, window: int, stride: int, low: int, high: int, apart: int, gap: int = 1
) -> tuple[Array, Array]:
    """For each window and each of its elements: the index it has, and whether there is one."""
    spread = (extent - 1) * gap + 1 if extent else 0
    count = (low + spread + high - (window - 1) * apart - 1) // stride + 1
    place = np.arange(count)[:, None] * stride + np.arange(window) * apart - low
    there = (place >= 0) & (place < spread) & (place % gap == 0)
    return np.where(there, place // gap, 0), there


def _elements(x: Array, axes: Sequence[tuple[Array, Array]], unit: Any) -> Array:
    """The elements of all windows: axes window of each axis…, element of each axis…."""
    rank = len(axes)
    index, there = [], np.ones((), bool)
    for n, (place, given) in enumerate(axes):
        shape = [1] * (2 * rank)
        shape[n], shape[rank + n] = place.shape
        index.append(place.reshape(shape))
        there = there & given.reshape(shape)
    if not x.size:
        return np.full(there.shape, unit, x.dtype)
    return np.where(there, x[tuple(index)], np.array(unit, x.dtype))


def conv_general(
    x: Array,
    filter: Array,
    dtype: DType,
    *,
    strides: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    input_dilation: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Array:
    """The convolution, each result an exact contraction for float64."""
    window, channels, results = filter.shape[:-2], filter.shape[-2], filter.shape[-1] // groups
    axes = [
        (np.arange(x.shape[0])[:, None], np.ones((x.shape[0], 1), bool)),
        *itertools.starmap(
            _origins,
            zip(x.shape[1:-1], window, strides, low, high, dilation, input_dilation, strict=True),
        ),
    ]
    parts = []
    for group in range(groups):
        own = x[..., group * channels : (group + 1) * channels]
        every = [*axes, (np.arange(channels)[None], np.ones((1, channels), bool))]
        view = _elements(own, every, 0)
        rank = len(every)
        counts = view.shape[: rank - 1]
        depth = math.prod(view.shape[rank:])
        left = view.reshape((1, math.prod(counts), depth))
        kernel = filter[..., group * results : (group + 1) * results]
        right = kernel.reshape((1, depth, results)).transpose(0, 2, 1)
        found = dot(left, right, exact=dtype.itemsize == 8)
        parts.append(found.reshape((*counts, results)))
    value = np.concatenate(parts, axis=-1)
    return value if dtype.is_float else wrap(dtype, value)


_EXTREMES: Final[Mapping[str, str]] = {"max": "maximum", "min": "minimum"}


def _unit(reduce: str, x: Array) -> Any:
    if reduce in ("add", "mul"):
        return 0 if reduce == "add" else 1
    sign = -1 if reduce == "max" else 1
    if x.dtype.kind == "f":
        return sign * math.inf
    info = np.iinfo(x.dtype)
    return info.min if sign < 0 else info.max


def reduce_window(
    x: Array,
    dtype: DType,
    *,
    window: Sequence[int],
    strides: Sequence[int],
    low: Sequence[int],
    high: Sequence[int],
    dilation: Sequence[int],
    reduce: str,
) -> Array:
    """Each window reduced; what lies outside the operand changes nothing."""
    lines = zip(x.shape, window, strides, low, high, dilation, strict=True)
    view = _elements(x, [_origins(*line) for line in lines], _unit(reduce, x))
    axes = tuple(range(x.ndim, 2 * x.ndim))
    if reduce in ("add", "mul"):
        return total(view, axes, dtype, multiply=reduce == "mul")
    rows = view.reshape((*view.shape[: x.ndim], math.prod(window)))
    columns = [rows[..., n] for n in range(rows.shape[-1])]
    if x.dtype.kind == "f":
        return np.asarray(fold_left(FLOAT_OPS[_EXTREMES[reduce]], columns))
    return np.asarray(rows.max(axis=-1) if reduce == "max" else rows.min(axis=-1))
