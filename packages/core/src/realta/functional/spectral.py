"""Spectral functions: windows, inverse real Fourier transforms, complex numbers as pairs.

A complex number is a pair (real part, imaginary part) along a last axis of extent 2; complex dtypes
are not there yet.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    cast_to,
    constant_of,
    elementwise,
    float_operand,
    known_extent,
    one_device,
    promoted,
    reshaped,
    scalar_like,
)
from realta.functional.creation import device_name
from realta.functional.operation import operation
from realta.ops import get_op
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import as_dtype, float32, float64, int64, normalize_axis, tensor_type

__all__ = ["as_interleaved_complex", "complex_mul", "hann_window", "irfft"]

Array = np.ndarray[Any, np.dtype[Any]]


@operation
def hann_window(
    window_length: int, *, periodic: bool = True, dtype: Any = None, device: Any = None
) -> Tensor:
    """The Hann window ``sin(pi * i / n)**2``.

    Args:
        window_length: how many values.
        periodic: n is the length, so that copies in a row join smoothly; else the window ends in 0
            as it begins, and n is the length less 1.
        dtype: a float dtype; the default one if left out.
        device: where.

    Computed in float64, then rounded. A window of one value is 1.

    Raises:
        ArgumentError: a negative length, or a dtype that is no float.
    """
    if type(window_length) is not int or window_length < 0:
        raise ArgumentError(f"window_length={window_length!r}", fix="give a number from 0 up")
    found = current_dtype() if dtype is None else as_dtype(dtype)
    if not found.is_float:
        raise ArgumentError(f"hann_window in {found}", fix="give a float dtype")
    steps = max(window_length - (not periodic), 1)
    values = np.square(np.sin(np.pi * (np.arange(window_length) / steps)))
    if window_length == 1:
        values[:] = 1
    type_ = tensor_type(float64, values.shape, device_name(device))
    return cast_to(constant_of(values, type_), found)


@operation
def as_interleaved_complex(x: Any) -> Tensor:
    """The last axis, of 2n values, as n pairs (real part, imaginary part): shape (..., n, 2).

    Raises:
        ShapeError: the tensor is 0-d, or the last extent is odd or symbolic.
    """
    (tensor,) = one_device("as_interleaved_complex", x)
    extent = known_extent(tensor, tensor.rank - 1) if tensor.rank else 1
    if extent % 2:
        raise ShapeError(
            f"as_interleaved_complex of {tensor.type}", fix="give a last axis of even extent"
        )
    return reshaped(tensor, (*tensor._type.shape[:-1], extent // 2, 2))


def _check_pairs(name: str, tensor: Tensor) -> None:
    if not tensor.rank or tensor._type.shape[-1] != 2:
        raise ShapeError(
            f"{name} takes pairs along a last axis of extent 2, got {tensor.type}",
            fix="use as_interleaved_complex for alternating parts",
        )


def _part(tensor: Tensor, number: int) -> Tensor:
    """Real parts (0) or imaginary parts (1); the last axis stays, with extent 1."""
    before = (0,) * (tensor.rank - 1)
    stop = (*tensor._type.shape[:-1], number + 1)
    steps = (1,) * tensor.rank
    return apply("slice", tensor, start=(*before, number), stop=stop, step=steps)


@operation
def complex_mul(lhs: Any, rhs: Any) -> Tensor:
    """The product of complex numbers as pairs, with broadcasting of all axes but the last.

    Args:
        lhs: shape (..., 2).
        rhs: shape (..., 2).

    Raises:
        ShapeError: a last axis is not of extent 2, or the others do not broadcast.
    """
    given = promoted("complex_mul", lhs, rhs)
    for tensor in given:
        _check_pairs("complex_mul", tensor)
    (a, b), (c, d) = ((_part(t, 0), _part(t, 1)) for t in given)
    mul, add, sub = get_op("mul"), get_op("add"), get_op("sub")
    real = elementwise(sub, elementwise(mul, a, c), elementwise(mul, b, d))
    imaginary = elementwise(add, elementwise(mul, a, d), elementwise(mul, b, c))
    return apply("concat", real, imaginary, axis=real.rank - 1)


_NORMALIZATIONS: Final = ("backward", "ortho", "forward")


@operation
def irfft(
    input_tensor: Any,
    n: int | None = None,
    axis: int = -1,
    normalization: str = "backward",
    input_is_complex: bool = False,
    buffer_size_mb: int = 512,
) -> Tensor:
    """The inverse of the Fourier transform of real values: real values from half a spectrum.

    Args:
        input_tensor: the spectrum from frequency 0 up: real numbers, or pairs (real part, imaginary
            part) along a last axis.
        n: how many values; ``2 * (extent - 1)`` if left out. A longer spectrum is cut off, a
            shorter one goes on with zeros.
        axis: the axis of frequencies; the axis of pairs is not counted.
        normalization: ``"backward"`` divides by n, ``"ortho"`` by its root, ``"forward"`` by 1.
        input_is_complex: whether the last axis holds pairs.
        buffer_size_mb: has no effect here.

    Returns:
        The input's shape without the axis of pairs, with n values along the axis.

    Computed by a contraction with a matrix of cosines and sines (its entries are rounded once), so
    its error is that of a contraction; it takes n times the number of frequencies per line. Half
    precision is computed in float32 and rounded once.

    Raises:
        ShapeError: the last axis does not hold pairs, or n is less than 1.
        ArgumentError: an unknown normalization.
    """
    x = float_operand("irfft", input_tensor)
    name = str(getattr(normalization, "value", normalization)).lower()
    if name not in _NORMALIZATIONS:
        raise ArgumentError(
            f"irfft has no normalization {normalization!r}", fix=f"use {', '.join(_NORMALIZATIONS)}"
        )
    if input_is_complex:
        _check_pairs("irfft", x)
    rank = x.rank - input_is_complex
    place = normalize_axis(axis, rank)
    count = 2 * (known_extent(x, place) - 1) if n is None else n
    if type(count) is not int or count < 1:
        raise ShapeError(f"irfft to {count} values", fix="give n from 1 up")
    result = x.dtype
    wide = cast_to(x, float32 if result.is_half else result)
    return cast_to(_transform(wide, place, count, name, input_is_complex), result)


def _transform(x: Tensor, axis: int, count: int, name: str, pairs: bool) -> Tensor:
    used = min(known_extent(x, axis), count // 2 + 1)
    stop = tuple(used if n == axis else d for n, d in enumerate(x._type.shape))
    zeros, ones = (0,) * x.rank, (1,) * x.rank
    spectrum = apply("slice", x, start=zeros, stop=stop, step=ones)
    scale = {"backward": 1 / count, "ortho": count**-0.5, "forward": 1.0}[name]
    waves = _waves(x, used, count, scale, 0)
    if pairs:
        lifted = [reshaped(w, (used, 1, count)) for w in (waves, _waves(x, used, count, scale, 1))]
        waves = apply("concat", *lifted, axis=1)
    found = apply(
        "dot_general", spectrum, waves, x_batch=(), y_batch=(),
        x_contract=(axis, x.rank - 1) if pairs else (axis,),
        y_contract=(0, 1) if pairs else (0,),
    )  # fmt: skip
    rank = x.rank - pairs
    order = list(range(rank - 1))
    order.insert(axis, rank - 1)
    return found if axis == rank - 1 else apply("permute", found, axes=tuple(order))


def _waves(x: Tensor, used: int, count: int, scale: float, part: int) -> Tensor:
    """Shape (frequencies, count): scaled cosines, or negated sines, twice those that stand for two.

    The angle of frequency k at value j is that of ``k * j mod count``, which is exact; so a table
    of count entries has all there are.
    """
    device = x._type.device
    shape = (used, count)
    frequency, value = (
        apply("iota", shape=shape, axis=n, dtype=int64, device=device) for n in (0, 1)
    )
    turns = scalar_like(count, int64, device)
    angle = elementwise(get_op("mod"), apply("mul", frequency, value), turns)
    table = constant_of(
        (scale * _wave(count, part)).astype(x.dtype.numpy), tensor_type(x.dtype, (count,), device)
    )
    found = apply("gather", table, angle, axis=0)
    weight = np.full((used, 1), 2.0)
    weight[0] = 1 - part
    if count % 2 == 0 and used == count // 2 + 1:
        weight[-1] = 1 - part
    factors = constant_of(weight.astype(x.dtype.numpy), tensor_type(x.dtype, weight.shape, device))
    return elementwise(get_op("mul"), found, factors)


def _wave(count: int, part: int) -> Array:
    """``cos(2 pi i / count)``, or ``-sin``, in float64, exact where they are 0 or 1."""
    place = np.arange(count)
    eighths = 8 * place
    octant, rest = eighths // count, eighths % count
    # Angles below an eighth of a turn: the rest of the circle is theirs, mirrored.
    low = np.where(octant % 2 == 0, rest, count - rest) * (np.pi / (4 * count))
    cosine, sine = np.cos(low), np.sin(low)
    quarter = (octant + 1) // 2 % 4
    turned = [(cosine, sine), (sine, cosine)]
    near = [np.where(quarter % 2 == 0, *pair) for pair in turned]
    if part == 0:
        return np.where(np.isin(octant, (2, 3, 4, 5)), -near[0], near[0])
    return np.where(np.isin(octant, (4, 5, 6, 7)), near[1], -near[1])
