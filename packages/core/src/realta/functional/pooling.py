"""Pooling: the largest element or the mean of each window of images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from realta.errors import ArgumentError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    constant_of,
    known_extent,
    one_device,
)
from realta.functional.operation import operation
from realta.functional.window_arguments import (
    Sizes,
    channels_first,
    channels_last,
    check_fits,
    check_rank,
    from_channels_last,
    per_axis,
)
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import float32, float64, tensor_type

__all__ = ["avg_pool2d", "max_pool2d"]

Numbers = int | Sequence[int]


@dataclass(frozen=True, slots=True)
class _Pool:
    """Windows over two axes of places: extents, strides, dilation, padding before and after."""

    window: Sizes
    strides: Sizes
    dilation: Sizes
    padding: Sizes
    high: Sizes

    def reach(self, n: int) -> int:
        return (self.window[n] - 1) * self.dilation[n] + 1

    def attrs(self, reduce: str) -> dict[str, Any]:
        return {
            "window": (1, *self.window, 1), "strides": (1, *self.strides, 1),
            "low": (0, *self.padding, 0), "high": (0, *self.high, 0),
            "dilation": (1, *self.dilation, 1), "reduce": reduce,
        }  # fmt: skip

    def counted(self, n: int, extent: int, count: int, boundary: bool) -> list[int]:
        """How many elements each window of an axis has, with or without those of the padding."""
        low, high = (-self.padding[n], extent + self.padding[n]) if boundary else (0, extent)
        starts = [k * self.strides[n] - self.padding[n] for k in range(count)]
        apart = range(0, self.reach(n), self.dilation[n])
        return [sum(low <= start + k < high for k in apart) for start in starts]


def _high(extent: int, reach: int, stride: int, padding: int) -> int:
    """Padding after an axis so that the last, partial window counts: none starts in the padding."""
    count = -(-(extent + 2 * padding - reach) // stride) + 1
    if (count - 1) * stride >= extent + padding:
        count -= 1
    return max((count - 1) * stride + reach - extent - padding, 0)


def _pool(
    name: str, x: Tensor, kernel_size: Numbers, stride: Numbers, dilation: Numbers,
    padding: Numbers, ceil_mode: bool, first: bool,
) -> _Pool:  # fmt: skip
    window, strides = per_axis("kernel_size", kernel_size, 2), per_axis("stride", stride, 2)
    apart, border = per_axis("dilation", dilation, 2), per_axis("padding", padding, 2, 0)
    high = border
    reach = [(w - 1) * d + 1 for w, d in zip(window, apart, strict=True)]
    for n in range(2):
        if 2 * border[n] > reach[n]:
            raise ArgumentError(
                f"a padding of {border[n]} for a window over {reach[n]} elements",
                fix="give at most half of the window, so that each one holds an element",
            )
    check_fits(name, x._type.shape[1:3], window, apart, (border, border), first)
    if ceil_mode:
        high = tuple(
            _high(known_extent(x, n + 1), reach[n], strides[n], border[n]) for n in range(2)
        )
    return _Pool(window, strides, apart, border, high)


@operation
def max_pool2d(
    input: Any,
    kernel_size: Numbers,
    stride: Numbers = 1,
    dilation: Numbers = 1,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    *,
    input_layout: str = "NHWC",
) -> Tensor:
    """The largest element of each window; padding is never the largest, NaN always is.

    Args:
        input: shape (batch, height, width, channels), or ``"NCHW"``.
        kernel_size: extents of a window: one number, or two.
        stride: how far apart windows start (1, not the window, if left out).
        dilation: how far apart the elements of a window are.
        padding: how far windows may reach out on both sides, at most half a window.
        ceil_mode: whether a last window that lies partly outside counts too.
        input_layout: ``"NHWC"`` or ``"NCHW"``; the result has it too.

    Raises:
        ShapeError: a wrong rank, or a window that does not fit.
        ArgumentError: a wrong number of sizes, or sizes that are too small or too large.
    """
    (tensor,) = one_device("max_pool2d", input)
    first = channels_first("max_pool2d", input_layout, 2)
    check_rank("max_pool2d", "an input", tensor, 4, input_layout)
    x = channels_last(tensor, first)
    pool = _pool("max_pool2d", x, kernel_size, stride, dilation, padding, ceil_mode, first)
    return from_channels_last(apply("reduce_window", x, **pool.attrs("max")), first)


@operation
def avg_pool2d(
    input: Any,
    kernel_size: Numbers,
    stride: Numbers = 1,
    dilation: Numbers = 1,
    padding: Numbers = 0,
    ceil_mode: bool = False,
    count_boundary: bool = True,
    *,
    input_layout: str = "NHWC",
) -> Tensor:
    """The mean of each window.

    Args:
        input: shape (batch, height, width, channels), or ``"NCHW"``.
        kernel_size: extents of a window: one number, or two.
        stride: how far apart windows start (1, not the window, if left out).
        dilation: how far apart the elements of a window are.
        padding: how many zeros there are on both sides, at most half a window.
        ceil_mode: whether a last window that lies partly outside counts too; what lies beyond the
            padding is never counted.
        count_boundary: whether zeros of the padding count as elements of the mean.
        input_layout: ``"NHWC"`` or ``"NCHW"``; the result has it too.

    Half precision is computed in float32 and rounded once; integers are averaged in float64 and
    give the default float.

    Raises:
        ShapeError: a wrong rank, or a window that does not fit.
        ArgumentError: a wrong number of sizes, or sizes that are too small or too large.
    """
    (tensor,) = one_device("avg_pool2d", input)
    first = channels_first("avg_pool2d", input_layout, 2)
    check_rank("avg_pool2d", "an input", tensor, 4, input_layout)
    result = tensor.dtype if tensor.dtype.is_float else current_dtype()
    wide = float64 if not tensor.dtype.is_float else float32 if result.is_half else result
    x = cast_to(channels_last(tensor, first), wide)
    pool = _pool("avg_pool2d", x, kernel_size, stride, dilation, padding, ceil_mode, first)
    total = apply("reduce_window", x, **pool.attrs("add"))
    mean = apply(
        "div", total, broadcast(_counts(pool, x, total, count_boundary), total._type.shape)
    )
    return from_channels_last(cast_to(mean, result), first)


def _counts(pool: _Pool, x: Tensor, total: Tensor, boundary: bool) -> Tensor:
    """The number of elements of each window: one number, or shape (height, width, 1)."""
    device, dtype = x._type.device, x.dtype
    whole = float(pool.window[0] * pool.window[1])
    full = pool.high == pool.padding if boundary else not any((*pool.padding, *pool.high))
    if full:
        return constant_of(np.array(whole, dtype.numpy), tensor_type(dtype, (), device))
    lines = [
        pool.counted(n, known_extent(x, n + 1), known_extent(total, n + 1), boundary)
        for n in range(2)
    ]
    counts = np.multiply.outer(*lines)[..., None].astype(dtype.numpy)
    return constant_of(counts, tensor_type(dtype, counts.shape, device))
