"""Sorting along an axis: stable, NaN last in both directions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.errors import ShapeError
from realta.ops.conversion import Array, widened
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.ops.rules import check_axis, scan
from realta.types import COMPUTABLE, TensorType, int64

__all__ = ["argsort"]

_ATTRS: Final = {
    "axis": Attr("int", doc="the axis to sort along, counted from the start"),
    "descending": Attr("bool", False, "largest first; equal elements keep their order"),
}

_SAMPLES: Final = (
    Sample(((1,),), {"axis": 0, "descending": False}),
    Sample(((33,),), {"axis": 0, "descending": False}, "small", note="equal elements"),
    Sample(((1025,),), {"axis": 0, "descending": True}, "small", note="equal elements"),
    Sample(((3, 17),), {"axis": 1, "descending": True}),
    Sample(((17, 3),), {"axis": 0, "descending": False}),
    Sample(((2, 5, 3),), {"axis": 1, "descending": False}),
    Sample(((2, 0),), {"axis": 1, "descending": False}, note="no elements"),
    Sample(((4, 32),), {"axis": 1, "descending": False}, "special", note="NaN last"),
    Sample(((4, 32),), {"axis": 1, "descending": True}, "special", note="NaN last"),
    Sample(((65,),), {"axis": 0, "descending": True}, "sorted"),
)


def argsort(x: Array, *, axis: int, descending: bool) -> Array:
    """The indices that sort an array along an axis."""
    key = widened(x)
    if descending:
        # Both reverse the order and keep equal elements and NaN where a stable sort puts them.
        key = -key if key.dtype.kind == "f" else ~key
    return np.argsort(key, axis=axis, kind="stable").astype(np.int64)


def _sort(x: Array, *, axis: int, descending: bool) -> Array:
    return np.take_along_axis(x, argsort(x, axis=axis, descending=descending), axis)


def _argsort_rule(x: TensorType, *, axis: int, descending: bool) -> TensorType:
    return scan(x, axis=axis).with_dtype(int64)


define(
    "sort",
    rule=scan,
    reference=_sort,
    doc="The elements in order along an axis: stable, NaN last in both directions.",
    kind=OpKind.SORT,
    attrs=_ATTRS,
    dtypes=COMPUTABLE,
    samples=_SAMPLES,
    level="math",
)

define(
    "argsort",
    rule=_argsort_rule,
    reference=argsort,
    doc="The int64 indices that sort along an axis: stable, NaN last in both directions.",
    kind=OpKind.SORT,
    attrs=_ATTRS,
    dtypes=COMPUTABLE,
    samples=_SAMPLES,
    level="math",
)


def _top_k_rule(
    x: TensorType, *, k: int, axis: int, largest: bool
) -> tuple[TensorType, TensorType]:
    check_axis(axis, x.rank)
    extent = x.shape[axis]
    if type(k) is int and (k < 0 or (type(extent) is int and k > extent)):
        raise ShapeError(
            f"k = {k} is not between 0 and the extent {extent} of axis {axis}",
            fix="ask for no more elements than there are",
        )
    values = x.with_shape((*x.shape[:axis], k, *x.shape[axis + 1 :]))
    return values, values.with_dtype(int64)


def _top_k(x: Array, *, k: int, axis: int, largest: bool) -> tuple[Array, Array]:
    order = argsort(x, axis=axis, descending=largest)
    first = np.take(order, range(k), axis=axis)
    return np.take_along_axis(x, first, axis), first


def _lower_top_k(emit: Emitter, x: Any, *, k: int, axis: int, largest: bool) -> tuple[Any, Any]:
    shape = emit.type_of(x).shape
    part = {
        "start": (0,) * len(shape),
        "stop": (*shape[:axis], k, *shape[axis + 1 :]),
        "step": (1,) * len(shape),
    }
    values = emit.sort(x, axis=axis, descending=largest)
    indices = emit.argsort(x, axis=axis, descending=largest)
    return emit.slice(values, **part), emit.slice(indices, **part)


define(
    "top_k",
    rule=_top_k_rule,
    reference=_top_k,
    lowering=_lower_top_k,
    doc=(
        "The k largest (or smallest) elements along an axis in order, and their int64 indices; "
        "stable, NaN after everything else."
    ),
    kind=OpKind.OPAQUE,
    attrs={
        "k": Attr("int", doc="how many"),
        "axis": Attr("int", doc="the axis to search along, counted from the start"),
        "largest": Attr("bool", True, "the largest rather than the smallest"),
    },
    dtypes=COMPUTABLE,
    samples=(
        Sample(((17,),), {"k": 5, "axis": 0, "largest": True}, "small", note="equal elements"),
        Sample(((3, 33),), {"k": 1, "axis": 1, "largest": False}),
        Sample(((5, 3),), {"k": 5, "axis": 0, "largest": True}),
        Sample(((2, 4),), {"k": 0, "axis": 1, "largest": True}, note="none"),
        Sample(((3, 16),), {"k": 16, "axis": 1, "largest": False}, "special", note="NaN last"),
    ),
    level="math",
    results=2,
)
