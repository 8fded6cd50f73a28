"""Diagonals: identity matrices and triangles."""

from __future__ import annotations

from typing import Any

from realta.errors import ShapeError
from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    constant_of,
    scalar_like,
)
from realta.functional.creation import device_name, shape_of
from realta.functional.operation import operation
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import as_dtype, convert_scalar, int64, tensor_type

__all__ = ["eye", "tril", "triu"]


@operation
def eye(
    n_rows: int, n_cols: int | None = None, *, k: int = 0, dtype: Any = None, device: Any = None
) -> Tensor:
    """Ones on the ``k``-th diagonal, zeros elsewhere; shape (n_rows, n_cols)."""
    shape = shape_of((n_rows, n_rows if n_cols is None else n_cols))
    found = current_dtype() if dtype is None else as_dtype(dtype)
    return cast_to(_diagonal(shape, k, "equal", device_name(device)), found)


def _diagonal(shape: tuple[Any, ...], k: int, comparison: str, device: str) -> Tensor:
    """Bool matrices: column - row compared with k."""
    rank = len(shape)
    column = apply("iota", shape=shape, axis=rank - 1, dtype=int64, device=device)
    row = apply("iota", shape=shape, axis=rank - 2, dtype=int64, device=device)
    border = constant_of(convert_scalar(k, int64), tensor_type(int64, (), device))
    return apply(comparison, apply("sub", column, row), broadcast(border, shape))


def _triangle(name: str, x: Any, k: int, comparison: str) -> Tensor:
    tensor = as_tensor(x)
    shape, device = tensor._type.shape, tensor._type.device
    if len(shape) < 2:
        raise ShapeError(f"{name} of {tensor.type}", fix="give a tensor of two or more axes")
    inside = _diagonal(shape, k, comparison, device)
    return apply("select", inside, tensor, broadcast(scalar_like(0, tensor.dtype, device), shape))


@operation
def tril(x: Any, k: int = 0) -> Tensor:
    """The elements on and below the ``k``-th diagonal of the last two axes; zeros elsewhere."""
    return _triangle("tril", x, k, "less_equal")


@operation
def triu(x: Any, k: int = 0) -> Tensor:
    """The elements on and above the ``k``-th diagonal of the last two axes; zeros elsewhere."""
    return _triangle("triu", x, k, "greater_equal")
