"""Indexing: gather, scatter, slices replaced, and the check that reports an index out of bounds.

A negative index counts from the end, once. The access itself is clamped, so no index reads or
writes foreign memory; whether it was in bounds is `check_bounds`' business.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from realta.errors import ShapeError
from realta.ops.conversion import Array, quiet
from realta.ops.movement import slice_type, to_slices
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.rules import check_axis, check_choice, check_dtype, check_same, extents, like
from realta.ops.scatter_reference import MODES, REDUCTIONS, scatter
from realta.types import COMPUTABLE, DTYPES, Dim, Shape, TensorType, int32, int64, tensor_type

__all__: list[str] = []

_ALL: Final = frozenset(DTYPES)
_INDEX_DTYPES: Final = frozenset({int32, int64})


def _gathered(x: TensorType, indices: TensorType, axis: int) -> Shape:
    check_dtype("the indices", indices, _INDEX_DTYPES)
    check_axis(axis, x.rank)
    return (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])


def _is_zero(extent: int | Dim) -> bool:
    return type(extent) is int and extent == 0


def _has_elements(type: TensorType) -> bool:
    return not any(map(_is_zero, type.shape))


def _gather_rule(x: TensorType, indices: TensorType, *, axis: int) -> TensorType:
    shape = _gathered(x, indices, axis)
    if _is_zero(x.shape[axis]) and _has_elements(indices):
        raise ShapeError(
            f"axis {axis} of extent 0 has no elements to gather",
            fix="give no indices, or an operand with elements",
        )
    return like((x, indices), shape=shape)


@quiet
def _gather(x: Array, indices: Array, *, axis: int) -> Array:
    extent = x.shape[axis]
    if extent == 0:
        return np.empty((*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]), x.dtype)
    counted = np.where(indices < 0, indices + extent, indices)
    return np.take(x, np.clip(counted, 0, extent - 1), axis=axis)


define(
    "gather",
    operands=("x", "indices"),
    rule=_gather_rule,
    reference=_gather,
    doc=(
        "Elements of an axis by index (NumPy's take): the axis is replaced by the axes of the "
        "indices. A negative index counts from the end, once; then it is clamped."
    ),
    kind=OpKind.INDEXING,
    attrs={"axis": Attr("int", doc="the axis to index, counted from the start")},
    dtypes=_ALL,
    samples=tuple(
        Sample(shapes, {"axis": axis}, ("any", "indices"), (None, index))
        for shapes, axis, index in (
            (((17,), (33,)), 0, int64),
            (((17,), ()), 0, int32),
            (((3, 5), (2, 2)), 1, int64),
            (((5, 3), (4,)), 0, int32),
            (((2, 3, 4), (0,)), 1, int64),
            (((0, 3), (2,)), 1, int64),
        )
    ),
    level="indexing",
)


def _scatter_rule(
    x: TensorType, indices: TensorType, updates: TensorType, *, axis: int, reduce: str, mode: str
) -> TensorType:
    check_choice("reduce", reduce, REDUCTIONS)
    check_choice("mode", mode, MODES)
    check_same((x, updates), shapes=False)
    shape = _gathered(x, indices, axis)
    if updates.shape != shape:
        raise ShapeError(
            f"the updates have the shape {extents(updates.shape)}, not {extents(shape)}",
            fix="shape them like the result of gather at these indices",
        )
    if _is_zero(x.shape[axis]) and mode == "clip" and _has_elements(indices):
        raise ShapeError(
            f"axis {axis} of extent 0 has no elements to update", fix='use mode="drop"'
        )
    return like((x, indices, updates))


define(
    "scatter",
    operands=("x", "indices", "updates"),
    rule=_scatter_rule,
    reference=quiet(scatter),
    doc=(
        "The operand with updates written at indices of an axis; the updates are shaped like the "
        "result of gather. Of several updates of one element set keeps the last in row-major "
        "order, the others apply all in that order, floats in float32 or wider; add and mul of "
        "bools are or and and."
    ),
    kind=OpKind.INDEXING,
    attrs={
        "axis": Attr("int", doc="the axis to index, counted from the start"),
        "reduce": Attr("str", "set", "set, add, mul, max or min: how an update meets an element"),
        "mode": Attr("str", "clip", "clip clamps indices out of bounds, drop leaves them out"),
    },
    dtypes=COMPUTABLE,
    samples=tuple(
        Sample(
            shapes,
            {"axis": axis, "reduce": reduce, "mode": mode},
            ("small", "indices", "small"),
            (None, index, None),
        )
        for shapes, axis, reduce, mode, index in (
            (((17,), (33,), (33,)), 0, "set", "clip", int64),
            (((3, 5), (2,), (3, 2)), 1, "set", "drop", int32),
            (((5, 3), (2, 2), (2, 2, 3)), 0, "set", "clip", int64),
            (((4, 3), (0,), (0, 3)), 0, "set", "clip", int64),
            (((4,), (), ()), 0, "set", "clip", int64),
            (((0, 3), (2,), (2, 3)), 0, "set", "drop", int64),
        )
    )
    + tuple(
        Sample(
            ((7, 3), (17,), (17, 3)),
            {"axis": 0, "reduce": reduce, "mode": "clip"},
            ("small", "indices", "small"),
            (None, int64, None),
            note="duplicates",
        )
        for reduce in ("add", "mul", "max", "min")
    ),
    tolerance="scatter",
    level="indexing",
)


def _update_rule(
    x: TensorType,
    v: TensorType,
    *,
    start: tuple[int, ...],
    stop: tuple[int, ...],
    step: tuple[int, ...],
) -> TensorType:
    check_same((x, v), shapes=False)
    part = slice_type(x, start, stop, step)
    if v.shape != part.shape:
        raise ShapeError(
            f"the value has the shape {extents(v.shape)}, the slice {extents(part.shape)}",
            fix="broadcast the value to the slice",
        )
    return like((x, v))


def _update_slice(
    x: Array,
    v: Array,
    *,
    start: tuple[int, ...],
    stop: tuple[int, ...],
    step: tuple[int, ...],
) -> Array:
    result = x.copy()
    result[to_slices(start, stop, step)] = v
    return result


define(
    "update_slice",
    operands=("x", "v"),
    rule=_update_rule,
    reference=_update_slice,
    doc="The operand with the elements of a slice replaced by those of a value of its shape.",
    kind=OpKind.INDEXING,
    attrs={
        "start": Attr("ints", doc="the first index of each axis"),
        "stop": Attr("ints", doc="the index of each axis to stop before; -1 is before the first"),
        "step": Attr("ints", doc="the distance of indices; negative ones run backwards"),
    },
    dtypes=_ALL,
    samples=(
        Sample(((), ()), {"start": (), "stop": (), "step": ()}),
        Sample(((33,), (16,)), {"start": (1,), "stop": (33,), "step": (2,)}),
        Sample(((17,), (17,)), {"start": (16,), "stop": (-1,), "step": (-1,)}, note="reversed"),
        Sample(((3, 5), (2, 5)), {"start": (1, 0), "stop": (3, 5), "step": (1, 1)}),
        Sample(((4, 3), (0, 3)), {"start": (2, 0), "stop": (2, 3), "step": (1, 1)}),
    ),
    level="indexing",
)


def _bounds_rule(indices: TensorType, *, extent: object, axis: int) -> TensorType:
    return tensor_type(int32, (4,), indices.device)


def _check_bounds(indices: Array, *, extent: int, axis: int) -> Array:
    bad = np.flatnonzero((indices < -extent) | (indices >= extent))
    if not bad.size:
        return np.full(4, -1, np.int32)
    index = int(indices.reshape(-1)[bad[0]])
    words = np.array([index & 0xFFFFFFFF, (index >> 32) & 0xFFFFFFFF], np.uint32)
    return np.concatenate([np.array([0, axis], np.int32), words.view(np.int32)])


define(
    "check_bounds",
    operands=("indices",),
    rule=_bounds_rule,
    reference=_check_bounds,
    doc=(
        "A status int32[4] of indices into an axis: all -1 if each lies in range(-extent, extent), "
        "else 0, the axis, and the low and high word of the first index that does not."
    ),
    kind=OpKind.INDEXING,
    attrs={
        "extent": Attr("int", doc="extent of the axis"),
        "axis": Attr("int", doc="the axis, as it is reported"),
    },
    dtypes=_INDEX_DTYPES,
    samples=(
        Sample(((),), {"extent": 3, "axis": 0}, "indices"),
        Sample(((0,),), {"extent": 0, "axis": 0}, "indices", note="no indices"),
        Sample(((33,),), {"extent": 1 << 30, "axis": 1}, "small", note="all in bounds"),
        Sample(((17,),), {"extent": 0, "axis": 2}, "small", note="none in bounds"),
        Sample(((4, 5),), {"extent": 2, "axis": 0}, "integers", note="some in bounds"),
    ),
    level="indexing",
)
