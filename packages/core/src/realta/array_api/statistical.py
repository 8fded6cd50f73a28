"""Statistical and utility functions under the standard's names."""

from __future__ import annotations

from typing import Any

import realta.functional as F
from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.functional import (
    all,
    any,
    cumulative_prod,
    cumulative_sum,
    mean,
    prod,
    std,
    sum,
    var,
)
from realta.functional.arguments import known_extent, promoted
from realta.functional.operation import operation
from realta.tensor import Tensor
from realta.types import bool_, normalize_axis

__all__ = [
    "all", "any", "cumulative_prod", "cumulative_sum", "diff", "max", "mean", "min", "prod", "std",
    "sum", "var",
]  # fmt: skip


def max(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Largest element over axes; NaN wins. See `F.max`."""
    return F.max(x, axis=axis, keepdims=keepdims)


def min(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Smallest element over axes; NaN wins. See `F.min`."""
    return F.min(x, axis=axis, keepdims=keepdims)


@operation
def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis.

    Args:
        x: tensor of one axis or more.
        axis: axis.
        n: how often.
        prepend: tensor put in front along the axis before, or None.
        append: tensor put behind, or None.

    Raises:
        ArgumentError: a negative ``n``.
        ShapeError: a 0-d tensor, or extents that differ.
        DTypeError: bools.
    """
    if type(n) is not int or n < 0:
        raise ArgumentError(f"diff taken {n!r} times", fix="give a number >= 0")
    parts = promoted("diff", *[part for part in (prepend, x, append) if part is not None])
    tensor = F.concat(parts, axis) if len(parts) > 1 else F.pos(parts[0])
    if not tensor.rank:
        raise ShapeError("diff of a 0-d tensor", fix="give a tensor of one axis or more")
    if tensor.dtype is bool_:
        raise DTypeError("diff of bools", fix="cast them to a numeric dtype")
    head = (slice(None),) * normalize_axis(axis, tensor.rank)
    for _ in range(n):
        if known_extent(tensor, len(head)) == 0:
            break
        tensor = tensor[(*head, slice(1, None))] - tensor[(*head, slice(None, -1))]
    return tensor
