"""Accumulation: reductions and scans along a tree whose shape depends on the extent alone.

Halving keeps the rounding error of n terms at log2(n) steps and makes the result independent of
memory layout, of other axes and of threads (spec 5b). Floats below float64 accumulate in float64,
which is more than the float32 that spec 5 asks for, and round once.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from realta.ops.conversion import Array, convert, widened
from realta.types import as_dtype

__all__ = ["accumulator", "fold", "rows", "scan"]

Combine = Callable[[Array, Array], Array]


def accumulator(x: Array) -> Array:
    """The array in the type it accumulates in: float64 for floats, its own otherwise."""
    return widened(x).astype(np.float64) if as_dtype(x.dtype).is_float else x


def rows(x: Array, axes: tuple[int, ...]) -> Array:
    """The array with the axes moved last, in row-major order, and merged into one."""
    kept = [n for n in range(x.ndim) if n not in axes]
    moved = x.transpose([*kept, *sorted(axes)])
    extents = [x.shape[n] for n in kept]
    return moved.reshape([*extents, prod(x.shape[n] for n in axes)])


def fold(combine: Combine, unit: float, x: Array, axes: tuple[int, ...]) -> Array:
    """All elements along the axes combined, halving the extent to one; the unit over none."""
    dtype = as_dtype(x.dtype)
    total = rows(accumulator(x), axes)
    if total.shape[-1] == 0:
        return np.full(total.shape[:-1], unit, dtype.numpy)
    while (extent := total.shape[-1]) > 1:
        half = (extent + 1) // 2
        merged = combine(total[..., : extent - half], total[..., half:])
        total = np.concatenate([merged, total[..., extent - half : half]], axis=-1)
    return convert(total[..., 0], dtype)


def scan(combine: Combine, x: Array, axis: int) -> Array:
    """Running combinations along an axis, doubling the stride of what is combined."""
    total = np.moveaxis(accumulator(x), axis, -1)
    stride = 1
    while stride < total.shape[-1]:
        later = combine(total[..., :-stride], total[..., stride:])
        total = np.concatenate([total[..., :stride], later], axis=-1)
        stride *= 2
    return convert(np.moveaxis(total, -1, axis), as_dtype(x.dtype))
