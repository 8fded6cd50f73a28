"""Contraction: dot_general, sums of products over paired axes, and matmul in terms of it."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from realta.errors import ShapeError
from realta.ops.accumulation import accumulator
from realta.ops.conversion import Array, convert, quiet
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.ops.rules import check_axes, check_rank, check_same, extents, like
from realta.types import NUMERIC, Shape, TensorType, as_dtype, broadcast_shapes

__all__: list[str] = []

Axes = tuple[int, ...]


def _free(rank: int, batch: Axes, contract: Axes) -> Axes:
    return tuple(n for n in range(rank) if n not in batch and n not in contract)


def _check_pairs(x: TensorType, y: TensorType, x_axes: Axes, y_axes: Axes, what: str) -> None:
    if len(x_axes) != len(y_axes):
        raise ShapeError(
            f"{len(x_axes)} {what} axes of x meet {len(y_axes)} of y", fix="name them in pairs"
        )
    for a, b in zip(x_axes, y_axes, strict=True):
        if x.shape[a] != y.shape[b]:
            raise ShapeError(
                f"the {what} axes {a} of {extents(x.shape)} and {b} of {extents(y.shape)} have the "
                f"extents {x.shape[a]} and {y.shape[b]}",
                fix="make the extents equal",
            )


def _dot_rule(
    x: TensorType,
    y: TensorType,
    *,
    x_batch: Axes,
    y_batch: Axes,
    x_contract: Axes,
    y_contract: Axes,
) -> TensorType:
    check_same((x, y), shapes=False)
    check_axes((*x_batch, *x_contract), x.rank, "x_batch + x_contract")
    check_axes((*y_batch, *y_contract), y.rank, "y_batch + y_contract")
    _check_pairs(x, y, x_batch, y_batch, "batch")
    _check_pairs(x, y, x_contract, y_contract, "contracted")
    shape = (
        *(x.shape[a] for a in x_batch),
        *(x.shape[a] for a in _free(x.rank, x_batch, x_contract)),
        *(y.shape[a] for a in _free(y.rank, y_batch, y_contract)),
    )
    return like((x, y), shape=shape)


@quiet
def _dot_general(
    x: Array,
    y: Array,
    *,
    x_batch: Axes,
    y_batch: Axes,
    x_contract: Axes,
    y_contract: Axes,
) -> Array:
    x_free, y_free = _free(x.ndim, x_batch, x_contract), _free(y.ndim, y_batch, y_contract)
    batch = tuple(x.shape[a] for a in x_batch)
    rows, columns = tuple(x.shape[a] for a in x_free), tuple(y.shape[a] for a in y_free)
    terms = prod(x.shape[a] for a in x_contract)
    left = accumulator(x).transpose((*x_batch, *x_free, *x_contract))
    right = accumulator(y).transpose((*y_batch, *y_contract, *y_free))
    # One layout whatever the operands' strides: BLAS may choose another order of sums for each.
    left = np.ascontiguousarray(left.reshape((prod(batch), prod(rows), terms)))
    right = np.ascontiguousarray(right.reshape((prod(batch), terms, prod(columns))))
    total = np.matmul(left, right).reshape((*batch, *rows, *columns))
    return convert(total, as_dtype(x.dtype))


def _dot_sample(
    x: tuple[int, ...], y: tuple[int, ...], batch: tuple[Axes, Axes], contract: tuple[Axes, Axes]
) -> Sample:
    attrs = {
        "x_batch": batch[0],
        "y_batch": batch[1],
        "x_contract": contract[0],
        "y_contract": contract[1],
    }
    return Sample((x, y), attrs, "small")


_NONE: Final[tuple[Axes, Axes]] = ((), ())

define(
    "dot_general",
    operands=("x", "y"),
    rule=_dot_rule,
    reference=_dot_general,
    doc=(
        "Sums of products over pairs of contracted axes, for each pair of batch axes. The result "
        "has the batch axes, then the free axes of x, then those of y. Integers wrap; half types "
        "accumulate in float32 and round once."
    ),
    kind=OpKind.CONTRACTION,
    attrs={
        "x_batch": Attr("ints", doc="batch axes of x"),
        "y_batch": Attr("ints", doc="batch axes of y, in the order of those of x"),
        "x_contract": Attr("ints", doc="contracted axes of x"),
        "y_contract": Attr("ints", doc="contracted axes of y, in the order of those of x"),
    },
    dtypes=NUMERIC,
    samples=(
        _dot_sample((17, 33), (33, 5), _NONE, ((1,), (0,))),
        _dot_sample((33, 17), (5, 33), _NONE, ((0,), (1,))),
        _dot_sample((1025,), (1025,), _NONE, ((0,), (0,))),
        _dot_sample((3,), (5,), _NONE, _NONE),
        _dot_sample((2, 3, 17), (2, 17, 4), ((0,), (0,)), ((2,), (1,))),
        _dot_sample((3, 2, 4, 5), (4, 5, 2, 6), ((1,), (2,)), ((2, 3), (0, 1))),
        _dot_sample((2, 3, 4), (3, 4, 2), _NONE, ((2, 0), (1, 2))),
        _dot_sample((3, 0), (0, 2), _NONE, ((1,), (0,))),
        _dot_sample((0, 3), (3, 2), _NONE, ((1,), (0,))),
        _dot_sample((1, 65), (65, 1), _NONE, ((1,), (0,))),
    ),
    tolerance="contraction",
    level="linalg",
)


def _matmul_rule(x: TensorType, y: TensorType) -> TensorType:
    check_same((x, y), shapes=False)
    check_rank("the left operand of matmul", x, 1)
    check_rank("the right operand of matmul", y, 1)
    inner = y.shape[max(y.rank - 2, 0)]
    if x.shape[-1] != inner:
        raise ShapeError(
            f"matmul of {extents(x.shape)} and {extents(y.shape)}: the inner extents "
            f"{x.shape[-1]} and {inner} differ",
            fix="make them equal, or transpose an operand",
        )
    batch = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    rows, columns = x.shape[-2:-1], y.shape[-1:] if y.rank > 1 else ()
    return like((x, y), shape=(*batch, *rows, *columns))


@quiet
def _matmul(x: Array, y: Array) -> Array:
    left, right = (np.ascontiguousarray(accumulator(operand)) for operand in (x, y))
    return convert(np.asarray(np.matmul(left, right)), as_dtype(x.dtype))


def _spread(emit: Emitter, x: Any, batch: Shape) -> Any:
    shape = emit.type_of(x).shape
    full = (*batch, *shape[-2:])
    return x if full == shape else emit.broadcast(x, shape=full)


def _lower_matmul(emit: Emitter, x: Any, y: Any) -> Any:
    left, right = emit.type_of(x), emit.type_of(y)
    if right.rank <= 2 or left.rank == 1:
        return emit.dot_general(
            x,
            y,
            x_batch=(),
            y_batch=(),
            x_contract=(left.rank - 1,),
            y_contract=(max(right.rank - 2, 0),),
        )
    batch = broadcast_shapes(left.shape[:-2], right.shape[:-2])
    axes = tuple(range(len(batch)))
    return emit.dot_general(
        _spread(emit, x, batch),
        _spread(emit, y, batch),
        x_batch=axes,
        y_batch=axes,
        x_contract=(len(batch) + 1,),
        y_contract=(len(batch),),
    )


define(
    "matmul",
    operands=("x", "y"),
    rule=_matmul_rule,
    reference=_matmul,
    lowering=_lower_matmul,
    doc=(
        "The matrix product of NumPy: the last two axes are matrices, leading ones broadcast; a "
        "1-D operand is a row on the left and a column on the right, and that axis is removed."
    ),
    kind=OpKind.OPAQUE,
    dtypes=NUMERIC,
    samples=tuple(
        Sample(shapes, domain="small")
        for shapes in (
            ((17, 33), (33, 5)),
            ((33,), (33,)),
            ((5,), (5, 3)),
            ((3, 5), (5,)),
            ((5,), (2, 5, 3)),
            ((2, 3, 5), (5, 4)),
            ((2, 1, 3, 5), (4, 5, 2)),
            ((3, 5), (2, 5, 4)),
            ((2, 3, 5), (5,)),
            ((2, 0), (0, 3)),
        )
    ),
    tolerance="contraction",
    level="linalg",
)
