"""Reductions and scans over axes, with the array API's defaults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import apply, cast_to, elementwise, one_device
from realta.functional.operation import operation
from realta.ops import get_op
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import (
    DType,
    as_dtype,
    bool_,
    normalize_axes,
    normalize_axis,
    sum_dtype,
)

__all__ = [
    "all", "any", "argmax", "argmin", "cummax", "cummin", "cumprod", "cumsum", "logsoftmax",
    "logsumexp", "max", "mean", "min", "prod", "softmax", "std", "sum", "var",
]  # fmt: skip

Axis = int | Sequence[int] | None


def _reduce(name: str, x: Tensor, axis: Axis, keepdims: bool, **attrs: Any) -> Tensor:
    axes = normalize_axes(axis, x.rank)
    result = apply(name, x, axes=axes, **attrs) if axes or name in ("mean", "var") else x
    return _keep(result, x, axes, keepdims)


def _keep(result: Tensor, x: Tensor, axes: tuple[int, ...], keepdims: bool) -> Tensor:
    if keepdims and axes:
        shape = tuple([1 if n in axes else d for n, d in enumerate(x._type.shape)])
        return apply("reshape", result, shape=shape)  # type: ignore[no-any-return]
    return result if result is not x else x._another_handle()


def _float(x: Any, name: str) -> Tensor:
    (tensor,) = one_device(name, x)
    return tensor if tensor.dtype.is_float else cast_to(tensor, current_dtype())


def _accumulate(x: Any, dtype: Any, name: str) -> Tensor:
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
    return _reduce("sum", _accumulate(x, dtype, "sum"), axis, keepdims)


@operation
def prod(x: Any, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Product over axes; 1 over nothing. Arguments as in `sum`."""
    return _reduce("prod", _accumulate(x, dtype, "prod"), axis, keepdims)


@operation
def mean(x: Any, axis: Axis = None, *, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean over axes; NaN over nothing. Integers give the default float. As in `sum`."""
    (tensor,) = one_device("mean", x)
    if dtype is not None:
        tensor = cast_to(tensor, as_dtype(dtype))
    elif not tensor.dtype.is_float:
        tensor = _exact_float(tensor)
        return cast_to(_reduce("mean", tensor, axis, keepdims), current_dtype())
    return _reduce("mean", tensor, axis, keepdims)


def _exact_float(tensor: Tensor) -> Tensor:
    """Integers as float64, in which their mean does not lose what float32 would."""
    return cast_to(tensor, as_dtype("float64"))


@operation
def var(x: Any, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Variance over axes in two passes.

    Args:
        x: tensor; integers are cast to the default float.
        axis: axis or axes; all if None.
        correction: subtracted from the count in the divisor (1 gives the sample variance).
        keepdims: whether reduced axes stay with extent 1.
    """
    (tensor,) = one_device("var", x)
    if not tensor.dtype.is_float:
        wide = _reduce("var", _exact_float(tensor), axis, keepdims, correction=float(correction))
        return cast_to(wide, current_dtype())
    return _reduce("var", tensor, axis, keepdims, correction=float(correction))


@operation
def std(x: Any, axis: Axis = None, *, correction: float = 0.0, keepdims: bool = False) -> Tensor:
    """Standard deviation: the square root of `var`, with the same arguments."""
    (tensor,) = one_device("std", x)
    wide = tensor if tensor.dtype.is_float else _exact_float(tensor)
    found = _reduce("var", wide, axis, keepdims, correction=float(correction))
    root: Tensor = apply("sqrt", found)
    return root if tensor.dtype.is_float else cast_to(root, current_dtype())


def _extreme(name: str, elementwise_name: str, x: Any, y: Any, axis: Any, keepdims: bool) -> Tensor:
    if isinstance(y, Tensor):
        return elementwise(get_op(elementwise_name), x, y)  # type: ignore[no-any-return]
    if isinstance(y, float):
        raise ArgumentError(
            f"{name}(x, {y!r}): the second argument is an axis, or a tensor",
            fix=f"use F.{elementwise_name}(x, {y!r}) for the elementwise function",
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
    empty = [n for n in axes if tensor._type.shape[n] == 0]
    if empty:
        raise ShapeError(
            f"{name} over axis {empty[0]}, which is empty, has no value",
            where=f"{name}({tensor.type}, axis={axes})",
            fix="check the extent first, or use F.where with a neutral value",
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
    """Smallest element over axes (NaN wins); with a tensor ``y`` the elementwise minimum. As in `max`."""
    return _extreme("min", "minimum", x, y, axis, keepdims)


@operation
def all(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Whether all elements along axes are true (nonzero); True over nothing."""
    return _reduce("all", _truth(x, "all"), axis, keepdims)


@operation
def any(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """Whether any element along axes is true (nonzero); False over nothing."""
    return _reduce("any", _truth(x, "any"), axis, keepdims)


def _truth(x: Any, name: str) -> Tensor:
    (tensor,) = one_device(name, x)
    return tensor if tensor.dtype is bool_ else elementwise(get_op("not_equal"), tensor, 0)


def _arg(name: str, x: Any, axis: int | None, keepdims: bool) -> Tensor:
    (tensor,) = one_device(name, x)
    rank = tensor.rank
    flat: Tensor = apply("reshape", tensor, shape=(tensor.size,)) if axis is None else tensor
    number = 0 if axis is None else normalize_axis(axis, rank)
    _refuse_empty(name, flat, (number,))
    found: Tensor = apply(name, flat, axis=number)
    if not keepdims:
        return found
    axes = range(rank) if axis is None else (number,)
    shape = tuple([1 if n in axes else d for n, d in enumerate(tensor._type.shape)])
    return apply("reshape", found, shape=shape)  # type: ignore[no-any-return]


@operation
def argmax(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Index (int64) of the largest element: the first one, NaN wins; of the flattened tensor if no axis."""
    return _arg("argmax", x, axis, keepdims)


@operation
def argmin(x: Any, axis: int | None = None, *, keepdims: bool = False) -> Tensor:
    """Index (int64) of the smallest element: the first one, NaN wins; of the flattened tensor if no axis."""
    return _arg("argmin", x, axis, keepdims)


def _scan(name: str, x: Tensor, axis: int | None, exclusive: bool, reverse: bool) -> Tensor:
    flat = x
    if axis is None:
        if x.rank != 1:
            flat = apply("reshape", x, shape=(x.size,))
        axis = 0
    number = normalize_axis(axis, flat.rank)
    return apply(name, flat, axis=number, exclusive=exclusive, reverse=reverse)  # type: ignore[no-any-return]


@operation
def cumsum(
    x: Any,
    axis: int | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Running sum along an axis; of the flattened tensor if None.

    Args:
        x: tensor; bool and narrow integers accumulate in int64 (uint64).
        axis: axis.
        exclusive: whether each element sums those before it only.
        reverse: whether it runs from the end.
        dtype: dtype to accumulate in and to return.
    """
    return _scan("cumsum", _accumulate(x, dtype, "cumsum"), axis, exclusive, reverse)


@operation
def cumprod(
    x: Any,
    axis: int | None = None,
    exclusive: bool = False,
    reverse: bool = False,
    *,
    dtype: Any = None,
) -> Tensor:
    """Running product along an axis. Arguments as in `cumsum`."""
    return _scan("cumprod", _accumulate(x, dtype, "cumprod"), axis, exclusive, reverse)


@operation
def cummax(x: Any, axis: int | None = None, reverse: bool = False) -> Tensor:
    """Running maximum along an axis; NaN propagates."""
    return _scan("cummax", one_device("cummax", x)[0], axis, False, reverse)


@operation
def cummin(x: Any, axis: int | None = None, reverse: bool = False) -> Tensor:
    """Running minimum along an axis; NaN propagates."""
    return _scan("cummin", one_device("cummin", x)[0], axis, False, reverse)


@operation
def softmax(x: Any, axis: int = -1) -> Tensor:
    """``exp(x - max) / sum(exp(x - max))`` along an axis."""
    tensor = _float(x, "softmax")
    return apply("softmax", tensor, axis=normalize_axis(axis, tensor.rank))  # type: ignore[no-any-return]


@operation
def logsoftmax(x: Any, axis: int = -1) -> Tensor:
    """Logarithm of `softmax` along an axis, without its overflow."""
    tensor = _float(x, "logsoftmax")
    return apply("logsoftmax", tensor, axis=normalize_axis(axis, tensor.rank))  # type: ignore[no-any-return]


@operation
def logsumexp(x: Any, axis: Axis = None, *, keepdims: bool = False) -> Tensor:
    """``log(sum(exp(x)))`` over axes; -inf where all elements are -inf."""
    return _reduce("logsumexp", _float(x, "logsumexp"), axis, keepdims)
