"""Linear algebra of the main namespace: products of matrices, vectors and tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import realta.functional as F
from realta.errors import ArgumentError, ShapeError
from realta.functional import matmul, matrix_transpose
from realta.functional.arguments import apply, promoted, same_shape
from realta.functional.operation import operation
from realta.tensor import Tensor
from realta.types import broadcast_shapes, normalize_axis, normalize_axis_order

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


@operation
def tensordot(x1: Any, x2: Any, /, *, axes: int | Sequence[Any] = 2) -> Tensor:
    """Sums of products over pairs of axes.

    Args:
        x1: tensor.
        x2: tensor.
        axes: how many: the last of ``x1`` with the first of ``x2``; or two sequences of axes.

    Returns:
        A tensor of the other axes of ``x1``, then those of ``x2``.

    Raises:
        ArgumentError: more axes than there are, or not as many of one as of the other.
        ShapeError: the extents of a pair differ.
    """
    first, second = promoted("tensordot", x1, x2)
    if isinstance(axes, int):
        if not 0 <= axes <= min(first.rank, second.rank):
            raise ArgumentError(
                f"tensordot over {axes} axes of {first.type} and {second.type}",
                fix="name no more axes than each of them has",
            )
        left = tuple(range(first.rank - axes, first.rank))
        right = tuple(range(axes))
    else:
        left = normalize_axis_order(_axes(axes[0]), first.rank)
        right = normalize_axis_order(_axes(axes[1]), second.rank)
    if len(left) != len(right):
        raise ArgumentError(
            f"tensordot over {len(left)} axes of one and {len(right)} of the other",
            fix="name as many of each",
        )
    shapes = [[t._type.shape[n] for n in named] for t, named in ((first, left), (second, right))]
    if not same_shape(tuple(shapes[0]), tuple(shapes[1])):
        raise ShapeError(
            f"tensordot of {first.type} and {second.type} over axes of {shapes[0]} and {shapes[1]}",
            fix="pair axes of one extent",
        )
    return apply(
        "dot_general",
        first,
        second,
        x_batch=(),
        y_batch=(),
        x_contract=left,
        y_contract=right,
    )


def _axes(named: Any) -> tuple[int, ...]:
    return (named,) if isinstance(named, int) else tuple(named)


@operation
def vecdot(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The products of vectors along an axis, added up; the other axes broadcast.

    Args:
        x1: tensor.
        x2: tensor.
        axis: axis, counted from the end: -1 is the last.

    Raises:
        ShapeError: the extents of that axis differ, or the others do not broadcast.
        ArgumentError: an axis that one of them has not.
    """
    first, second = promoted("vecdot", x1, x2)
    if not first.rank or not second.rank:
        raise ShapeError(f"vecdot of {first.type} and {second.type}", fix="give vectors")
    if axis >= 0 and first.rank != second.rank:
        raise ArgumentError(
            f"axis {axis} of tensors of {first.rank} and {second.rank} axes",
            fix="count it from the end, as in axis=-1",
        )
    lined = [F.moveaxis(t, normalize_axis(axis, t.rank), -1) for t in (first, second)]
    if not same_shape(lined[0]._type.shape[-1:], lined[1]._type.shape[-1:]):
        raise ShapeError(
            f"vecdot of {first.type} and {second.type} along axis {axis}",
            fix="give vectors of one length",
        )
    broadcast_shapes(lined[0]._type.shape, lined[1]._type.shape)
    row, column = F.unsqueeze(lined[0], -2), F.unsqueeze(lined[1], -1)
    return F.squeeze(F.matmul(row, column), (-2, -1))
