"""Convolution: conv_general, sums of products of a filter and the windows of an operand.

One layout is normal, channels last: the operand is (batch, places…, channels), the filter
(window…, channels of a group, results), the result (batch, windows…, results). Functions bring
other layouts to it by permutations.
"""

from __future__ import annotations

from math import prod
from typing import Final

import numpy as np

from realta.errors import ShapeError
from realta.ops.accumulation import accumulator
from realta.ops.conversion import Array, convert, quiet
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.rules import check_same, extents, like
from realta.ops.window_geometry import check_sizes, padded, spread, window_count, windows
from realta.types import NUMERIC, TensorType, as_dtype

__all__: list[str] = []

Sizes = tuple[int, ...]
_MOST_SPATIAL: Final = 3


def _check_operands(x: TensorType, filter: TensorType, groups: int) -> None:
    check_same((x, filter), shapes=False)
    if x.rank != filter.rank or not 1 <= x.rank - 2 <= _MOST_SPATIAL:
        raise ShapeError(
            f"a convolution of {extents(x.shape)} with a filter of {extents(filter.shape)}",
            fix="give both one batch (or result) axis, one axis of channels, and 1 to 3 between",
        )
    if groups < 1:
        raise ShapeError(f"{groups} groups", fix="give 1 group or more")
    if x.shape[-1] != filter.shape[-2] * groups:
        raise ShapeError(
            f"the filter {extents(filter.shape)} with {groups} group(s) takes "
            f"{filter.shape[-2] * groups} channels, the operand has {x.shape[-1]}",
            fix="the filter's last axis but one has the channels of one group",
        )
    results = filter.shape[-1]
    if type(results) is int and results % groups:
        raise ShapeError(
            f"{results} results do not divide into {groups} groups",
            fix="make the filter's last axis a multiple of the number of groups",
        )


def _rule(
    x: TensorType,
    filter: TensorType,
    *,
    strides: Sizes,
    low: Sizes,
    high: Sizes,
    input_dilation: Sizes,
    dilation: Sizes,
    groups: int,
) -> TensorType:
    _check_operands(x, filter, groups)
    spatial = x.rank - 2
    check_sizes("the filter's window", filter.shape[:-2], spatial, 1)
    for name, sizes in (
        ("strides", strides), ("input_dilation", input_dilation), ("dilation", dilation),
    ):  # fmt: skip
        check_sizes(name, sizes, spatial, 1)
    for name, sizes in (("low", low), ("high", high)):
        check_sizes(name, sizes, spatial, 0)
    counts = [
        window_count(n + 1, spread(d, apart), window, stride, a, b, step)
        for n, (d, apart, window, stride, a, b, step) in enumerate(
            zip(
                x.shape[1:-1], input_dilation, filter.shape[:-2], strides, low, high, dilation,
                strict=True,
            )
        )
    ]  # fmt: skip
    return like((x, filter), shape=(x.shape[0], *counts, filter.shape[-1]))


@quiet
def _conv_general(
    x: Array,
    filter: Array,
    *,
    strides: Sizes,
    low: Sizes,
    high: Sizes,
    input_dilation: Sizes,
    dilation: Sizes,
    groups: int,
) -> Array:
    source = padded(accumulator(x), (0, *low, 0), (0, *high, 0), (1, *input_dilation, 1), fill=0)
    spatial, channels = len(strides), filter.shape[-2]
    part = (1, *filter.shape[:-2], channels)
    weights = accumulator(filter).reshape((prod(part), filter.shape[-1]))
    results = filter.shape[-1] // groups
    found = []
    for group in range(groups):
        own = source[..., group * channels : (group + 1) * channels]
        view = windows(own, part, (1, *strides, 1), (1, *dilation, 1))
        counts = view.shape[: spatial + 1]
        rows = np.ascontiguousarray(view).reshape((prod(counts), prod(part)))
        columns = np.ascontiguousarray(weights[:, group * results : (group + 1) * results])
        found.append((rows @ columns).reshape((*counts, results)))
    return convert(np.concatenate(found, axis=-1), as_dtype(x.dtype))


def _sample(
    x: Sizes,
    filter: Sizes,
    strides: Sizes,
    pads: tuple[Sizes, Sizes],
    input_dilation: Sizes,
    dilation: Sizes,
    groups: int = 1,
    note: str = "",
) -> Sample:
    attrs = {
        "strides": strides, "low": pads[0], "high": pads[1], "input_dilation": input_dilation,
        "dilation": dilation, "groups": groups,
    }  # fmt: skip
    return Sample((x, filter), attrs, "small", note=note)


_NONE: Final[tuple[Sizes, Sizes]] = ((0, 0), (0, 0))
_ONE: Final = (1, 1)

define(
    "conv_general",
    operands=("x", "filter"),
    rule=_rule,
    reference=_conv_general,
    doc=(
        "Sums of products of a filter (window…, channels / groups, results) and the windows of an "
        "operand (batch, places…, channels): (batch, windows…, results). The filter is not "
        "flipped. Padding and the gaps of input_dilation are zeros that take part in the sums. "
        "Integers wrap; half types accumulate in float32 and round once."
    ),
    kind=OpKind.CONTRACTION,
    attrs={
        "strides": Attr("ints", doc="how far apart windows start, for each axis of places"),
        "low": Attr("ints", doc="how many zeros there are before each axis"),
        "high": Attr("ints", doc="how many zeros there are after each axis"),
        "input_dilation": Attr("ints", doc="how far apart the operand's elements are moved first"),
        "dilation": Attr("ints", doc="how far apart the elements of a window are"),
        "groups": Attr("int", doc="parts of the channels and of the results that go together"),
    },
    dtypes=NUMERIC,
    samples=(
        _sample((2, 5, 7, 3), (3, 3, 3, 4), _ONE, _NONE, _ONE, _ONE),
        _sample((1, 5, 6, 2), (2, 3, 2, 3), (2, 1), ((1, 0), (2, 1)), _ONE, _ONE, note="uneven"),
        _sample((1, 9, 8, 2), (3, 2, 2, 3), (1, 2), ((2, 1), (2, 1)), _ONE, (2, 3), note="dilated"),
        _sample((2, 4, 5, 6), (3, 2, 2, 9), _ONE, ((1, 1), (1, 0)), _ONE, _ONE, 3, "groups"),
        _sample((1, 5, 5, 4), (3, 3, 1, 4), _ONE, ((1, 1), (1, 1)), _ONE, _ONE, 4, "depthwise"),
        _sample((1, 4, 4, 3), (2, 2, 1, 6), (2, 2), _NONE, _ONE, _ONE, 3, "two results a channel"),
        _sample((2, 3, 4, 17), (1, 1, 17, 5), _ONE, _NONE, _ONE, _ONE, note="1 by 1"),
        _sample((1, 7, 7, 2), (1, 1, 2, 3), (3, 2), _NONE, _ONE, _ONE, note="stride over window"),
        _sample((1, 3, 4, 2), (3, 2, 2, 3), _ONE, ((2, 1), (2, 2)), (2, 3), _ONE, note="gaps"),
        _sample((0, 4, 4, 2), (3, 3, 2, 3), _ONE, _NONE, _ONE, _ONE, note="an empty batch"),
        _sample((2, 3, 3, 0), (2, 2, 0, 3), _ONE, _NONE, _ONE, _ONE, note="no channels"),
        _sample((1, 0, 3, 2), (2, 2, 2, 2), _ONE, ((1, 0), (1, 0)), _ONE, _ONE, note="all padding"),
        _sample((2, 33, 3), (5, 3, 4), (3,), ((2,), (1,)), (1,), (2,), note="1 axis"),
        _sample((1, 1025, 1), (17, 1, 1), (1,), ((8,), (8,)), (1,), (1,), note="long line"),
        _sample((1, 4, 3, 4, 2), (2, 3, 2, 2, 3), (1, 1, 2), ((0, 1, 1), (1, 1, 0)), (1, 1, 1),
                (2, 1, 1), note="3 axes"),
        _sample((1, 9, 9, 33), (3, 3, 33, 17), _ONE, ((1, 1), (1, 1)), _ONE, _ONE),
    ),
    tolerance="convolution",
    level="linalg",
)  # fmt: skip
