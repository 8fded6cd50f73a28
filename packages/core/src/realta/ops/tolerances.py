"""Tolerances: spec 5a as data, the error each op may make by its tolerance name and dtype.

A bound is absolute: ``|computed - expected| <= allowance``. It is made of ulps of the result, and
for sums, contractions and what is composed of them of multiples of the machine epsilon of the
accumulation dtype times a scale such as ``sum |x|``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from realta.errors import ArgumentError
from realta.ops.composed_bounds import COMPOSED, Call
from realta.ops.conversion import Array
from realta.ops.opdef import OpDef
from realta.types import DType, float64

__all__ = ["TOLERANCES", "Tolerance", "allowance", "tolerance", "ulp"]


@dataclass(frozen=True, slots=True)
class Tolerance:
    """A row of spec 5a.

    Args:
        name: the name that op definitions give.
        ulp: ulps of the result for float32, float64, and the half types.
        also: words for what is allowed beside them; empty if nothing.
        extra: what that comes to, an array of the result's shape.
    """

    name: str
    ulp: tuple[float, float, float]
    also: str = ""
    extra: Callable[[Call], Any] | None = None

    def ulp_for(self, dtype: DType) -> float:
        """The ulps allowed for a result dtype."""
        if not dtype.is_float:
            return 0.0
        return self.ulp[2 if dtype.is_half else int(dtype is float64)]

    def describe(self, dtype: DType) -> str:
        """The bound in words: ``(8 + 2 log2 n) eps sum |x| + 0.5 ulp``."""
        if not dtype.is_float:
            return "exact"
        count = self.ulp_for(dtype)
        if not self.also:
            return "correctly rounded" if count == 0.5 else f"{count:g} ulp"
        return f"{self.also} + {count:g} ulp"


_HALF_ULP: Final = (0.5, 0.5, 0.5)

_ROWS: Final = (
    Tolerance("exact", _HALF_ULP),
    Tolerance("exp", (3, 2, 1)),
    Tolerance("sin", (4, 2, 1)),
    Tolerance("tan", (5, 4, 1)),
    Tolerance("atan2", (6, 3, 1)),
    Tolerance("erf", (8, 4, 1)),
    Tolerance("pow", (16, 8, 1)),
    # A quotient near 2^24 is an integer that NumPy's algorithm may miss by a rounding of its own.
    Tolerance("floor_div", (2, 2, 1)),
    *(
        Tolerance(name, (5, 4, 1) if name == "silu" else _HALF_ULP, words, extra)
        for name, (words, extra) in COMPOSED.items()
    ),
)
TOLERANCES: Final[Mapping[str, Tolerance]] = {row.name: row for row in _ROWS}
"""Every row by name."""


def tolerance(name: str) -> Tolerance:
    """The row of that name.

    Raises:
        ArgumentError: there is none.
    """
    found = TOLERANCES.get(name)
    if found is None:
        raise ArgumentError(
            f"there is no tolerance named {name!r}", fix=f"use one of {', '.join(TOLERANCES)}"
        )
    return found


_FORMATS: Final[Mapping[str, tuple[int, float]]] = {
    # bits after the leading one, smallest subnormal
    "float8_e4m3fn": (3, 2.0**-9),
    "float8_e5m2": (2, 2.0**-16),
    "float16": (10, 2.0**-24),
    "bfloat16": (7, 2.0**-133),
    "float32": (23, 2.0**-149),
    "float64": (52, 2.0**-1074),
}


def ulp(expected: Array, dtype: DType) -> Array:
    """The distance of neighbouring numbers of a float dtype at float64 values."""
    mantissa, smallest = _FORMATS[dtype.name]
    value = np.asarray(expected, np.float64)
    spacing = np.ldexp(1.0, np.frexp(value)[1] - 1 - mantissa)
    return np.asarray(np.where(value == 0.0, smallest, np.maximum(spacing, smallest)))


def allowance(
    op: OpDef,
    operands: Sequence[Array],
    attrs: Mapping[str, Any],
    expected: Array,
    dtype: DType,
) -> Array:
    """The error allowed for each element of a result.

    Args:
        op: the op.
        operands: its operands; floats as float64.
        attrs: its attributes.
        expected: the right result, float64 (or an exact integer or bool).
        dtype: the result's dtype; errors of integers and bools are 0.

    Returns:
        A float64 array of the result's shape. It means nothing where the expected value is not
        finite: there the computed one has to be the same.
    """
    if not dtype.is_float:
        return np.zeros(np.shape(expected))
    row = tolerance(op.tolerance)
    allowed = row.ulp_for(dtype) * ulp(expected, dtype)
    if row.extra is None:
        return allowed
    eps = float(np.finfo(np.float64 if dtype is float64 else np.float32).eps)
    call = Call(op, tuple(operands), attrs, np.asarray(expected, np.float64), eps, dtype)
    with np.errstate(all="ignore"):
        return np.asarray(allowed + row.extra(call), np.float64)
