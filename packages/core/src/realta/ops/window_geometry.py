"""Window geometry: how many windows fit along an axis, and views of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.errors import ShapeError
from realta.ops.conversion import Array
from realta.ops.rules import extents
from realta.types import Dim

__all__ = ["check_sizes", "padded", "reach", "spread", "window_count", "windows"]


def check_sizes(name: str, sizes: Sequence[Any], axes: int, least: int) -> None:
    """Raises ShapeError unless there is one size for each axis and none is less than ``least``."""
    if len(sizes) != axes:
        raise ShapeError(
            f"{name} has {len(sizes)} entries for {axes} axes", fix="give one entry for each axis"
        )
    small = [size for size in sizes if type(size) is int and size < least]
    if small:
        raise ShapeError(
            f"{name} {extents(sizes)} has the entry {small[0]}", fix=f"give entries of {least} up"
        )


def reach(window: Any, dilation: Any) -> Any:
    """How many places a window of elements ``dilation`` apart covers."""
    return (window - 1) * dilation + 1


def spread(extent: Any, dilation: Any) -> Any:
    """The extent of an axis whose elements are moved ``dilation`` apart."""
    if type(extent) is int and extent == 0:
        return 0
    return reach(extent, dilation)


def window_count(
    axis: int, extent: int | Dim, window: int | Dim, stride: int, low: Any, high: Any, dilation: int
) -> int | Dim:
    """The number of windows along an axis: ``(low + extent + high - reach) // stride + 1``.

    Raises:
        ShapeError: the window does not fit even once.
    """
    free: Any = low + extent + high - reach(window, dilation)
    if type(free) is int and free < 0:
        padding = f" and padding of {low} and {high}" if low or high else ""
        spaced = f", {dilation} apart," if dilation != 1 else ""
        raise ShapeError(
            f"a window of {window} elements{spaced} does not fit axis {axis}, which has an extent "
            f"of {extent}{padding}",
            fix="use a smaller window or more padding",
        )
    counted: int | Dim = free // stride + 1
    return counted


def padded(
    x: Array, low: Sequence[int], high: Sequence[int], spacing: Sequence[int], fill: Any
) -> Array:
    """The array with its elements moved apart and a border, both filled with one value."""
    spaced = [spread(d, s) for d, s in zip(x.shape, spacing, strict=True)]
    shape = tuple(a + d + b for a, d, b in zip(low, spaced, high, strict=True))
    if shape == x.shape:
        return x
    result = np.full(shape, fill, x.dtype)
    places = zip(low, spaced, spacing, strict=True)
    result[tuple(slice(a, a + d, s) for a, d, s in places)] = x
    return result


def windows(
    x: Array, window: Sequence[int], strides: Sequence[int], dilation: Sequence[int]
) -> Array:
    """All windows of an array that is padded already: a view with axes count…, window…."""
    counts = tuple(
        (n - reach(w, d)) // s + 1
        for n, w, s, d in zip(x.shape, window, strides, dilation, strict=True)
    )
    steps = (
        *(step * s for step, s in zip(x.strides, strides, strict=True)),
        *(step * d for step, d in zip(x.strides, dilation, strict=True)),
    )
    return np.lib.stride_tricks.as_strided(x, (*counts, *window), steps, writeable=False)
