"""Folding: windows of images laid out as columns, and columns added up to images again."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from realta.errors import ShapeError
from realta.functional.arguments import (
    apply,
    constant_of,
    known_extent,
    one_device,
    reshaped,
    scalar_like,
)
from realta.functional.operation import operation
from realta.functional.window_arguments import Sizes, check_rank, per_axis
from realta.tensor import Tensor
from realta.types import int64, tensor_type

__all__ = ["fold", "unfold"]

Array = np.ndarray[Any, np.dtype[Any]]
Numbers = int | Sequence[int]


def _places(
    extents: Sizes, window: Sizes, strides: Sizes, dilation: Sizes, padding: Sizes
) -> tuple[list[Array], list[Array]]:
    """For each axis the place of each element of each window, and whether it is in the image."""
    places, inside = [], []
    for n, extent in enumerate(extents):
        count = (extent + 2 * padding[n] - (window[n] - 1) * dilation[n] - 1) // strides[n] + 1
        if count < 1:
            raise ShapeError(
                f"a window of {window[n]} elements, {dilation[n]} apart, does not fit an extent of "
                f"{extent} with a padding of {padding[n]}",
                fix="use a smaller window or more padding",
            )
        starts = np.arange(count) * strides[n] - padding[n]
        place = np.arange(window[n])[:, None] * dilation[n] + starts
        places.append(place)
        inside.append((place >= 0) & (place < extent))
    return places, inside


def _flat(
    extents: Sizes, window: Sizes, strides: Sizes, dilation: Sizes, padding: Sizes
) -> tuple[Array, Array]:
    """Row-major positions in the image, as (elements of a window, windows), and which are in it."""
    (down, across), (has, holds) = _places(extents, window, strides, dilation, padding)
    position = down[:, None, :, None] * extents[1] + across[None, :, None, :]
    there = has[:, None, :, None] & holds[None, :, None, :]
    shape = (prod(window), down.shape[1] * across.shape[1])
    return position.reshape(shape), there.reshape(shape)


def _gathered(tensor: Tensor, index: Array) -> Tensor:
    known = constant_of(index, tensor_type(int64, index.shape, tensor._type.device))
    return apply("gather", tensor, known, axis=2)


def _with_zero(tensor: Tensor) -> Tensor:
    """A zero put after the last axis, for indices that name nothing."""
    zero = scalar_like(0, tensor.dtype, tensor._type.device)
    return apply("pad", tensor, zero, low=(0, 0, 0), high=(0, 0, 1))


@operation
def unfold(
    input: Any,
    kernel_size: Numbers,
    stride: Numbers = 1,
    dilation: Numbers = 1,
    padding: Numbers = 0,
) -> Tensor:
    """The windows of images as columns.

    Args:
        input: shape (batch, channels, height, width).
        kernel_size: extents of a window: one number, or two.
        stride: how far apart windows start.
        dilation: how far apart the elements of a window are.
        padding: zeros on both sides of each axis.

    Returns:
        Shape (batch, channels * elements of a window, windows), windows in row-major order.

    Raises:
        ShapeError: a wrong rank, or a window that does not fit.
        ArgumentError: a wrong number of sizes, or sizes that are too small.
    """
    (x,) = one_device("unfold", input)
    check_rank("unfold", "an input", x, 4, "NCHW")
    extents = (known_extent(x, 2), known_extent(x, 3))
    position, there = _flat(extents, *_sizes(kernel_size, stride, dilation, padding))
    batch, channels = x._type.shape[:2]
    flat = reshaped(x, (batch, channels, prod(extents)))
    if not there.all():
        flat = _with_zero(flat)
    found = _gathered(flat, np.where(there, position, prod(extents)))
    return reshaped(found, (batch, channels * position.shape[0], position.shape[1]))


def _sizes(
    kernel_size: Numbers, stride: Numbers, dilation: Numbers, padding: Numbers
) -> tuple[Sizes, Sizes, Sizes, Sizes]:
    return (
        per_axis("kernel_size", kernel_size, 2), per_axis("stride", stride, 2),
        per_axis("dilation", dilation, 2), per_axis("padding", padding, 2, 0),
    )  # fmt: skip


@operation
def fold(
    input: Any,
    output_size: Numbers,
    kernel_size: Numbers,
    stride: Numbers = 1,
    dilation: Numbers = 1,
    padding: Numbers = 0,
) -> Tensor:
    """Columns added up to images: each element is the sum of what `unfold` would make of it.

    Args:
        input: shape (batch, channels * elements of a window, windows).
        output_size: height and width of the images: one number, or two.
        kernel_size: extents of a window.
        stride: how far apart windows start.
        dilation: how far apart the elements of a window are.
        padding: how far windows reach out of the images; what lies there is left out.

    Returns:
        Shape (batch, channels, height, width).

    Raises:
        ShapeError: wrong extents, or a window that does not fit.
        ArgumentError: a wrong number of sizes, or sizes that are too small.
    """
    (x,) = one_device("fold", input)
    check_rank("fold", "an input", x, 3, "batch, channels * window, windows")
    extents = per_axis("output_size", output_size, 2)
    position, there = _flat(extents, *_sizes(kernel_size, stride, dilation, padding))
    rows, columns = known_extent(x, 1), known_extent(x, 2)
    if rows % position.shape[0] or columns != position.shape[1]:
        raise ShapeError(
            f"fold of {x.type} to {extents} takes a multiple of {position.shape[0]} rows and "
            f"{position.shape[1]} columns",
            fix="give the sizes that the columns were made with",
        )
    batch, channels = x._type.shape[0], rows // position.shape[0]
    flat = _with_zero(reshaped(x, (batch, channels, position.size)))
    terms = _gathered(flat, _sources(position, there, prod(extents)))
    return reshaped(apply("sum", terms, axes=(3,)), (batch, channels, *extents))


def _sources(position: Array, there: Array, places: int) -> Array:
    """For each place of the image the elements that fall on it, in order; then the zero's index."""
    order = np.flatnonzero(there.ravel())
    target = position.ravel()[order]
    order = order[np.argsort(target, kind="stable")]
    counts = np.bincount(target, minlength=places)
    found = np.full((places, max(int(counts.max(initial=0)), 1)), position.size)
    starts = np.repeat(np.cumsum(counts) - counts, counts)
    found[np.repeat(np.arange(places), counts), np.arange(order.size) - starts] = order
    return found
