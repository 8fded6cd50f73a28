"""Attention: softmax of scaled products of queries and keys, times the values."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.errors import ShapeError
from realta.ops.conversion import Array, in_float64
from realta.ops.lowering import across
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.ops.rules import check_rank, check_same, extents, like
from realta.types import FLOATS, TensorType, int32

__all__: list[str] = []


def _rule(q: TensorType, k: TensorType, v: TensorType, *, scale: float, causal: bool) -> TensorType:
    check_same((q, k, v), shapes=False)
    for name, operand in (("q", q), ("k", k), ("v", v)):
        check_rank(name, operand, 2)
    pairs = (
        ("leading axes of q and k", q.shape[:-2], k.shape[:-2]),
        ("leading axes of q and v", q.shape[:-2], v.shape[:-2]),
        ("head sizes of q and k", q.shape[-1:], k.shape[-1:]),
        ("lengths of k and v", k.shape[-2:-1], v.shape[-2:-1]),
    )
    for what, a, b in pairs:
        if a != b:
            raise ShapeError(
                f"the {what} differ: {extents(a)} and {extents(b)}",
                fix="shape them (..., length, head), with the leading axes alike",
            )
    return like((q, k, v), shape=(*q.shape[:-1], v.shape[-1]))


@in_float64
def _attention(q: Array, k: Array, v: Array, *, scale: float, causal: bool) -> Array:
    scores = np.matmul(q, np.swapaxes(k, -1, -2)) * scale
    if causal:
        length, keys = scores.shape[-2:]
        scores = np.where(np.tri(length, keys, dtype=bool), scores, -np.inf)
    if k.shape[-2]:
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores = scores / scores.sum(axis=-1, keepdims=True)
    return np.asarray(np.matmul(scores, v))


def _product(emit: Emitter, x: Any, y: Any, y_axis: int) -> Any:
    """Products of the rows of x with an axis of y (counted from the end), for each leading axis."""
    rank = len(emit.type_of(x).shape)
    batch = tuple(range(rank - 2))
    return emit.dot_general(
        x, y, x_batch=batch, y_batch=batch, x_contract=(rank - 1,), y_contract=(rank + y_axis,)
    )


def _masked(emit: Emitter, scores: Any) -> Any:
    """Scores of keys after the query replaced by -inf."""
    type = emit.type_of(scores)
    rank = type.rank
    at = {"shape": type.shape, "dtype": int32, "device": type.device}
    key, query = emit.iota(axis=rank - 1, **at), emit.iota(axis=rank - 2, **at)
    seen = emit.less_equal(key, query)
    return emit.select(seen, scores, emit.const(-np.inf, like=scores))


def _lower(emit: Emitter, q: Any, k: Any, v: Any, *, scale: float, causal: bool) -> Any:
    scores = _product(emit, q, k, -1)
    scores = emit.mul(scores, emit.const(scale, like=scores))
    if causal:
        scores = _masked(emit, scores)
    shape = emit.type_of(scores).shape
    if shape[-1] != 0:
        axes = (len(shape) - 1,)
        top = across(emit, emit.max(scores, axes=axes), axes, scores)
        powers = emit.exp(emit.sub(scores, top))
        scores = emit.div(powers, across(emit, emit.sum(powers, axes=axes), axes, scores))
    return _product(emit, scores, v, -2)


_CALLS: Final = (
    ((17, 8), (33, 8), (33, 5), False),
    ((2, 3, 17, 8), (2, 3, 17, 8), (2, 3, 17, 8), True),
    ((2, 1, 4), (2, 65, 4), (2, 65, 4), False),
    ((3, 5, 4), (3, 9, 4), (3, 9, 2), True),
    ((0, 3, 4), (0, 3, 4), (0, 3, 4), False),
)

define(
    "attention",
    operands=("q", "k", "v"),
    rule=_rule,
    reference=_attention,
    lowering=_lower,
    widen=True,
    doc=(
        "softmax(q kᵀ scale) v for each leading axis; operands are (..., length, head), the "
        "leading axes alike. With causal=True query i sees the keys 0 to i."
    ),
    kind=OpKind.OPAQUE,
    attrs={
        "scale": Attr("float", doc="factor of the products, usually one over the root of the head"),
        "causal": Attr("bool", False, "whether keys after the query are hidden"),
    },
    dtypes=FLOATS,
    samples=tuple(
        Sample((q, k, v), {"scale": 0.5, "causal": causal}, "small") for q, k, v, causal in _CALLS
    ),
    tolerance="attention",
    level="linalg",
)
