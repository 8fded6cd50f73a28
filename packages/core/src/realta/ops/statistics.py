"""Statistics and exponential sums: mean, var, softmax, logsoftmax, logsumexp."""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from realta.ops.accumulation import rows
from realta.ops.conversion import Array, in_float64
from realta.ops.lowering import across, centered, mean, terms
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.ops.rules import reduced, scan
from realta.ops.samples import samples_for
from realta.types import FLOATS

__all__: list[str] = []

_AXES: Final = Attr("ints", doc="the axes to reduce, counted from the start")
_AXIS: Final = Attr("int", doc="the axis along which it is taken, counted from the start")

_SHAPES: Final = ((), (1,), (1025,), (3, 33), (17, 3), (2, 3, 17))
_REDUCED: Final = ((), (0,), (0,), (1,), (0,), (0, 2))
_REDUCE_ATTRS: Final = [{"axes": axes} for axes in _REDUCED]
_NOTHING: Final = (
    Sample(((2, 0),), {"axes": (1,)}, note="over nothing"),
    Sample(((0, 2),), {"axes": (1,)}, note="no results"),
)
_ROWS: Final = ((1,), (1025,), (3, 33), (17, 3), (2, 3, 4), (0, 3), (2, 0))
_ROW_AXES: Final = (0, 0, 1, 0, 1, 1, 1)
_ROW_SAMPLES: Final = (
    *samples_for(_ROWS, [{"axis": axis} for axis in _ROW_AXES]),
    Sample(((4, 16),), {"axis": 1}, "special", note="NaN and infinities"),
)


@in_float64
def _mean(x: Array, *, axes: tuple[int, ...]) -> Array:
    line = rows(x, axes)
    return np.asarray(line.sum(axis=-1) / line.shape[-1])


def _lower_mean(emit: Emitter, x: Any, *, axes: tuple[int, ...]) -> Any:
    return mean(emit, x, axes)


define(
    "mean",
    rule=reduced("mean"),
    reference=_mean,
    lowering=_lower_mean,
    widen=True,
    doc="The sum divided by the number of terms; NaN over nothing.",
    kind=OpKind.OPAQUE,
    attrs={"axes": _AXES},
    dtypes=FLOATS,
    samples=(*samples_for(_SHAPES, _REDUCE_ATTRS), *_NOTHING),
    tolerance="mean",
    level="math",
)


@in_float64
def _var(x: Array, *, axes: tuple[int, ...], correction: float) -> Array:
    line = rows(x, axes)
    terms = line.shape[-1]
    middle = line.sum(axis=-1, keepdims=True) / np.float64(terms)
    squares = np.asarray(np.square(line - middle).sum(axis=-1))
    return squares / np.float64(max(terms - correction, 0))


def _lower_var(emit: Emitter, x: Any, *, axes: tuple[int, ...], correction: float) -> Any:
    shape = emit.type_of(x).shape
    away = centered(emit, x, axes)
    squares = emit.sum(emit.mul(away, away), axes=axes)
    number = terms(emit, [shape[a] for a in axes], like=squares, less=correction)
    return emit.div(squares, number)


_VAR_ATTRS: Final = [{"axes": axes, "correction": float(n % 2)} for n, axes in enumerate(_REDUCED)]

define(
    "var",
    rule=reduced("var"),
    reference=_var,
    lowering=_lower_var,
    widen=True,
    doc=(
        "The mean square distance from the mean, in two passes: it never cancels and is never "
        "negative. The sum is divided by the number of terms less the correction, at least 0."
    ),
    kind=OpKind.OPAQUE,
    attrs={"axes": _AXES, "correction": Attr("float", 0.0, "taken off the number of terms")},
    dtypes=FLOATS,
    samples=(
        *samples_for(_SHAPES, _VAR_ATTRS),
        Sample(((2, 0),), {"axes": (1,), "correction": 0.0}, note="over nothing"),
    ),
    tolerance="var",
    level="math",
)


def _shifted_exponentials(x: Array, axis: int) -> tuple[Array, Array]:
    """X less its maximum, and the exponentials of that; x itself where there are no elements."""
    if x.shape[axis] == 0:
        return x, x
    shifted = x - x.max(axis=axis, keepdims=True)
    return shifted, np.exp(shifted)


@in_float64
def _softmax(x: Array, *, axis: int) -> Array:
    _, powers = _shifted_exponentials(x, axis)
    return np.asarray(powers / powers.sum(axis=axis, keepdims=True))


@in_float64
def _logsoftmax(x: Array, *, axis: int) -> Array:
    shifted, powers = _shifted_exponentials(x, axis)
    return np.asarray(shifted - np.log(powers.sum(axis=axis, keepdims=True)))


def _lower_softmax(emit: Emitter, x: Any, *, axis: int) -> Any:
    if emit.type_of(x).shape[axis] == 0:
        return x
    axes = (axis,)
    powers = emit.exp(emit.sub(x, across(emit, emit.max(x, axes=axes), axes, x)))
    return emit.div(powers, across(emit, emit.sum(powers, axes=axes), axes, x))


def _lower_logsoftmax(emit: Emitter, x: Any, *, axis: int) -> Any:
    if emit.type_of(x).shape[axis] == 0:
        return x
    axes = (axis,)
    shifted = emit.sub(x, across(emit, emit.max(x, axes=axes), axes, x))
    total = emit.log(emit.sum(emit.exp(shifted), axes=axes))
    return emit.sub(shifted, across(emit, total, axes, x))


define(
    "softmax",
    rule=scan,
    reference=_softmax,
    lowering=_lower_softmax,
    widen=True,
    doc=(
        "exp(x - max) divided by its sum along an axis; NaN for a row of -inf and for a row with "
        "NaN or inf."
    ),
    kind=OpKind.OPAQUE,
    attrs={"axis": _AXIS},
    dtypes=FLOATS,
    samples=_ROW_SAMPLES,
    tolerance="softmax",
    level="math",
)

define(
    "logsoftmax",
    rule=scan,
    reference=_logsoftmax,
    lowering=_lower_logsoftmax,
    widen=True,
    doc="The logarithm of softmax along an axis, computed without taking one of 0.",
    kind=OpKind.OPAQUE,
    attrs={"axis": _AXIS},
    dtypes=FLOATS,
    samples=_ROW_SAMPLES,
    tolerance="logsumexp",
    level="math",
)


@in_float64
def _logsumexp(x: Array, *, axes: tuple[int, ...]) -> Array:
    line = rows(x, axes)
    top = line.max(axis=-1, initial=-np.inf)
    top = np.where(np.isfinite(top), top, 0.0)
    return np.asarray(top + np.log(np.exp(line - top[..., np.newaxis]).sum(axis=-1)))


def _lower_logsumexp(emit: Emitter, x: Any, *, axes: tuple[int, ...]) -> Any:
    shape = emit.type_of(x).shape
    if prod(int(shape[a] != 0) for a in axes) == 0:
        return emit.log(emit.sum(x, axes=axes))
    top = emit.max(x, axes=axes)
    # An infinite maximum would make inf - inf; less 0 the exponentials are right as they are.
    top = emit.select(emit.is_finite(top), top, emit.const(0.0, like=top))
    powers = emit.exp(emit.sub(x, across(emit, top, axes, x)))
    return emit.add(top, emit.log(emit.sum(powers, axes=axes)))


define(
    "logsumexp",
    rule=reduced("logsumexp"),
    reference=_logsumexp,
    lowering=_lower_logsumexp,
    widen=True,
    doc="log(sum(exp(x))) without overflow on the way; -inf over nothing and over -inf only.",
    kind=OpKind.OPAQUE,
    attrs={"axes": _AXES},
    dtypes=FLOATS,
    samples=(
        *samples_for(_SHAPES, _REDUCE_ATTRS),
        *_NOTHING,
        Sample(((4, 16),), {"axes": (1,)}, "special", note="NaN and infinities"),
    ),
    tolerance="logsumexp",
    level="math",
)
