"""Resizing: tensors sampled anew along each axis whose extent changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    constant_of,
    float_operand,
    known_extent,
    one_device,
    same_shape,
    same_version,
)
from realta.functional.creation import shape_of
from realta.functional.operation import operation
from realta.functional.resampling import (
    COORDINATES,
    ROUNDINGS,
    Array,
    check_choice,
    cubic_taps,
    linear_taps,
    nearest,
)
from realta.functional.window_arguments import check_rank
from realta.tensor import Tensor
from realta.types import float32, int64, tensor_type

__all__ = ["resize", "resize_bicubic", "resize_linear", "resize_nearest"]

Taps = Callable[[int, int], tuple[Array, Array]]
_NOTHING: Final = np.empty(0, np.int64)
_FEW: Final = 4
"""Up to so many taps are added one after the other, element by element; more by a sum."""


def _changes(name: str, tensor: Tensor, size: Sequence[Any]) -> list[tuple[int, int, int]]:
    """The axes whose extents change, each with its old and its new extent."""
    wanted = shape_of(size)
    if len(wanted) != tensor.rank:
        raise ShapeError(
            f"{name} of {tensor.type} to {len(wanted)} extents", fix="give one extent for each axis"
        )
    changes = []
    for axis, (have, want) in enumerate(zip(tensor._type.shape, wanted, strict=True)):
        if same_shape((have,), (want,)):
            continue
        extent = known_extent(tensor, axis)
        if not isinstance(want, int):
            raise ShapeError(
                f"{name} to the symbolic extent {want} of axis {axis}",
                fix="give a number, or the extent that the axis has",
            )
        if not extent and want:
            raise ShapeError(
                f"{name} of axis {axis}, which is empty, to {want} elements",
                fix="give a tensor with elements",
            )
        changes.append((axis, extent, want))
    return changes


def _gathered(tensor: Tensor, index: Array, axis: int) -> Tensor:
    known = constant_of(index, tensor_type(int64, index.shape, tensor._type.device))
    return apply("gather", tensor, known, axis=axis)


def _weighed(name: str, input: Any, size: Sequence[Any], taps: Taps) -> Tensor:
    """Weighted sums of elements along each axis in turn, rounded to the dtype at the end."""
    tensor = float_operand(name, input)
    changes = _changes(name, tensor, size)
    if not changes:
        return same_version(tensor)
    result = cast_to(tensor, float32 if tensor.dtype.is_half else tensor.dtype)
    for axis, extent, want in changes:
        if not want:
            result = _gathered(result, _NOTHING, axis)
            continue
        result = _mixed(result, axis, *taps(extent, want))
    return cast_to(result, tensor.dtype)


def _mixed(tensor: Tensor, axis: int, index: Array, weight: Array) -> Tensor:
    """New elements of an axis from indices and weights of shape (new elements, taps)."""
    if weight.shape[1] <= _FEW:
        parts = [
            _scaled(_gathered(tensor, index[:, n], axis), weight[:, n], axis)
            for n in range(weight.shape[1])
        ]
        total = parts[0]
        for part in parts[1:]:
            total = apply("add", total, part)
        return total
    # Taps before elements: whole lines of elements are added, not a few numbers at a time.
    terms = _gathered(tensor, np.ascontiguousarray(index.T), axis)
    return apply("sum", _scaled(terms, weight.T, axis), axes=(axis,))


def _scaled(terms: Tensor, weight: Array, axis: int) -> Tensor:
    shape = (*weight.shape, *(1,) * (terms.rank - axis - weight.ndim))
    type_ = tensor_type(terms.dtype, shape, terms._type.device)
    return apply(
        "mul", terms, broadcast(constant_of(weight.reshape(shape), type_), terms._type.shape)
    )


@operation
def resize_nearest(
    input: Any, size: Sequence[Any], coordinate_transform_mode: int = 0, round_mode: int = 0
) -> Tensor:
    """Each new element is the nearest old one.

    Args:
        input: tensor of any dtype.
        size: the new extent of every axis.
        coordinate_transform_mode: where new element i lies on an axis, with s = old / new extent:
            0 (half_pixel) ``(i + 0.5) * s - 0.5``; 1 (align_corners) ``i * (old - 1) / (new - 1)``;
            2 (asymmetric) ``i * s``; 3 (half_pixel_1D) as 0, but 0 for a new extent of 1.
        round_mode: 0 (half_down) nearest, the lower of two; 1 (half_up) nearest, the upper of two;
            2 (floor); 3 (ceil). The result is exact, and clipped to the axis.

    Raises:
        ShapeError: not one extent an axis, a negative or a symbolic one, or an empty axis.
        ArgumentError: an unknown mode.
    """
    check_choice("coordinate_transform_mode", coordinate_transform_mode, COORDINATES)
    check_choice("round_mode", round_mode, ROUNDINGS)
    (tensor,) = one_device("resize_nearest", input)
    result = tensor
    for axis, extent, want in _changes("resize_nearest", tensor, size):
        index = nearest(extent, want, coordinate_transform_mode, round_mode) if want else _NOTHING
        result = _gathered(result, index, axis)
    return same_version(tensor) if result is tensor else result


@operation
def resize_linear(
    input: Any,
    size: Sequence[Any],
    coordinate_transform_mode: int = 0,
    antialias: bool = False,
) -> Tensor:
    """Each new element is a weighted mean of its neighbours along each axis that changes.

    Args:
        input: tensor; integers become the default float.
        size: the new extent of every axis.
        coordinate_transform_mode: as in `resize_nearest`.
        antialias: whether the mean is over as many elements as an axis shrinks by.

    Half precision is computed in float32 and rounded once.

    Raises:
        ShapeError: not one extent an axis, a negative or a symbolic one, or an empty axis.
        ArgumentError: an unknown mode.
    """
    check_choice("coordinate_transform_mode", coordinate_transform_mode, COORDINATES)

    def taps(extent: int, want: int) -> tuple[Array, Array]:
        return linear_taps(extent, want, coordinate_transform_mode, antialias)

    return _weighed("resize_linear", input, size, taps)


@operation
def resize_bicubic(input: Any, size: Sequence[Any]) -> Tensor:
    """Each new element is a cubic mean of 4 by 4 neighbours: half-pixel coordinates, a = -0.75.

    Args:
        input: shape (batch, channels, height, width); integers become the default float.
        size: the same batch and channels, and the new height and width.

    Half precision is computed in float32 and rounded once.

    Raises:
        ShapeError: a wrong rank, or another batch or number of channels.
    """
    tensor = float_operand("resize_bicubic", input)
    check_rank("resize_bicubic", "an input", tensor, 4, "NCHW")
    if [axis for axis, _, _ in _changes("resize_bicubic", tensor, size) if axis < 2]:
        raise ShapeError(
            f"resize_bicubic of {tensor.type} to {tuple(size)} changes batch or channels",
            fix="keep the first two extents",
        )
    return _weighed("resize_bicubic", tensor, size, cubic_taps)


_MODES = {"nearest": resize_nearest, "bilinear": resize_linear, "bicubic": resize_bicubic}


@operation
def resize(input: Any, shape: Sequence[Any], interpolation: str = "bilinear") -> Tensor:
    """Images in another size.

    Args:
        input: shape (batch, channels, height, width).
        shape: the new extent of every axis.
        interpolation: ``"bilinear"`` (`resize_linear`), ``"nearest"`` (`resize_nearest`) or
            ``"bicubic"`` (`resize_bicubic`), each with its defaults.

    Raises:
        ShapeError: a wrong rank, or a shape that does not fit.
        ArgumentError: an unknown interpolation.
    """
    (tensor,) = one_device("resize", input)
    check_rank("resize", "an input", tensor, 4, "NCHW")
    if interpolation not in _MODES:
        raise ArgumentError(
            f"resize has no interpolation {interpolation!r}", fix=f"use {', '.join(_MODES)}"
        )
    return _MODES[interpolation](tensor, shape)
