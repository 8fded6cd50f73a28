"""Sorting, selection and one-hot encoding."""

from __future__ import annotations

from typing import Any

from realta.errors import ArgumentError, DTypeError
from realta.functional.arguments import apply, apply_many, cast_to, known_extent, one_device
from realta.functional.operation import operation
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import as_dtype, int64, normalize_axis

__all__ = ["argsort", "bottom_k", "one_hot", "sort", "top_k"]


@operation
def sort(x: Any, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis; NaN last.

    Args:
        x: tensor.
        axis: axis.
        descending: whether the largest come first.
        stable: whether equal elements keep their order; they always do.
    """
    (tensor,) = one_device("sort", x)
    number = normalize_axis(axis, tensor.rank)
    return apply("sort", tensor, axis=number, descending=bool(descending))


@operation
def argsort(x: Any, axis: int = -1, *, descending: bool = False, stable: bool = True) -> Tensor:
    """The indices (int64) that put the elements in order along an axis. Arguments as in `sort`."""
    (tensor,) = one_device("argsort", x)
    number = normalize_axis(axis, tensor.rank)
    return apply("argsort", tensor, axis=number, descending=bool(descending))


def _select(name: str, input: Any, k: int, axis: int, largest: bool) -> tuple[Tensor, Tensor]:
    (tensor,) = one_device(name, input)
    number = normalize_axis(axis, tensor.rank)
    extent = known_extent(tensor, number)
    if not 0 <= k <= extent:
        raise ArgumentError(
            f"{name} of {k!r} elements along an axis of {extent}", fix=f"give k from 0 to {extent}"
        )
    values, indices = apply_many("top_k", tensor, k=k, axis=number, largest=largest)
    return values, indices


@operation
def top_k(input: Any, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The ``k`` largest elements along an axis, in falling order, and their indices (int64)."""
    return _select("top_k", input, k, axis, True)


@operation
def bottom_k(input: Any, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The ``k`` smallest elements along an axis, in rising order, and their indices (int64)."""
    return _select("bottom_k", input, k, axis, False)


@operation
def one_hot(indices: Any, depth: int, *, dtype: Any = None) -> Tensor:
    """1 where the new last axis equals the index, else 0; a row of zeros for an index outside.

    Args:
        indices: integer tensor of any shape.
        depth: extent of the new axis.
        dtype: of the result; the default float if left out.

    Raises:
        DTypeError: the indices are no integers.
    """
    (tensor,) = one_device("one_hot", indices)
    if not tensor.dtype.is_integer:
        raise DTypeError(f"one_hot of {tensor.dtype}", fix="give integer indices")
    found = as_dtype(dtype) if dtype is not None else current_dtype()
    return apply("one_hot", cast_to(tensor, int64), depth=int(depth), dtype=found)
