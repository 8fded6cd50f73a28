"""Activations and other elementwise composites, each in terms of simpler elementwise ops."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any, Final

import numpy as np

from realta.ops.conversion import Array, in_float64, in_single
from realta.ops.elementwise_binary import maximum, minimum
from realta.ops.error_function import erf
from realta.ops.opdef import Algebra, Attr, Emitter, Sample, define
from realta.ops.rules import check_choice, elementwise
from realta.ops.samples import elementwise_samples
from realta.types import FLOATS, NUMERIC, TensorType

__all__: list[str] = []


def _lower_square(emit: Emitter, x: Any) -> Any:
    return emit.mul(x, x)


def _lower_reciprocal(emit: Emitter, x: Any) -> Any:
    return emit.div(emit.const(1.0, like=x), x)


def _lower_relu(emit: Emitter, x: Any) -> Any:
    return emit.maximum(x, emit.const(0.0, like=x))


def _lower_clip(emit: Emitter, x: Any, low: Any, high: Any) -> Any:
    return emit.minimum(emit.maximum(x, low), high)


def _clip(x: Array, low: Array, high: Array) -> Array:
    return minimum(maximum(x, low), high)


define(
    "square",
    rule=elementwise,
    reference=in_single(np.square),
    lowering=_lower_square,
    doc="x times x; integers wrap.",
    dtypes=NUMERIC,
    samples=elementwise_samples(1),
    level="math",
)

define(
    "reciprocal",
    rule=elementwise,
    reference=in_single(lambda x: np.divide(np.ones_like(x), x)),
    lowering=_lower_reciprocal,
    doc="One over x; an infinity of the operand's sign for either zero.",
    dtypes=FLOATS,
    samples=elementwise_samples(1, "nonzero"),
    level="math",
)

define(
    "relu",
    rule=elementwise,
    reference=in_single(lambda x: maximum(x, np.zeros_like(x))),
    lowering=_lower_relu,
    doc="The larger of x and 0; NaN for NaN.",
    dtypes=NUMERIC,
    algebra=Algebra(idempotent=True),
    samples=elementwise_samples(1),
    level="math",
)

define(
    "clip",
    operands=("x", "low", "high"),
    rule=elementwise,
    reference=in_single(_clip),
    lowering=_lower_clip,
    doc=(
        "minimum(maximum(x, low), high): where the bounds are in the wrong order high wins, and a "
        "NaN anywhere gives NaN."
    ),
    dtypes=NUMERIC,
    samples=elementwise_samples(3),
    level="math",
)


def _logistic(x: Array) -> Array:
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def _lower_sigmoid(emit: Emitter, x: Any) -> Any:
    # The exponential of a number that is not positive cannot overflow, and the quotient of small
    # numbers keeps its digits where 1/(1 + exp(-x)) has already become 0. The exponential is at
    # most 1, so the larger of it and "x is not negative" is what the two halves differ in; that
    # costs a fraction of a select on most devices.
    small = emit.exp(emit.neg(emit.abs(x)))
    upper = emit.greater_equal(x, emit.const(0.0, like=x))
    above = emit.maximum(small, emit.cast(upper, dtype=emit.type_of(x).dtype))
    return emit.div(above, emit.add(emit.const(1.0, like=x), small))


def _lower_silu(emit: Emitter, x: Any) -> Any:
    return emit.mul(x, emit.sigmoid(x))


define(
    "sigmoid",
    rule=elementwise,
    reference=in_float64(_logistic),
    lowering=_lower_sigmoid,
    widen=True,
    doc="The logistic function 1 / (1 + exp(-x)), without overflow on either side.",
    dtypes=FLOATS,
    samples=elementwise_samples(1),
    tolerance="tan",
    level="math",
)

define(
    "silu",
    rule=elementwise,
    reference=in_float64(lambda x: x * _logistic(x)),
    lowering=_lower_silu,
    widen=True,
    doc="x times its sigmoid, also called swish; NaN for -inf, which is -inf times 0.",
    dtypes=FLOATS,
    samples=elementwise_samples(1),
    tolerance="silu",
    level="math",
)

_CUBIC: Final = 0.044715
_QUICK: Final = 1.702


def _gelu_exact(x: Array) -> Array:
    return 0.5 * x * (1.0 + erf(x / sqrt(2.0)))


def _gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1.0 + np.tanh(sqrt(2.0 / pi) * (x + _CUBIC * (x * x * x))))


def _gelu_quick(x: Array) -> Array:
    return x * _logistic(_QUICK * x)


def _lower_gelu_exact(emit: Emitter, x: Any) -> Any:
    inner = emit.erf(emit.mul(x, emit.const(sqrt(0.5), like=x)))
    half = emit.mul(x, emit.const(0.5, like=x))
    return emit.mul(half, emit.add(inner, emit.const(1.0, like=x)))


def _lower_gelu_tanh(emit: Emitter, x: Any) -> Any:
    cubic = emit.mul(emit.const(_CUBIC, like=x), emit.mul(emit.mul(x, x), x))
    inner = emit.tanh(emit.mul(emit.const(sqrt(2.0 / pi), like=x), emit.add(x, cubic)))
    half = emit.mul(x, emit.const(0.5, like=x))
    return emit.mul(half, emit.add(inner, emit.const(1.0, like=x)))


def _lower_gelu_quick(emit: Emitter, x: Any) -> Any:
    return emit.mul(x, emit.sigmoid(emit.mul(x, emit.const(_QUICK, like=x))))


_GELU: Final[dict[str, tuple[Callable[[Array], Array], Callable[[Emitter, Any], Any]]]] = {
    "none": (_gelu_exact, _lower_gelu_exact),
    "tanh": (_gelu_tanh, _lower_gelu_tanh),
    "quick": (_gelu_quick, _lower_gelu_quick),
}


def _gelu_rule(x: TensorType, *, approximate: str) -> TensorType:
    check_choice("approximate", approximate, tuple(_GELU))
    return x


@in_float64
def _gelu(x: Array, *, approximate: str) -> Array:
    return _GELU[approximate][0](x)


def _lower_gelu(emit: Emitter, x: Any, *, approximate: str) -> Any:
    return _GELU[approximate][1](emit, x)


def _gelu_samples(approximate: str) -> tuple[Sample, ...]:
    return elementwise_samples(1, attrs={"approximate": approximate})


define(
    "gelu",
    rule=_gelu_rule,
    reference=_gelu,
    lowering=_lower_gelu,
    widen=True,
    doc=(
        "x times the normal distribution function of x: by erf (none), by the tanh approximation "
        "of Hendrycks and Gimpel (tanh), or as x sigmoid(1.702 x) (quick)."
    ),
    attrs={"approximate": Attr("str", "none", "none, tanh or quick")},
    dtypes=FLOATS,
    samples=(*_gelu_samples("none"), *_gelu_samples("tanh")[3:], *_gelu_samples("quick")[3:]),
    tolerance="gelu",
    level="math",
)
