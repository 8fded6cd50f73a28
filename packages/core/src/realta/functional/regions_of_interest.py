"""Regions of interest: boxes of images sampled into maps of one size.

Sources: He et al. 2017 (RoIAlign) and ONNX's ``RoiAlign`` for what lies outside of an image.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    elementwise,
    float_operand,
    known_extent,
    one_device,
    reshaped,
    scalar_like,
)
from realta.functional.gathering import index_tensor
from realta.functional.operation import operation
from realta.functional.window_arguments import check_rank
from realta.graph import Value
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import float32, int64

__all__ = ["roi_align"]


def roi_align(
    input: Any,
    rois: Any,
    output_height: int,
    output_width: int,
    spatial_scale: float = 1.0,
    sampling_ratio: float = 0.0,
    aligned: bool = False,
    mode: str = "AVG",
) -> Tensor:
    """Boxes of images, each divided into bins that hold the mean (or largest) of a few samples.

    Args:
        input: shape (batch, height, width, channels).
        rois: shape (boxes, 5): index in the batch, x1, y1, x2, y2.
        output_height: bins along the height.
        output_width: bins along the width.
        spatial_scale: what coordinates are multiplied by to become places in the input.
        sampling_ratio: samples along each side of a bin. 0 takes as many as a bin covers elements,
            rounded up, for each box by itself: their number is read from the values of ``rois``,
            so in a graph a number is needed.
        aligned: whether coordinates are those of element centres (half an element is taken off);
            without it a box has at least the extent of one element.
        mode: ``"AVG"`` or ``"MAX"``.

    Returns:
        Shape (boxes, output_height, output_width, channels). A sample interpolates linearly between
        four neighbours; one more than an element outside of the image is 0. Half precision is
        computed in float32 and rounded once.

    Raises:
        ShapeError: wrong ranks or extents.
        ArgumentError: an unknown mode, or a number that is too small.
        IndexBoundsError: an index beyond the batch; at the next wait.
    """
    samples = int(np.ceil(sampling_ratio))
    if samples < 0:
        raise ArgumentError(f"sampling_ratio={sampling_ratio!r}", fix="give a number from 0 up")
    adaptive = samples == 0
    if adaptive:
        boxes = Tensor.from_graph_value(rois) if isinstance(rois, Value) else rois
        boxes = np.asarray(boxes.numpy() if isinstance(boxes, Tensor) else boxes)
        samples = _most_samples(boxes, output_height, output_width, spatial_scale)
    return _roi_align(
        input, rois, (output_height, output_width), float(spatial_scale), samples, adaptive,
        aligned, mode,
    )  # fmt: skip


def _most_samples(boxes: Any, height: int, width: int, scale: float) -> int:
    if boxes.ndim != 2 or boxes.shape[1:] != (5,) or not boxes.size or min(height, width) < 1:
        return 1  # refused later, or nothing to sample
    corners = boxes.astype(np.float64)
    sides = np.maximum((corners[:, 3:] - corners[:, 1:3]) * scale, 1) / (width, height)
    most = np.ceil(sides).max()
    if not np.isfinite(most) or most > _MOST_SAMPLES:
        raise ArgumentError(
            f"a box of roi_align takes {most:.0f} samples a bin side",
            fix="check the boxes and spatial_scale, or give sampling_ratio",
        )
    return int(most) + 1  # one more, since the device computes in another precision


_MOST_SAMPLES = 1 << 12


@dataclass(frozen=True, slots=True)
class _Axis:
    """Samples along one axis: both neighbours' places and weights, (boxes, bins, samples)."""

    places: tuple[Tensor, Tensor]
    weights: tuple[Tensor, Tensor]
    taken: Tensor | None
    """Which samples there are for a box; None if all are."""
    count: Tensor | None
    """How many samples there are for a box, (boxes, 1)."""


def _samples(
    start: Tensor, side: Tensor, bins: int, extent: int, samples: int, adaptive: bool
) -> _Axis:
    """The samples of boxes from their starts and sides, both (boxes, 1)."""
    shape = (start._type.shape[0], bins, samples)
    device, dtype = start._type.device, start.dtype

    def number(axis: int) -> Tensor:
        index = apply("iota", shape=shape, axis=axis, dtype=int64, device=device)
        return cast_to(index, dtype)

    def lifted(tensor: Tensor) -> Tensor:
        return reshaped(tensor, (shape[0], 1, 1))

    size = lifted(side / bins)
    count = taken = None
    step = size / samples
    if adaptive:
        each = apply("ceil", side / bins)
        count = elementwise(get_op("maximum"), each, 0)
        step = size / elementwise(get_op("maximum"), lifted(each), 1)
        taken = elementwise(get_op("less"), number(2), lifted(each))
    place = lifted(start) + number(1) * size + (number(2) + 0.5) * step
    inside = elementwise(
        get_op("bitwise_and"),
        elementwise(get_op("greater_equal"), place, -1),
        elementwise(get_op("less_equal"), place, extent),
    )
    near = apply("floor", elementwise(get_op("maximum"), place, 0))
    last = elementwise(get_op("greater_equal"), near, extent - 1)
    near = elementwise(get_op("minimum"), near, max(extent - 1, 0))
    rest = elementwise(get_op("maximum"), place, 0) - near
    zero = broadcast(scalar_like(0, dtype, device), shape)
    rest = apply("select", last, zero, rest)
    if taken is not None:
        inside = apply("bitwise_and", inside, taken)
    weights = tuple(apply("select", inside, w, zero) for w in (1 - rest, rest))
    first = cast_to(near, int64)
    second = elementwise(get_op("minimum"), first + 1, max(extent - 1, 0))
    return _Axis((first, second), (weights[0], weights[1]), taken, count)


def _checked(input: Any, rois: Any, bins: tuple[int, int], mode: str) -> tuple[Tensor, Tensor]:
    if mode not in ("AVG", "MAX"):
        raise ArgumentError(f"roi_align has no mode {mode!r}", fix='use "AVG" or "MAX"')
    if any(type(n) is not int or n < 1 for n in bins):
        raise ArgumentError(f"{bins[0]} by {bins[1]} bins", fix="give numbers from 1 up")
    x, boxes = one_device("roi_align", float_operand("roi_align", input), rois)
    check_rank("roi_align", "an input", x, 4, "NHWC")
    if boxes.rank != 2 or boxes._type.shape[1] != 5:
        raise ShapeError(
            f"roi_align takes boxes of shape (n, 5), got {boxes.type}",
            fix="give index, x1, y1, x2, y2 for each box",
        )
    return x, boxes


def _roi_align_body(
    input: Any, rois: Any, bins: tuple[int, int], scale: float, samples: int, adaptive: bool,
    aligned: bool, mode: str,
) -> Tensor:  # fmt: skip
    x, boxes = _checked(input, rois, bins, mode)
    dtype = float32 if x.dtype.is_half else x.dtype
    wide, count = cast_to(boxes, dtype), boxes._type.shape[0]

    def column(n: int) -> Tensor:
        return apply("slice", wide, start=(0, n), stop=(count, n + 1), step=(1, 1))

    index = reshaped(cast_to(column(0), int64), (count,))
    index = index_tensor("roi_align", index, x, 0, "error")
    axes = []
    for n in (0, 1):
        start, stop = (column(2 - n + k) * scale - 0.5 * aligned for k in (0, 2))
        side = stop - start
        if not aligned:
            side = elementwise(get_op("maximum"), side, 1)
        axes.append(_samples(start, side, bins[n], known_extent(x, n + 1), samples, adaptive))
    found = _sampled(cast_to(x, dtype), index, axes[0], axes[1])
    return cast_to(_combined(found, axes[0], axes[1], mode), x.dtype)


_roi_align_body.__name__ = "roi_align"
_roi_align = operation(_roi_align_body)


def _sampled(x: Tensor, index: Tensor, down: _Axis, across: _Axis) -> Tensor:
    """Interpolated samples: (boxes, bins down, samples, bins across, samples, channels)."""
    batch, height, width = (known_extent(x, n) for n in range(3))
    channels, count = x._type.shape[3], index._type.shape[0]
    rows = reshaped(x, (batch * height * width, channels))
    bins, samples = down.places[0]._type.shape[1:]
    total: Tensor | None = None
    for y, weight in zip(down.places, down.weights, strict=True):
        line = reshaped(index, (count, 1, 1)) * height + y
        lifted = reshaped(line * width, (count, bins, samples, 1, 1))
        for column, factor in zip(across.places, across.weights, strict=True):
            beside = (count, 1, 1, *column._type.shape[1:])
            values = apply("gather", rows, lifted + reshaped(column, beside), axis=0)
            both = reshaped(weight, (count, bins, samples, 1, 1)) * reshaped(factor, beside)
            term = values * reshaped(both, (*both._type.shape, 1))
            total = term if total is None else total + term
    assert total is not None  # noqa: S101 - there are four neighbours
    return total


def _combined(found: Tensor, down: _Axis, across: _Axis, mode: str) -> Tensor:
    count, dtype = found._type.shape[0], found.dtype
    samples = found._type.shape[2] * found._type.shape[4]
    if mode == "AVG":
        total = apply("sum", found, axes=(2, 4))
        if down.count is None or across.count is None:
            return total / samples
        number = elementwise(get_op("maximum"), down.count * across.count, 1)
        return total / reshaped(number, (count, 1, 1, 1))
    if down.taken is None or across.taken is None:
        return apply("max", found, axes=(2, 4))
    shape = found._type.shape
    taken = elementwise(
        get_op("bitwise_and"),
        reshaped(down.taken, (*down.taken._type.shape, 1, 1, 1)),
        reshaped(across.taken, (count, 1, 1, *across.taken._type.shape[1:], 1)),
    )
    nothing = broadcast(scalar_like(-np.inf, dtype, found._type.device), shape)
    largest = apply("max", apply("select", broadcast(taken, shape), found, nothing), axes=(2, 4))
    zero = broadcast(scalar_like(0, dtype, found._type.device), largest._type.shape)
    some = elementwise(get_op("greater"), down.count * across.count, 0)  # type: ignore[operator]
    spread = broadcast(reshaped(some, (count, 1, 1, 1)), largest._type.shape)
    return apply("select", spread, largest, zero)
