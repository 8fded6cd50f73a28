"""Convolutions over one, two or three axes of places, and the transpose of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import apply, elementwise, known_extent, promoted, reshaped
from realta.functional.operation import operation
from realta.functional.window_arguments import (
    Sizes,
    channels_first,
    channels_last,
    check_fits,
    check_rank,
    from_channels_last,
    per_axis,
    per_side,
)
from realta.ops import get_op
from realta.tensor import Tensor

__all__ = ["conv1d", "conv2d", "conv2d_transpose", "conv3d"]

Numbers = int | Sequence[int]
_FILTERS: Final = {1: ("SCF", "FCS"), 2: ("RSCF", "FCRS"), 3: ("QRSCF", "FCQRS")}


def _filter_in_order(name: str, filter: Tensor, layout: str, axes: int) -> Tensor:
    """The filter as (window…, channels of a group, results)."""
    choices = _FILTERS[axes]
    if layout not in choices:
        raise ArgumentError(
            f"{name} has no filter layout {layout!r}", fix=f"use {' or '.join(choices)}"
        )
    check_rank(name, "a filter", filter, axes + 2, layout)
    if layout == choices[0]:
        return filter
    return apply("permute", filter, axes=(*range(2, axes + 2), 1, 0))


def _operands(
    name: str, x: Any, filter: Any, bias: Any, axes: int, layouts: tuple[str, str]
) -> tuple[Tensor, Tensor, Tensor | None, bool]:
    """Both operands in normal layout, the bias, and whether channels come first."""
    first = channels_first(name, layouts[0], axes)
    given = promoted(name, x, filter, *([] if bias is None else [bias]))
    check_rank(name, "x", given[0], axes + 2, layouts[0])
    kernel = _filter_in_order(name, given[1], layouts[1], axes)
    return channels_last(given[0], first), kernel, (given[2] if len(given) > 2 else None), first


def _check_channels(name: str, x: Tensor, takes: Any, results: Any, groups: int) -> None:
    if type(groups) is not int or groups < 1:
        raise ArgumentError(f"groups={groups!r} of {name}", fix="give a number from 1 up")
    has = x._type.shape[-1]
    if isinstance(has, int) and isinstance(takes, int) and has != takes:
        raise ShapeError(
            f"the filter of {name} takes {takes} channels in {groups} group(s), x has {has}",
            fix="make the filter's channels those of x divided by groups; check both layouts",
        )
    if isinstance(results, int) and results % groups:
        raise ShapeError(
            f"the {results} results of {name} do not divide into {groups} groups",
            fix="make the results of the filter a multiple of groups",
        )


def _with_bias(name: str, y: Tensor, bias: Tensor | None) -> Tensor:
    if bias is None:
        return y
    results = y._type.shape[-1]
    if bias.rank != 1 or (isinstance(results, int) and bias._type.shape[0] != results):
        raise ShapeError(
            f"{name} got a bias of {bias.type} for {results} results",
            fix=f"give a bias of shape ({results},)",
        )
    return elementwise(get_op("add"), y, bias)


def _convolution(
    name: str, x: Any, filter: Any, bias: Any, sizes: dict[str, Any], groups: int,
    layouts: tuple[str, str], axes: int,
) -> Tensor:  # fmt: skip
    low, high = per_side("padding", sizes["padding"], axes)
    strides = per_axis("stride", sizes["stride"], axes)
    dilation = per_axis("dilation", sizes["dilation"], axes)
    source, kernel, offset, first = _operands(name, x, filter, bias, axes, layouts)
    channels, results = kernel._type.shape[-2:]
    _check_channels(name, source, channels * groups, results, groups)
    places, window = source._type.shape[1:-1], kernel._type.shape[:-2]
    check_fits(name, places, window, dilation, (low, high), first)
    found = apply(
        "conv_general", source, kernel, strides=strides, low=low, high=high,
        input_dilation=(1,) * axes, dilation=dilation, groups=groups,
    )  # fmt: skip
    return from_channels_last(_with_bias(name, found, offset), first)


@operation
def conv1d(
    x: Any,
    filter: Any,
    stride: Numbers = 1,
    dilation: Numbers = 1,
    padding: Numbers = 0,
    groups: int = 1,
    bias: Any = None,
    input_layout: str = "NLC",
    filter_layout: str = "SCF",
) -> Tensor:
    """Convolution of lines; arguments as in `conv2d`, with one axis of places.

    Args:
        x: shape (batch, length, channels), or (batch, channels, length) for ``"NCL"``.
        filter: shape (window, channels / groups, results), or reversed for ``"FCS"``.
        stride: how far apart windows start.
        dilation: how far apart the elements of a window are.
        padding: zeros on both sides, or (before, after).
        groups: parts of the channels and of the results that go together.
        bias: shape (results), or None.
        input_layout: ``"NLC"`` or ``"NCL"``; the result has it too.
        filter_layout: ``"SCF"`` or ``"FCS"``.

    Raises:
        ShapeError: wrong ranks or channels, or a window that does not fit.
        ArgumentError: a wrong number of sizes, negative ones, an unknown layout.
    """
    sizes = {"stride": stride, "dilation": dilation, "padding": padding}
    return _convolution("conv1d", x, filter, bias, sizes, groups, (input_layout, filter_layout), 1)


@operation
def conv2d(
    x: Any,
    filter: Any,
    stride: Numbers = (1, 1),
    dilation: Numbers = (1, 1),
    padding: Numbers = (0, 0, 0, 0),
    groups: int = 1,
    bias: Any = None,
    input_layout: str = "NHWC",
    filter_layout: str = "RSCF",
) -> Tensor:
    """Convolution of images: sums of products of a filter, not flipped, and windows.

    Args:
        x: shape (batch, height, width, channels), or (batch, channels, height, width) for
            ``"NCHW"``.
        filter: shape (height, width, channels / groups, results), or (results, channels / groups,
            height, width) for ``"FCRS"``.
        stride: how far apart windows start: one number, or one for each axis.
        dilation: how far apart the elements of a window are, likewise.
        padding: zeros around: one number, one for each axis, or (before, after, before, after).
        groups: parts of the channels and of the results that go together.
        bias: shape (results), or None.
        input_layout: ``"NHWC"`` or ``"NCHW"``; the result has it too.
        filter_layout: ``"RSCF"`` or ``"FCRS"``.

    Returns:
        ``(extent + padding - dilation * (window - 1) - 1) // stride + 1`` windows along each axis.
        Half precision accumulates in float32 and rounds once, before the bias is added.

    Raises:
        ShapeError: wrong ranks or channels, or a window that does not fit.
        ArgumentError: a wrong number of sizes, negative ones, an unknown layout.
    """
    sizes = {"stride": stride, "dilation": dilation, "padding": padding}
    return _convolution("conv2d", x, filter, bias, sizes, groups, (input_layout, filter_layout), 2)


@operation
def conv3d(
    x: Any,
    filter: Any,
    stride: Numbers = (1, 1, 1),
    dilation: Numbers = (1, 1, 1),
    padding: Numbers = (0, 0, 0, 0, 0, 0),
    groups: int = 1,
    bias: Any = None,
    input_layout: str = "NDHWC",
    filter_layout: str = "QRSCF",
) -> Tensor:
    """Convolution of volumes; arguments as in `conv2d`, with three axes of places.

    Args:
        x: shape (batch, depth, height, width, channels), or channels second for ``"NCDHW"``.
        filter: shape (depth, height, width, channels / groups, results), or (results,
            channels / groups, depth, height, width) for ``"FCQRS"``.
        stride: how far apart windows start.
        dilation: how far apart the elements of a window are.
        padding: zeros around: one number, three, or six.
        groups: parts of the channels and of the results that go together.
        bias: shape (results), or None.
        input_layout: ``"NDHWC"`` or ``"NCDHW"`` (the D may be left out).
        filter_layout: ``"QRSCF"`` or ``"FCQRS"``.

    Raises:
        ShapeError: wrong ranks or channels, or a window that does not fit.
        ArgumentError: a wrong number of sizes, negative ones, an unknown layout.
    """
    sizes = {"stride": stride, "dilation": dilation, "padding": padding}
    return _convolution("conv3d", x, filter, bias, sizes, groups, (input_layout, filter_layout), 3)


@operation
def conv2d_transpose(
    x: Any,
    filter: Any,
    stride: Numbers = (1, 1),
    dilation: Numbers = (1, 1),
    padding: Numbers = (0, 0, 0, 0),
    output_paddings: Numbers = (0, 0),
    bias: Any = None,
    input_layout: str = "NHWC",
    filter_layout: str = "RSCF",
    groups: int = 1,
) -> Tensor:
    """The transpose of `conv2d`: each element of x times the filter, added up where they overlap.

    Args:
        x: shape (batch, height, width, channels), or ``"NCHW"``.
        filter: shape (height, width, results / groups, channels): the filter of the convolution
            whose transpose this is. ``"FCRS"`` is (channels, results / groups, height, width), as
            PyTorch has it.
        stride: how far apart the copies of the filter start in the result.
        dilation: how far apart the filter's elements are.
        padding: how much is cut off the result: one number, one for each axis, or four.
        output_paddings: how much is added after each axis of the result; less than the stride or
            the dilation.
        bias: shape (results), or None.
        input_layout: ``"NHWC"`` or ``"NCHW"``.
        filter_layout: ``"RSCF"`` or ``"FCRS"``.
        groups: parts of the channels and of the results that go together.

    Returns:
        ``(extent - 1) * stride + dilation * (window - 1) + 1 - padding + output_padding`` elements
        along each axis.

    Raises:
        ShapeError: wrong ranks or channels, or nothing is left of an axis.
        ArgumentError: a wrong number of sizes, negative ones, an unknown layout.
    """
    name = "conv2d_transpose"
    strides, apart = per_axis("stride", stride, 2), per_axis("dilation", dilation, 2)
    low, high = per_side("padding", padding, 2)
    more = per_axis("output_paddings", output_paddings, 2, 0)
    if any(m >= max(s, d) for m, s, d in zip(more, strides, apart, strict=True)):
        raise ArgumentError(
            f"output_paddings={more} with stride={strides} and dilation={apart}",
            fix="give less than the stride or the dilation; a larger result needs another filter",
        )
    layouts = (input_layout, filter_layout)
    source, kernel, offset, first = _operands(name, x, filter, bias, 2, layouts)
    parts, channels = kernel._type.shape[-2:]
    _check_channels(name, source, channels, parts * groups, groups)
    if isinstance(channels, int) and channels % groups:
        raise ShapeError(
            f"the {channels} channels of {name} do not divide into {groups} groups",
            fix="make the channels of x a multiple of groups",
        )
    found = _transposed(source, _turned(kernel, groups), strides, apart, low, high, more, groups)
    return from_channels_last(_with_bias(name, found, offset), first)


def _turned(kernel: Tensor, groups: int) -> Tensor:
    """The filter flipped along its window, with results and channels exchanged in each group."""
    height, width, results, channels = (known_extent(kernel, n) for n in range(4))
    flipped = apply(
        "slice", kernel, start=(height - 1, width - 1, 0, 0), stop=(-1, -1, results, channels),
        step=(-1, -1, 1, 1),
    )  # fmt: skip
    if groups == 1:
        return apply("permute", flipped, axes=(0, 1, 3, 2))
    apart = reshaped(flipped, (height, width, results, groups, channels // groups))
    exchanged = apply("permute", apart, axes=(0, 1, 4, 3, 2))
    return reshaped(exchanged, (height, width, channels // groups, groups * results))


def _transposed(
    x: Tensor, kernel: Tensor, strides: Sizes, dilation: Sizes, low: Sizes, high: Sizes,
    more: Sizes, groups: int,
) -> Tensor:  # fmt: skip
    """A convolution over elements moved apart; what padding cuts off beyond that is sliced off."""
    full = [d * (known_extent(kernel, n) - 1) for n, d in enumerate(dilation)]
    before = [f - a for f, a in zip(full, low, strict=True)]
    after = [f - b + m for f, b, m in zip(full, high, more, strict=True)]
    for n, extent in enumerate(x._type.shape[1:-1]):
        left = (extent - 1) * strides[n] + 1 + before[n] + after[n] - full[n]
        if isinstance(left, int) and left < 1:
            raise ShapeError(
                f"padding of {low[n]} and {high[n]} leaves {left} elements of axis {n + 1}",
                fix="use less padding",
            )
    found = apply(
        "conv_general", x, kernel, strides=(1, 1), low=tuple(max(n, 0) for n in before),
        high=tuple(max(n, 0) for n in after), input_dilation=strides, dilation=dilation,
        groups=groups,
    )  # fmt: skip
    start = tuple(max(-n, 0) for n in before)
    stop = tuple(d - max(-n, 0) for d, n in zip(found._type.shape[1:-1], after, strict=True))
    if start == (0, 0) and all(n >= 0 for n in after):
        return found
    batch, results = found._type.shape[0], found._type.shape[-1]
    return apply(
        "slice", found, start=(0, *start, 0), stop=(batch, *stop, results), step=(1, 1, 1, 1)
    )
