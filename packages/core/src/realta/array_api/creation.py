"""Creation functions under the standard's names and argument names."""

from __future__ import annotations

from typing import Any, Literal

import realta.functional as F
from realta.array_api.naming import called
from realta.errors import ArgumentError, ShapeError
from realta.functional import (
    arange,
    empty,
    empty_like,
    eye,
    linspace,
    ones,
    ones_like,
    tril,
    triu,
    zeros,
    zeros_like,
)
from realta.functional.operation import operation
from realta.interchange import asarray, from_dlpack
from realta.tensor import Tensor

__all__ = [
    "arange", "asarray", "empty", "empty_like", "eye", "from_dlpack", "full", "full_like",
    "linspace", "meshgrid", "ones", "ones_like", "tril", "triu", "zeros", "zeros_like",
]  # fmt: skip


def full(shape: Any, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """A tensor filled with one value. See `F.full`."""
    return F.full(shape, fill_value, dtype=dtype, device=device)


def full_like(x: Any, /, fill_value: Any, *, dtype: Any = None, device: Any = None) -> Tensor:
    """One value in the shape, dtype and device of another tensor. See `F.full_like`."""
    return F.full_like(x, fill_value, dtype=dtype, device=device)


def meshgrid(*arrays: Any, indexing: Literal["xy", "ij"] = "xy") -> tuple[Tensor, ...]:
    """Coordinates of a grid: one tensor for each vector, all of the grid's shape.

    Args:
        arrays: vectors, or single numbers as 0-d tensors, of one dtype.
        indexing: ``"ij"`` gives shape (n1, n2, n3 …), ``"xy"`` (n2, n1, n3 …).

    Raises:
        ShapeError: an argument has more than one axis.
        ArgumentError: another value of ``indexing``.
    """
    return tuple(_meshgrid(list(arrays), indexing)) if arrays else ()


@operation
@called("meshgrid")
def _meshgrid(arrays: list[Any], indexing: str) -> list[Tensor]:
    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"meshgrid has no indexing {indexing!r}", fix='use "xy" or "ij"')
    lines = [F.pos(x) for x in arrays]
    wrong = [x for x in lines if x.rank > 1]
    if wrong:
        raise ShapeError(f"meshgrid of {wrong[0].type}", fix="give vectors")
    extents = [x.shape[0] if x.rank else 1 for x in lines]
    shape: list[Any] = list(extents)
    places = list(range(len(lines)))
    if indexing == "xy" and len(lines) > 1:
        shape[:2] = [extents[1], extents[0]]
        places[:2] = [1, 0]
    found = []
    for line, place, extent in zip(lines, places, extents, strict=True):
        lined = [extent if n == place else 1 for n in range(len(shape))]
        found.append(F.broadcast_to(F.reshape(line, lined), shape))
    return found
