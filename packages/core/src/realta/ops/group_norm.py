"""Group norm: each group of channels of each item normalized by its own mean and variance."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from realta.errors import ShapeError
from realta.ops.conversion import Array, in_float64
from realta.ops.lowering import across, centered, mean
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.ops.rules import check_rank, check_same, count, extents, like
from realta.types import FLOATS, TensorType

__all__: list[str] = []


def _rule(
    x: TensorType, weight: TensorType, bias: TensorType, *, groups: int, eps: float
) -> TensorType:
    check_rank("the operand of group_norm", x, 2)
    check_same((x, weight, bias), shapes=False)
    channels = x.shape[1]
    if type(groups) is not int or groups < 1:
        raise ShapeError(f"{groups} groups", fix="give 1 group or more")
    if type(channels) is int and channels % groups:
        raise ShapeError(
            f"{channels} channels do not divide into {groups} groups",
            fix="make the extent of axis 1 a multiple of the number of groups",
        )
    for parameter in (weight, bias):
        if parameter.shape != (channels,):
            raise ShapeError(
                f"a parameter has the shape {extents(parameter.shape)} for {channels} channels",
                fix="give one entry for each channel",
            )
    return like((x, weight, bias))


def _lined(shape: Any, groups: int) -> tuple[Any, ...]:
    return (shape[0], groups, count(shape[1:]) // groups)


@in_float64
def _group_norm(x: Array, weight: Array, bias: Array, *, groups: int, eps: float) -> Array:
    rows = x.reshape((x.shape[0], groups, prod(x.shape[1:]) // groups))
    terms = np.float64(rows.shape[-1])
    away = rows - rows.sum(axis=-1, keepdims=True) / terms
    scaled = away / np.sqrt(np.square(away).sum(axis=-1, keepdims=True) / terms + eps)
    channels = (-1, *(1,) * (x.ndim - 2))
    return np.asarray(scaled.reshape(x.shape) * weight.reshape(channels) + bias.reshape(channels))


def _lower(emit: Emitter, x: Any, weight: Any, bias: Any, *, groups: int, eps: float) -> Any:
    shape = emit.type_of(x).shape
    away = centered(emit, emit.reshape(x, shape=_lined(shape, groups)), (2,))
    squares = mean(emit, emit.mul(away, away), (2,))
    root = emit.sqrt(emit.add(squares, emit.const(eps, like=squares)))
    scaled = emit.reshape(emit.div(away, across(emit, root, (2,), away)), shape=shape)

    def spread(parameter: Any) -> Any:
        kept = (shape[1], *(1,) * (len(shape) - 2))
        return emit.broadcast(emit.reshape(parameter, shape=kept), shape=shape)

    return emit.add(emit.mul(scaled, spread(weight)), spread(bias))


define(
    "group_norm",
    operands=("x", "weight", "bias"),
    rule=_rule,
    reference=_group_norm,
    lowering=_lower,
    widen=True,
    doc=(
        "(x - mean) / sqrt(var + eps) * weight + bias, in two passes, over each group of adjacent "
        "channels (axis 1) and all later axes of each item (axis 0); weight and bias have one "
        "entry for each channel."
    ),
    kind=OpKind.OPAQUE,
    attrs={
        "groups": Attr("int", doc="parts that the channels are divided into"),
        "eps": Attr("float", 1e-5, "added to the variance before the root"),
    },
    dtypes=FLOATS,
    samples=tuple(
        Sample((shape, shape[1:2], shape[1:2]), {"groups": groups, "eps": 1e-5})
        for shape, groups in (
            ((2, 6, 3, 5), 3), ((1, 4, 17), 4), ((3, 4, 2, 2), 1), ((2, 6), 2), ((0, 4, 3), 2),
            ((1, 3, 33, 31), 1),
        )
    ),
    tolerance="group_norm",
    level="math",
)  # fmt: skip
