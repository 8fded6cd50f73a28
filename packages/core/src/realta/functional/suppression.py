"""Suppression: of boxes that overlap, those with the best scores."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    constant_of,
    elementwise,
    one_device,
    reshaped,
    scalar_like,
)
from realta.functional.demanding import checked_size, data_dependent, demanded, results_on
from realta.functional.operation import operation
from realta.functional.places import places_of
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import float32, float64, int64, tensor_type

__all__ = ["non_maximum_suppression"]

Array = NDArray[Any]


@data_dependent
def non_maximum_suppression(
    boxes: Any,
    scores: Any,
    max_output_boxes_per_class: int,
    iou_threshold: float,
    score_threshold: float,
    *,
    size: int | None = None,
    fill_value: int = -1,
) -> Any:
    """The boxes with the best scores that do not overlap, for every batch and class.

    The box with the best score is taken, those that overlap it are dropped, and so on. Of equal
    scores the first box wins. A box is taken only if its score is above ``score_threshold``.

    Args:
        boxes: (batch, boxes, 4), two opposite corners y, x, y, x in any order.
        scores: (batch, classes, boxes).
        max_output_boxes_per_class: how many boxes a class has at most.
        iou_threshold: boxes are dropped whose intersection with a taken one, divided by their
            union, is above it.
        score_threshold: scores at which boxes are not taken.
        size: how many rows the result has, which makes it static: further ones are left out. Each
            box that a class may have adds its ops to the graph.
        fill_value: stands in the result where there are fewer.

    Returns:
        An int64 tensor of shape (taken, 3): batch, class, box; ordered by batch, then class, then
        falling score. With ``size`` a pair: one of shape (size, 3), and how many boxes were taken.

    Raises:
        RealizationError: without ``size``, for tensors of a graph.
    """
    corners, marks = as_tensor(boxes), as_tensor(scores)
    _check(corners, marks)
    most = min(_count(max_output_boxes_per_class), int(corners._type.static_shape[1]))
    limits = float(iou_threshold), float(score_threshold)
    if size is None:
        name = "non_maximum_suppression"
        known = demanded(name, corners), demanded(name, marks)
        taken = _known(*known, most, *limits)
        (found,) = results_on(corners, taken)
        return found
    extent = checked_size(size)
    rows, count = _padded(corners, marks, most, limits, extent, int(fill_value))
    return rows, count


def _count(most: Any) -> int:
    if isinstance(most, bool) or not hasattr(most, "__index__") or int(most) < 0:
        raise ArgumentError(
            f"{most!r} boxes for each class", fix="give an int that is not negative"
        )
    return int(most)


def _check(boxes: Tensor, scores: Tensor) -> None:
    (batch, count, corners), found = (*boxes.shape, 0, 0, 0)[:3], scores.shape
    ranks = (boxes.rank, scores.rank)
    if ranks != (3, 3) or corners != 4 or (found[0], found[2]) != (batch, count):
        raise ShapeError(
            f"boxes of shape {boxes.shape} with scores of shape {scores.shape}",
            fix="give boxes (batch, boxes, 4) and scores (batch, classes, boxes)",
        )


def _areas(corners: Array) -> tuple[Array, ...]:
    """Lower and upper ends along both axes, and areas; every step rounds once."""
    first, second = corners[..., :2], corners[..., 2:]
    low, high = np.minimum(first, second), np.maximum(first, second)
    extent = high - low
    return low, high, extent[..., 0] * extent[..., 1]


def _known(boxes: Array, scores: Array, most: int, iou: float, above: float) -> Array:
    """The same of known arrays: one loop over the boxes that are taken."""
    dtype = np.dtype(np.float64 if boxes.dtype == np.float64 else np.float32)
    low, high, area = _areas(boxes.astype(dtype))
    marks = scores.astype(np.float64 if scores.dtype == np.float64 else np.float32)
    found: list[tuple[int, int, int]] = []
    for batch, group in np.ndindex(*marks.shape[:2]):
        line: Any = marks[batch, group]
        order = np.argsort(-line, kind="stable")
        order = order[line[order] > line.dtype.type(above)]
        taken = 0
        while order.size and taken < most:
            best, order = order[0], order[1:]
            found.append((batch, group, int(best)))
            taken += 1
            ends = np.minimum(high[batch, order], high[batch, best])
            overlap = ends - np.maximum(low[batch, order], low[batch, best])
            overlap = np.maximum(overlap, dtype.type(0))
            common = overlap[..., 0] * overlap[..., 1]
            union = area[batch, order] + area[batch, best] - common
            # As a product, since an area may be 0.
            order = order[~(common > dtype.type(iou) * union)]
    return np.array(found, np.int64).reshape(-1, 3)


_op = {name: partial(elementwise, get_op(name)) for name in (
    "add", "sub", "mul", "minimum", "maximum", "greater", "bitwise_and", "bitwise_not", "equal",
)}  # fmt: skip


def _corner(boxes: Tensor, first: int) -> Tensor:
    """One of the four numbers of every box, (batch, 1, boxes)."""
    batch, count, _ = boxes._type.static_shape
    part = apply(
        "slice", boxes, start=(0, 0, first), stop=(batch, count, first + 1), step=(1, 1, 1)
    )
    return reshaped(part, (batch, 1, count))


def _ends(boxes: Tensor) -> tuple[list[Tensor], list[Tensor], Tensor]:
    """Lower and upper ends along y and x, and areas, each (batch, 1, boxes)."""
    corners = [_corner(boxes, n) for n in range(4)]
    low = [_op["minimum"](corners[n], corners[n + 2]) for n in range(2)]
    high = [_op["maximum"](corners[n], corners[n + 2]) for n in range(2)]
    extent = [_op["sub"](h, b) for h, b in zip(high, low, strict=True)]
    return low, high, _op["mul"](*extent)


@operation
def _padded(
    boxes: Tensor,
    scores: Tensor,
    most: int,
    limits: tuple[float, float],
    size: int,
    fill: int,
) -> tuple[Tensor, ...]:
    """The same in ops: the best box of all classes at once, as often as one may have boxes."""
    corners, marks = one_device("non_maximum_suppression", boxes, scores)
    corners = cast_to(corners, float64 if corners.dtype is float64 else float32)
    marks = cast_to(marks, float64 if marks.dtype is float64 else float32)
    batches, classes, count = marks._type.static_shape
    shape, device = (batches, classes, count), corners._type.device
    if not batches * classes * most:
        nothing = constant_of(np.zeros((size, 3)) + fill, tensor_type(int64, (size, 3), device))
        return nothing, scalar_like(0, int64, device)
    low, high, area = _ends(corners)
    iou, above = limits
    alive = _op["greater"](marks, broadcast(scalar_like(above, marks.dtype, device), shape))
    lowest = broadcast(scalar_like(float("-inf"), marks.dtype, device), shape)
    places = apply("iota", shape=shape, axis=2, dtype=int64, device=device)
    taken: list[Tensor] = []
    flags: list[Tensor] = []
    for _ in range(most):
        best = apply("argmax", apply("select", alive, marks, lowest), axis=2)
        chosen = _op["equal"](places, reshaped(best, (batches, classes, 1)))
        chosen = _op["bitwise_and"](chosen, alive)
        flags.append(reshaped(apply("any", alive, axes=(2,)), (batches, classes, 1)))
        taken.append(reshaped(best, (batches, classes, 1)))
        overlap = _overlaps(low, high, area, best, iou)
        alive = _op["bitwise_and"](alive, _op["bitwise_not"](overlap))
        alive = _op["bitwise_and"](alive, _op["bitwise_not"](chosen))
    found = places_of(apply("concat", *flags, axis=2), size)
    return _rows(apply("concat", *taken, axis=2), found, size, fill), found.total


def _overlaps(
    low: list[Tensor], high: list[Tensor], area: Tensor, best: Tensor, iou: float
) -> Tensor:
    """Which boxes overlap the best box of each class too much, (batch, classes, boxes)."""
    common: list[Tensor] = []
    for begin, end in zip(low, high, strict=True):
        first = _op["maximum"](begin, _of_best(begin, best))
        extent = _op["sub"](_op["minimum"](end, _of_best(end, best)), first)
        common.append(_op["maximum"](extent, 0.0))
    shared = _op["mul"](*common)
    union = _op["sub"](_op["add"](area, _of_best(area, best)), shared)
    return _op["greater"](shared, _op["mul"](_number(iou, union), union))


def _number(value: float, like: Tensor) -> Tensor:
    return scalar_like(float(value), like.dtype, like._type.device)


def _of_best(line: Tensor, best: Tensor) -> Tensor:
    """The element of (batch, 1, boxes) that belongs to the best box, (batch, classes, 1)."""
    batches, _, count = line._type.static_shape
    classes = best._type.static_shape[1]
    rows = apply("iota", shape=(batches, classes), axis=0, dtype=int64, device=best._type.device)
    flat = _op["add"](_op["mul"](rows, count), best)
    found = apply("gather", reshaped(line, (batches * count,)), flat, axis=0)
    return reshaped(found, (batches, classes, 1))


def _rows(best: Tensor, found: Any, size: int, fill: int) -> Tensor:
    """Batch, class and box of the flags at known positions, (size, 3)."""
    batches, classes, rounds = best._type.static_shape
    device = best._type.device
    safe = _op["minimum"](found.positions, max(batches * classes * rounds - 1, 0))
    divide, rest = partial(elementwise, get_op("floor_div")), partial(elementwise, get_op("mod"))
    columns = [
        divide(safe, max(classes * rounds, 1)),
        rest(divide(safe, rounds), max(classes, 1)),
        apply("gather", reshaped(best, (batches * classes * rounds,)), safe, axis=0),
    ]
    filling = broadcast(scalar_like(fill, int64, device), (size,))
    padded = [reshaped(apply("select", found.used, c, filling), (size, 1)) for c in columns]
    return apply("concat", *padded, axis=1)
