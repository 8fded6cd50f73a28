"""Creation: tensors from a shape and a rule; no memory is touched before they are asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.errors import ArgumentError
from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    constant_of,
    python_dtype,
    scalar_like,
)
from realta.functional.operation import arithmetic, operation
from realta.plugins import current_device, current_dtype, device_of
from realta.tensor import Tensor
from realta.types import (
    Dim,
    DType,
    as_dim,
    as_dtype,
    float64,
    int64,
    is_weak,
    largest,
    tensor_type,
)

__all__ = [
    "arange", "constant", "device_name", "empty", "empty_like", "full", "full_like",
    "linspace", "ones", "ones_like", "shape_of", "zeros", "zeros_like",
]  # fmt: skip

Shape = int | Sequence[Any]


def shape_of(shape: Any) -> tuple[Any, ...]:
    """Extents from an int, a name, or a sequence of them.

    Raises:
        ShapeError: a negative extent.
    """
    if isinstance(shape, (int, str)) or not hasattr(shape, "__iter__"):
        return (as_dim(shape),)
    return tuple([as_dim(d) for d in shape])


def device_name(device: Any) -> str:
    """Canonical name of a device that was given, or of the default device."""
    return current_device() if device is None else device_of(device).name


def _dtype_or(dtype: Any, default: DType) -> DType:
    return default if dtype is None else as_dtype(dtype)


def _fill(shape: tuple[Any, ...], value: Any, dtype: DType, device: str) -> Tensor:
    return broadcast(scalar_like(value, dtype, device), shape)


def _checked_number(name: str, value: Any) -> None:
    if not is_weak(value) and not isinstance(value, np.generic):
        raise ArgumentError(
            f"{name} takes a number, got {type(value).__name__}",
            fix="use F.broadcast_to for a tensor",
        )


def _python(value: Any) -> Any:
    return value if is_weak(value) else value.item()


@arithmetic
def full(shape: Shape, value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor filled with one value.

    Args:
        shape: extents.
        value: number.
        dtype: element type; that of the value if left out (int64, bool, the default float; that of
            a NumPy scalar).
        device: where; the default device if left out.

    Raises:
        ShapeError: a negative extent.
        DTypeError: the dtype cannot hold the value.
    """
    _checked_number("full", value)
    own = python_dtype(value) if is_weak(value) else as_dtype(value.dtype)
    found = _dtype_or(dtype, own)
    return _fill(shape_of(shape), _python(value), found, device_name(device))


@operation
def zeros(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of zeros; default float dtype if none is given."""
    return _fill(shape_of(shape), 0, _dtype_or(dtype, current_dtype()), device_name(device))


@operation
def ones(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of ones; default float dtype if none is given."""
    return _fill(shape_of(shape), 1, _dtype_or(dtype, current_dtype()), device_name(device))


@operation
def empty(shape: Shape, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose values do not matter; here zeros, since unwritten memory is never shown."""
    return _fill(shape_of(shape), 0, _dtype_or(dtype, current_dtype()), device_name(device))


def _like(x: Any, value: Any, dtype: Any, device: Any) -> Tensor:
    type_ = as_tensor(x)._type
    place = type_.device if device is None else device_of(device).name
    return _fill(type_.shape, value, _dtype_or(dtype, type_.dtype), place)


@arithmetic
def full_like(like: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value in the shape, dtype and device of another tensor."""
    _checked_number("full_like", value)
    return _like(like, _python(value), dtype, device)


@operation
def zeros_like(like: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros in the shape, dtype and device of another tensor."""
    return _like(like, 0, dtype, device)


@operation
def ones_like(like: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones in the shape, dtype and device of another tensor."""
    return _like(like, 1, dtype, device)


@operation
def empty_like(like: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros in the shape, dtype and device of another tensor (unwritten memory is not shown)."""
    return _like(like, 0, dtype, device)


def constant(value: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of given values: the same as ``Tensor(value, dtype=, device=)``."""
    return Tensor(value, dtype=dtype, device=device)


@operation
def arange(
    start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """Values from ``start`` (included) to ``stop`` (excluded).

    Args:
        start: first value, or the end if ``stop`` is left out.
        stop: end; a symbolic extent where start and step are ints.
        step: distance, not 0.
        dtype: element type; int64 for ints, else the default float.
        device: where.

    Each float is ``start + i * step`` in float64, then rounded. The length is exact: it is that of
    Python's range for ints, else ``ceil((stop - start) / step)``, never computed in ``dtype``.

    Raises:
        ArgumentError: the step is 0, or a bound is no finite number.
    """
    if stop is None:
        start, stop = 0, start
    given = (start, stop, step)
    symbolic = isinstance(stop, Dim) and type(start) is int and type(step) is int
    if not symbolic and not all(isinstance(v, (int, float)) and math.isfinite(v) for v in given):
        raise ArgumentError(f"arange of {given}", fix="give finite numbers")
    if step == 0:
        raise ArgumentError("arange with step 0 never ends", fix="give another step")
    whole = symbolic or all(isinstance(v, int) for v in given)
    found = _dtype_or(dtype, int64 if whole else current_dtype())
    place = device_name(device)
    if symbolic:
        count, wide = largest(-((start - stop) // step), 0), int64
    elif whole:
        count, wide = len(range(start, stop, step)), int64
    else:
        count, wide = max(math.ceil((stop - start) / step), 0), float64
    index = cast_to(apply("iota", shape=(count,), axis=0, dtype=int64, device=place), wide)
    if step != 1:
        index = apply("mul", index, _fill((count,), step, wide, place))
    if start != 0:
        index = apply("add", index, _fill((count,), start, wide, place))
    return cast_to(index, found)


@operation
def linspace(
    start: float,
    stop: float,
    num: int,
    *,
    dtype: Any = None,
    device: Any = None,
    endpoint: bool = True,
) -> Tensor:
    """``num`` evenly spaced values from ``start`` to ``stop``.

    Args:
        start: first value.
        stop: last value, or where the values end.
        num: how many.
        dtype: element type; the default float if left out.
        device: where.
        endpoint: whether ``stop`` is the last value.

    Computed in float64 as NumPy does, then rounded once.

    Raises:
        ArgumentError: a negative number of values.
    """
    if num < 0:
        raise ArgumentError(f"linspace of {num} values", fix="give a number >= 0")
    values = np.linspace(start, stop, num, endpoint=endpoint)
    found = _dtype_or(dtype, current_dtype())
    place = device_name(device)
    return cast_to(constant_of(values, tensor_type(float64, (num,), place)), found)
