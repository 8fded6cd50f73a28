"""Creation: tensors from a shape and a rule; no memory is touched before they are asked for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.errors import ArgumentError
from realta.functional.arguments import apply, as_tensor, constant_of, scalar_like
from realta.functional.operation import operation
from realta.plugins import current_device, current_dtype, device_of
from realta.tensor import Tensor
from realta.types import DType, as_dim, as_dtype, convert_scalar, is_weak, tensor_type

__all__ = [
    "arange", "constant", "empty", "empty_like", "eye", "full", "full_like", "linspace", "ones",
    "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def shape_of(shape: Any) -> tuple[Any, ...]:
    if isinstance(shape, int) or isinstance(shape, str) or not hasattr(shape, "__iter__"):
        return (as_dim(shape),)
    return tuple([as_dim(d) for d in shape])


def device_name(device: Any) -> str:
    return current_device() if device is None else device_of(device).name


def _scalar_dtype(value: Any) -> DType:
    if isinstance(value, bool):
        return as_dtype("bool")
    return as_dtype("int64") if isinstance(value, int) else current_dtype()


def _fill(shape: tuple[Any, ...], value: Any, dtype: DType, device: str) -> Tensor:
    if isinstance(value, Tensor):
        scalar = value
    elif is_weak(value):
        scalar = scalar_like(value, dtype, device)
    else:
        scalar = constant_of(np.asarray(value, dtype.numpy), tensor_type(dtype, (), device))
    return scalar if not shape else apply("broadcast", scalar, shape=shape)


@operation
def full(
    shape: int | Sequence[Any], value: Any, *, dtype: Any = None, device: Any = None
) -> Tensor:
    """A tensor filled with one value.

    Args:
        shape: extents.
        value: number.
        dtype: element type; that of the value if left out (int64, bool, the default float).
        device: where; the default device if left out.

    Raises:
        ShapeError: a negative extent.
    """
    if not is_weak(value):
        raise ArgumentError(
            f"full takes a number, got {type(value).__name__}", fix="use broadcast_to"
        )
    found = _scalar_dtype(value) if dtype is None else as_dtype(dtype)
    return _fill(shape_of(shape), value, found, device_name(device))


@operation
def zeros(shape: int | Sequence[Any], *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of zeros; default float dtype if none is given."""
    return _fill(
        shape_of(shape), 0, as_dtype(dtype) if dtype else current_dtype(), device_name(device)
    )


@operation
def ones(shape: int | Sequence[Any], *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor of ones; default float dtype if none is given."""
    return _fill(
        shape_of(shape), 1, as_dtype(dtype) if dtype else current_dtype(), device_name(device)
    )


@operation
def empty(shape: int | Sequence[Any], *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor whose values do not matter; here zeros, since unwritten memory is never shown."""
    return _fill(
        shape_of(shape), 0, as_dtype(dtype) if dtype else current_dtype(), device_name(device)
    )


def _like(x: Any, value: Any, dtype: Any, device: Any) -> Tensor:
    tensor = as_tensor(x)
    place = tensor._type.device if device is None else device_of(device).name
    return _fill(tensor._type.shape, value, as_dtype(dtype) if dtype else tensor.dtype, place)


@operation
def full_like(x: Any, value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value in the shape, dtype and device of another tensor."""
    return _like(x, value, dtype, device)


@operation
def zeros_like(x: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros in the shape, dtype and device of another tensor."""
    return _like(x, 0, dtype, device)


@operation
def ones_like(x: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Ones in the shape, dtype and device of another tensor."""
    return _like(x, 1, dtype, device)


@operation
def empty_like(x: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """Zeros in the shape, dtype and device of another tensor (unwritten memory is never shown)."""
    return _like(x, 0, dtype, device)


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
        stop: end.
        step: distance, not 0.
        dtype: element type; int64 for ints, else the default float.
        device: where.

    Each float is ``start + i * step`` in float64, then rounded; the length is exact for ints.

    Raises:
        ArgumentError: the step is 0.
    """
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ArgumentError("arange with step 0 never ends", fix="give another step")
    whole = all(isinstance(v, int) and not isinstance(v, bool) for v in (start, stop, step))
    count = max(len(range(start, stop, step)) if whole else math.ceil((stop - start) / step), 0)
    found = as_dtype(dtype) if dtype else (as_dtype("int64") if whole else current_dtype())
    place = device_name(device)
    if whole:
        wide = as_dtype("int64")
        index = apply("iota", shape=(count,), axis=0, dtype=wide, device=place)
    else:
        wide = as_dtype("float64")
        index = apply("iota", shape=(count,), axis=0, dtype=as_dtype("int64"), device=place)
        index = apply("cast", index, dtype=wide)
    if step != 1:
        index = apply("mul", index, _fill((count,), step, wide, place))
    if start != 0:
        index = apply("add", index, _fill((count,), start, wide, place))
    return index if found is wide else apply("cast", index, dtype=found)


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
    """``num`` evenly spaced values from ``start`` to ``stop``; the end included unless told otherwise.

    Computed in float64 as NumPy does, then rounded once.
    """
    if num < 0:
        raise ArgumentError(f"linspace of {num} values", fix="give a number >= 0")
    values = np.linspace(start, stop, num, endpoint=endpoint)
    found = as_dtype(dtype) if dtype else current_dtype()
    with np.errstate(over="ignore"):
        return constant_of(
            values.astype(found.numpy), tensor_type(found, (num,), device_name(device))
        )


@operation
def eye(
    n_rows: int, n_cols: int | None = None, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """Ones on the ``k``-th diagonal, zeros elsewhere; shape (n_rows, n_cols)."""
    shape = shape_of((n_rows, n_rows if n_cols is None else n_cols))
    found = as_dtype(dtype) if dtype else current_dtype()
    return apply("cast", _diagonal(shape, k, "equal", device_name(device)), dtype=found)  # type: ignore[no-any-return]


def _diagonal(shape: tuple[Any, ...], k: int, comparison: str, device: str) -> Tensor:
    """Bool matrix: column - row compared with k."""
    wide = as_dtype("int64")
    column = apply("iota", shape=shape, axis=len(shape) - 1, dtype=wide, device=device)
    row = apply("iota", shape=shape, axis=len(shape) - 2, dtype=wide, device=device)
    border = constant_of(convert_scalar(k, wide), tensor_type(wide, (), device))
    wide_border = apply("broadcast", border, shape=shape)
    return apply(comparison, apply("sub", column, row), wide_border)  # type: ignore[no-any-return]


def _triangle(x: Any, k: int, comparison: str) -> Tensor:
    tensor = as_tensor(x)
    if tensor.rank < 2:
        raise ArgumentError(f"a triangle of {tensor.type}", fix="give a tensor of two or more axes")
    inside = _diagonal(tensor._type.shape, k, comparison, tensor._type.device)
    zero = _fill(tensor._type.shape, 0, tensor.dtype, tensor._type.device)
    return apply("select", inside, tensor, zero)  # type: ignore[no-any-return]


@operation
def tril(x: Any, k: int = 0) -> Tensor:
    """The elements on and below the ``k``-th diagonal of the last two axes; zeros elsewhere."""
    return _triangle(x, k, "less_equal")


@operation
def triu(x: Any, k: int = 0) -> Tensor:
    """The elements on and above the ``k``-th diagonal of the last two axes; zeros elsewhere."""
    return _triangle(x, k, "greater_equal")
