"""Dynamic slices: a window of a tensor replaced where run-time positions say."""

from __future__ import annotations

from math import prod
from typing import Any

from realta.errors import ArgumentError, ShapeError
from realta.ops.conversion import Array
from realta.ops.opdef import Emitter, OpKind, Sample, define
from realta.ops.rules import check_dtype, check_same, extents, like
from realta.types import COMPUTABLE, TensorType, int32, int64

__all__: list[str] = []


def _rule(x: TensorType, v: TensorType, *starts: TensorType) -> TensorType:
    check_same((x, v), shapes=False)
    if v.rank != x.rank or any(
        type(a) is int and type(b) is int and a > b for a, b in zip(v.shape, x.shape, strict=True)
    ):
        raise ShapeError(
            f"a window of shape {extents(v.shape)} does not fit {extents(x.shape)}",
            fix="give it the rank of the operand and no longer axes",
        )
    if len(starts) != x.rank:
        raise ArgumentError(
            f"{len(starts)} positions are given for {x.rank} axes", fix="give one for each axis"
        )
    for start in starts:
        check_dtype("a position", start, (int32, int64))
        if start.shape != ():
            raise ShapeError(f"a position is 0-d, got {start}", fix="reshape it")
    return like((x, v, *starts))


def _reference(x: Array, v: Array, *starts: Array) -> Array:
    result = x.copy()
    first = [min(max(int(s), 0), a - b) for s, a, b in zip(starts, x.shape, v.shape, strict=True)]
    result[tuple([slice(s, s + n) for s, n in zip(first, v.shape, strict=True)])] = v
    return result


def _lowering(emit: Emitter, x: Any, v: Any, *starts: Any) -> Any:
    """A scatter of single elements by their row-major positions."""
    whole, part = emit.type_of(x).static_shape, emit.type_of(v).static_shape
    if not prod(part):
        return x
    if not whole:
        return v
    position = None
    for axis, start in enumerate(starts):
        last = emit.const(whole[axis] - part[axis], like=start)
        first = emit.minimum(emit.maximum(start, emit.const(0, like=start)), last)
        wide = emit.broadcast(emit.cast(first, dtype=int64), shape=part)
        line = emit.iota(shape=part, axis=axis, dtype=int64, device=emit.type_of(x).device)
        along = emit.add(wide, line)
        stride = prod(whole[axis + 1 :])
        along = along if stride == 1 else emit.mul(along, emit.const(stride, like=along))
        position = along if position is None else emit.add(position, along)
    flat = emit.scatter(
        emit.reshape(x, shape=(prod(whole),)),
        emit.reshape(position, shape=(prod(part),)),
        emit.reshape(v, shape=(prod(part),)),
        axis=0,
        reduce="set",
        mode="clip",
    )
    return emit.reshape(flat, shape=whole)


define(
    "dynamic_update_slice",
    operands=("x", "v", "starts"),
    variadic=True,
    rule=_rule,
    reference=_reference,
    lowering=_lowering,
    doc=(
        "The operand with a window replaced by a value of its rank. The positions of the window's "
        "first element, one 0-d integer for each axis, are known at run time only; they are "
        "clamped, so that the window lies inside."
    ),
    kind=OpKind.INDEXING,
    dtypes=COMPUTABLE,
    samples=tuple(
        Sample(
            (whole, part, *[()] * len(whole)),
            {},
            ("any", "any", *["small"] * len(whole)),
            (None, None, *[index] * len(whole)),
            note,
        )
        for whole, part, index, note in (
            ((17,), (5,), int64, ""),
            ((33,), (33,), int32, "the whole axis: every position is clamped to 0"),
            ((7, 5), (1, 5), int64, "one row"),
            ((3, 5, 2), (2, 1, 2), int32, ""),
            ((4, 3), (0, 3), int64, "an empty window"),
            ((), (), int64, "0-d"),
        )
    ),
    level="indexing",
)
