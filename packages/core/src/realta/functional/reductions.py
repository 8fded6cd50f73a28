"""Reductions over axes, with the array API's defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    cast_to,
    elementwise,
    float_operand,
    one_device,
    reshaped,
    same_version,
)
from realta.functional.operation import operation
from realta.graph import Value
from realta.ops import get_op
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import (
    DType,
    as_dtype,
    bool_,
    float32,
    float64,
    normalize_axes,
    normalize_axis,
    sum_dtype,
)

__all__ = [
    "accumulating", "all", "any", "argmax", "argmin", "logsumexp", "max", "mean", "min", "prod",
    "std", "sum", "var",
]  # fmt: skip

Axis = int | Sequence[int] | None


def _reduce(name: str, x: Tensor, axis: Axis, keepdims: bool, **attrs: Any) -> Tensor:
    axes = normalize_axes(axis, x.rank)
    result = apply(name, x, axes=axes, **attrs) if axes or attrs or name == "mean" else x
    return _keep(result, x, axes, keepdims)


def _keep(result: Tensor, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if keepdims and axes:
        return reshaped(result, [1 if n in axes else d for n, d in enumerate(x._type.shape)])
    return result if result is not x else same_version(x)


def accumulating(name: str, x: Any, dtype: Any) -> Tensor:
    """An operand in the dtype of its sum: bool and narrow integers become int64 or uint64."""
    (tensor,) = one_device(name, x)
    wanted: DType = as_dtype(dtype) if dtype is not None else sum_dtype(tensor.dtype)
    return cast_to(tensor, wanted)


@operation
def sum(x: Any, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Sum over axes; 0 over nothing. Bool and narrow integers sum in int64 (uint64).

    Args:
        x: tensor.
        axis: axis or axes; all if None.
        dtype: dtype to accumulate in and to return.
        keepdims: whether reduced axes stay with extent 1.
    """
    return _reduce("sum", accumulating("sum", x, dtype), axis, keepdims)


@operation
def prod(x: Any, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Product over axes; 1 over nothing. Arguments as in `sum`."""
    return _reduce("prod", accumulating("prod", x, dtype), axis, keepdims)


@operation
def mean(x: Any, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean over axes; NaN over nothing. Arguments as in `sum`.

    Integers are averaged in float64, where float32 would lose digits; the default float results.
    """
    (tensor,) = one_device("mean", x)
    result = tensor.dtype if dtype is None else as_dtype(dtype)
    result = result if result.is_float else current_dtype()
    wide = result if tensor.dtype.is_float else float64
    return cast_to(_reduce("mean", cast_to(tensor, wide), axis, keepdims), result)


@operation
def var(x: Any, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variance over axes in two passes; integers in float64, the default float resulting.

    Args:
        x: tensor.
        axis: axis or axes; all if None.
        correction: subtracted from the count in the divisor (1 gives the sample variance).
        keepdims: whether reduced axes stay with extent 1.
    """
    (tensor,) = one_device("var", x)
    result = tensor.dtype if tensor.dtype.is_float else current_dtype()
    wide = cast_to(tensor, result if tensor.dtype.is_float else float64)
    return cast_to(_reduce("var", wide, axis, keepdims, correction=float(correction)), result)


@operation
def std(x: Any, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Standard deviation: the square root of `var`, with the same arguments, rounded once."""
    (tensor,) = one_device("std", x)
    result = tensor.dtype if tensor.dtype.is_float else current_dtype()
    wide = float64 if not tensor.dtype.is_float else float32 if tensor.dtype.is_half else result
    found = _reduce("var", cast_to(tensor, wide), axis, keepdims, correction=float(correction))
    return cast_to(apply("sqrt", found), result)


def _extreme(name: str, binary: str, x: Any, y: Any, axis: Any, keepdims: bool) -> Tensor:
    if isinstance(y, (Tensor, Value, np.ndarray)):
        return elementwise(get_op(binary), x, y)
    if isinstance(y, float):
        raise ArgumentError(
            f"the second argument of {name} is an axis or a tensor, got {y!r}",
            fix=f"use F.{binary}(x, {y!r}) for the elementwise function",
        )
    if y is not None:
        if axis is not None:
            raise ArgumentError(f"{name} got an axis twice", fix="give it once")
        axis = y
    (tensor,) = one_device(name, x)
    axes = normalize_axes(axis, tensor.rank)
    _refuse_empty(name, tensor, axes)
    return _reduce(name, tensor, axes, keepdims)


def _refuse_empty(name: str, tensor: Tensor, axes: tuple[int, ...]) -> None:
    shape = tensor._type.shape
    empty = [n for n in axes if isinstance(shape[n], int) and shape[n] == 0]
    if empty:
        raise ShapeError(
            f"{name} over axis {empty[0]}, which is empty, has no value",
            fix="check the extent first, or concat a neutral value",
        )


@operation
def max(x: Any, y: Any = None, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Largest element over axes (NaN wins); with a tensor ``y`` the elementwise maximum.

    Args:
        x: tensor.
        y: a tensor, or an axis.
        axis: axis or axes; all if None.
        keepdims: whether reduced axes stay with extent 1.

    Raises:
        ShapeError: a reduced axis is empty.
    """
    return _extreme("max", "maximum", x, y, axis, keepdims)


@operation
def min(x: Any, y: Any = None, /, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Smallest element over axes; with a tensor ``y`` the elementwise minimum. As in `max`."""
    return _extreme("min", "minimum", x, y, axis, keepdims)


@operation
def all(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are true (nonzero); True over nothing."""
    return _reduce("all", _truth("all", x), axis, keepdims)


@operation
def any(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Whether any element along axes is true (nonzero); False over nothing."""
    return _reduce("any", _truth("any", x), axis, keepdims)


def _truth(name: str, x: Any) -> Tensor:
    (tensor,) = one_device(name, x)
    return tensor if tensor.dtype is bool_ else elementwise(get_op("not_equal"), tensor, 0)


def _arg(name: str, x: Any, axis: int | None, keepdims: bool) -> Tensor:
    (tensor,) = one_device(name, x)
    rank = tensor.rank
    number = 0 if axis is None else normalize_axis(axis, rank)
    flat = reshaped(tensor, (tensor.size,)) if axis is None else tensor
    _refuse_empty(name, flat, (number,))
    found = apply(name, flat, axis=number)
    if not keepdims:
        return found
    axes = range(rank) if axis is None else (number,)
    return reshaped(found, [1 if n in axes else d for n, d in enumerate(tensor._type.shape)])


@operation
def argmax(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Index (int64) of the largest element: the first one, NaN wins; of all elements if no axis."""
    return _arg("argmax", x, axis, keepdims)


@operation
def argmin(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Index (int64) of the smallest element, as `argmax`."""
    return _arg("argmin", x, axis, keepdims)


@operation
def logsumexp(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """``log(sum(exp(x)))`` over axes; -inf where all elements are -inf."""
    return _reduce("logsumexp", float_operand("logsumexp", x), axis, keepdims)
