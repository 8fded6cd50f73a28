"""Binary elementwise arithmetic: operands of one dtype and shape, results of the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import inf
from typing import Any, Final

import numpy as np

from realta.ops import integer_arithmetic as integer
from realta.ops.conversion import Array, in_float64, in_single, quiet
from realta.ops.opdef import Algebra, define
from realta.ops.rules import elementwise
from realta.ops.samples import elementwise_samples
from realta.types import COMPUTABLE, FLOATS, NUMERIC, DType, as_dtype

__all__ = ["maximum", "minimum"]

Function = Callable[[Array, Array], Any]


def maximum(x: Array, y: Array) -> Array:
    """The larger operand; NaN if either is, and 0 over -0."""
    larger = np.maximum(x, y)
    if larger.dtype.kind != "f":
        return larger
    return np.where((x == y) & np.signbit(x), y, np.where(x == y, x, larger))


def minimum(x: Array, y: Array) -> Array:
    """The smaller operand; NaN if either is, and -0 under 0."""
    smaller = np.minimum(x, y)
    if smaller.dtype.kind != "f":
        return smaller
    return np.where((x == y) & np.signbit(y), y, np.where(x == y, x, smaller))


def _by_kind(for_float: Function, for_integer: Function) -> Function:
    @quiet
    def reference(x: Array, y: Array) -> Any:
        chosen = for_float if as_dtype(x.dtype).is_float else for_integer
        return chosen(x, y)

    return reference


_ZERO: Final[Mapping[str, float]] = {"float": -0.0, "int": 0, "uint": 0, "bool": 0}
_ONE: Final[Mapping[str, float]] = {"float": 1, "int": 1, "uint": 1, "bool": 1}
_WRAPPED_ZERO: Final[Mapping[str, float]] = {"int": 0, "uint": 0, "bool": 0}
_LOWEST: Final[Mapping[str, float]] = {"float": -inf, "uint": 0, "bool": 0}
_HIGHEST: Final[Mapping[str, float]] = {"float": inf, "bool": 1}


def _binary(
    name: str,
    reference: Callable[..., Any],
    doc: str,
    *,
    dtypes: frozenset[DType] = NUMERIC,
    algebra: Algebra | None = None,
    tolerance: str = "exact",
    level: str = "math",
    domain: str | tuple[str, ...] = "any",
) -> None:
    define(
        name,
        operands=("x", "y"),
        rule=elementwise,
        reference=reference,
        doc=doc,
        dtypes=dtypes,
        algebra=algebra,
        samples=elementwise_samples(2, domain),
        tolerance=tolerance,
        level=level,
    )


_binary(
    "add", in_single(np.add), "The sum; integers wrap, on bool it is or.",
    dtypes=COMPUTABLE, level="core",
    algebra=Algebra(commutative=True, left_unit=_ZERO, right_unit=_ZERO),
)  # fmt: skip
_binary(
    "sub", in_single(np.subtract), "The difference; integers wrap.", level="core",
    algebra=Algebra(right_unit={"float": 0.0, "int": 0, "uint": 0}),
)  # fmt: skip
_binary(
    "mul", in_single(np.multiply), "The product; integers wrap, on bool it is and.",
    dtypes=COMPUTABLE, level="core",
    algebra=Algebra(commutative=True, left_unit=_ONE, right_unit=_ONE, zero=_WRAPPED_ZERO),
)  # fmt: skip
_binary(
    "div", in_single(np.divide), "The quotient of floats.", dtypes=FLOATS, level="core",
    domain=("any", "nonzero"), algebra=Algebra(right_unit={"float": 1}),
)  # fmt: skip
_binary(
    "floor_div", _by_kind(in_float64(np.floor_divide), integer.floor_divide),
    "The quotient rounded down. An integer divided by zero is 0; a float divided by zero is an "
    "infinity of the right sign, or NaN for zero and NaN.",
    tolerance="floor_div", domain=("any", "nonzero"),
    algebra=Algebra(right_unit={"int": 1, "uint": 1}),
)  # fmt: skip
_binary(
    "mod", _by_kind(in_single(np.mod), integer.modulo),
    "The remainder of floor division, with the divisor's sign; by zero 0 for integers, NaN for "
    "floats.",
    domain=("any", "nonzero"),
)  # fmt: skip
_binary(
    "pow", _by_kind(in_float64(np.power), integer.power),
    "x to the power of y. Integers wrap; a negative integer exponent gives 1 for base 1, ±1 for "
    "base -1, else 0.",
    tolerance="pow", domain=("positive", "small"),
)  # fmt: skip
_binary(
    "maximum", in_single(maximum), "The larger operand; NaN if either is, and 0 over -0.",
    dtypes=COMPUTABLE, level="core",
    algebra=Algebra(
        commutative=True, associative=True, idempotent=True,
        left_unit=_LOWEST, right_unit=_LOWEST, zero={"bool": 1},
    ),
)  # fmt: skip
_binary(
    "minimum", in_single(minimum), "The smaller operand; NaN if either is, and -0 under 0.",
    dtypes=COMPUTABLE, level="core",
    algebra=Algebra(
        commutative=True, associative=True, idempotent=True,
        left_unit=_HIGHEST, right_unit=_HIGHEST, zero={"uint": 0, "bool": 0},
    ),
)  # fmt: skip
_binary(
    "atan2", in_float64(np.arctan2),
    "The angle in radians of the point (y, x), in [-π, π]; the first operand is the ordinate.",
    dtypes=FLOATS, tolerance="atan2",
)  # fmt: skip
_binary(
    "hypot", in_float64(np.hypot), "sqrt(x² + y²) without overflow on the way.",
    dtypes=FLOATS, tolerance="tan", algebra=Algebra(commutative=True),
)  # fmt: skip
_binary(
    "copysign", in_single(np.copysign), "The magnitude of x with the sign of y.",
    dtypes=FLOATS, algebra=Algebra(idempotent=True),
)  # fmt: skip
_binary(
    "nextafter", quiet(np.nextafter), "The float next to x in the direction of y.",
    dtypes=FLOATS,
)  # fmt: skip
_binary(
    "logaddexp", in_float64(np.logaddexp), "log(exp(x) + exp(y)) without overflow on the way.",
    dtypes=FLOATS, tolerance="gelu", algebra=Algebra(commutative=True),
)  # fmt: skip
