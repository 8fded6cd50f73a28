"""Normalization over the last axis: layer_norm and rms_norm."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.errors import ShapeError
from realta.ops.conversion import Array, in_float64
from realta.ops.lowering import across, centered, mean
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.ops.rules import check_rank, check_same, extents, like
from realta.types import FLOATS, TensorType

__all__: list[str] = []

_EPS: Final = Attr("float", 1e-5, "added to the mean square before the root")


def _rule(x: TensorType, *parameters: TensorType, eps: float) -> TensorType:
    check_rank("the operand", x, 1)
    check_same((x, *parameters), shapes=False)
    for parameter in parameters:
        if parameter.shape != x.shape[-1:]:
            raise ShapeError(
                f"a parameter has the shape {extents(parameter.shape)}, the last axis of the "
                f"operand {extents(x.shape[-1:])}",
                fix="give one entry for each element of the last axis",
            )
    return like((x, *parameters))


def _scaled(x: Array, eps: float) -> Array:
    terms = np.float64(x.shape[-1])
    squares = np.square(x).sum(axis=-1, keepdims=True) / terms
    return np.asarray(x / np.sqrt(squares + eps))


@in_float64
def _layer_norm(x: Array, weight: Array, bias: Array, *, eps: float) -> Array:
    middle = x.sum(axis=-1, keepdims=True) / np.float64(x.shape[-1])
    return _scaled(x - middle, eps) * weight + bias


@in_float64
def _rms_norm(x: Array, weight: Array, *, eps: float) -> Array:
    return _scaled(x, eps) * weight


def _lower_scaled(emit: Emitter, x: Any, weight: Any, eps: float) -> Any:
    """X over the root of its mean square along the last axis, times the weight."""
    shape = emit.type_of(x).shape
    axes = (len(shape) - 1,)
    squares = mean(emit, emit.mul(x, x), axes)
    root = emit.sqrt(emit.add(squares, emit.const(eps, like=squares)))
    scaled = emit.div(x, across(emit, root, axes, x))
    return emit.mul(scaled, emit.broadcast(weight, shape=shape))


def _lower_layer_norm(emit: Emitter, x: Any, weight: Any, bias: Any, *, eps: float) -> Any:
    shape = emit.type_of(x).shape
    scaled = _lower_scaled(emit, centered(emit, x, (len(shape) - 1,)), weight, eps)
    return emit.add(scaled, emit.broadcast(bias, shape=shape))


def _lower_rms_norm(emit: Emitter, x: Any, weight: Any, *, eps: float) -> Any:
    return _lower_scaled(emit, x, weight, eps)


_SHAPES: Final = ((33,), (3, 17), (2, 3, 1025), (4, 1), (0, 5), (2, 0))

define(
    "layer_norm",
    operands=("x", "weight", "bias"),
    rule=_rule,
    reference=_layer_norm,
    lowering=_lower_layer_norm,
    widen=True,
    doc=(
        "(x - mean) / sqrt(var + eps) * weight + bias over the last axis, in two passes; weight "
        "and bias have one entry for each element of it."
    ),
    kind=OpKind.OPAQUE,
    attrs={"eps": _EPS},
    dtypes=FLOATS,
    samples=tuple(Sample((s, s[-1:], s[-1:]), {"eps": 1e-5}) for s in _SHAPES),
    tolerance="layer_norm",
    level="math",
)

define(
    "rms_norm",
    operands=("x", "weight"),
    rule=_rule,
    reference=_rms_norm,
    lowering=_lower_rms_norm,
    widen=True,
    doc="x / sqrt(mean(x²) + eps) * weight over the last axis.",
    kind=OpKind.OPAQUE,
    attrs={"eps": _EPS},
    dtypes=FLOATS,
    samples=tuple(Sample((s, s[-1:]), {"eps": 1e-6}) for s in _SHAPES),
    tolerance="rms_norm",
    level="math",
)
