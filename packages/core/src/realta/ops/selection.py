"""Selection: composites that turn indices into values."""

from __future__ import annotations

from typing import Any

import numpy as np

from realta.errors import ShapeError
from realta.ops.conversion import Array, convert
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.types import INTEGERS, DType, TensorType, float32, int32, int64, tensor_type

__all__: list[str] = []


def _rule(indices: TensorType, *, depth: Any, dtype: DType) -> TensorType:
    if type(depth) is int and depth < 0:
        raise ShapeError(f"the depth {depth} is negative", fix="give the number of classes")
    return tensor_type(dtype, (*indices.shape, depth), indices.device)


def _one_hot(indices: Array, *, depth: int, dtype: DType) -> Array:
    return convert(indices[..., np.newaxis] == np.arange(depth), dtype)


def _lower(emit: Emitter, indices: Any, *, depth: int, dtype: DType) -> Any:
    type = emit.type_of(indices)
    if depth - 1 > np.iinfo(type.dtype.numpy).max:  # the classes would wrap and meet twice
        indices = emit.cast(indices, dtype=int64)
        type = emit.type_of(indices)
    shape = (*type.shape, depth)
    given = emit.broadcast(emit.reshape(indices, shape=(*type.shape, 1)), shape=shape)
    classes = emit.iota(shape=shape, axis=type.rank, dtype=type.dtype, device=type.device)
    return emit.cast(emit.equal(given, classes), dtype=dtype)


define(
    "one_hot",
    operands=("indices",),
    rule=_rule,
    reference=_one_hot,
    lowering=_lower,
    doc=(
        "1 where the last axis of the result counts to the index, else 0; a row of zeros for an "
        "index that is negative or not below the depth."
    ),
    kind=OpKind.OPAQUE,
    attrs={
        "depth": Attr("int", doc="extent of the axis that is added at the end"),
        "dtype": Attr("dtype", doc="dtype of the result"),
    },
    dtypes=INTEGERS,
    samples=(
        Sample(((),), {"depth": 3, "dtype": float32}, "small"),
        Sample(((17,),), {"depth": 33, "dtype": int64}, "small"),
        Sample(((2, 3),), {"depth": 5, "dtype": float32}, "small"),
        Sample(((5,),), {"depth": 300, "dtype": int32}, "small", note="more than 8 bits count"),
        Sample(((0, 2),), {"depth": 4, "dtype": int32}, "small"),
    ),
    level="math",
)
