"""Unary elementwise functions that round: exponentials, logarithms, trigonometry, erf.

Float32 and narrower compute in float64 and round once; float64 is NumPy's own, within the bounds of
spec 5a.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.ops.conversion import Array, in_float64
from realta.ops.error_function import erf
from realta.ops.opdef import define
from realta.ops.rules import elementwise
from realta.ops.samples import elementwise_samples
from realta.types import FLOATS

__all__: list[str] = []

_Row = tuple[str, Callable[[Array], Any], str, str, str]

_FUNCTIONS: Final[tuple[_Row, ...]] = (
    # name, function in float64, tolerance, domain, doc
    ("rsqrt", lambda x: 1.0 / np.sqrt(x), "exp", "positive",
     "One over the square root; an infinity of the operand's sign for either zero."),
    ("exp", np.exp, "exp", "any", "e to the power of the operand."),
    ("expm1", np.expm1, "exp", "any", "exp(x) - 1, accurate near 0."),
    ("log", np.log, "exp", "positive", "The natural logarithm; -inf for zeros, NaN below."),
    ("log1p", np.log1p, "exp", "positive", "log(1 + x), accurate near 0."),
    ("log2", np.log2, "exp", "positive", "The logarithm to base 2."),
    ("log10", np.log10, "exp", "positive", "The logarithm to base 10."),
    ("sin", np.sin, "sin", "any", "The sine of an angle in radians."),
    ("cos", np.cos, "sin", "any", "The cosine of an angle in radians."),
    ("tan", np.tan, "tan", "any", "The tangent of an angle in radians."),
    ("asin", np.arcsin, "tan", "unit", "The angle in radians with this sine; NaN outside [-1, 1]."),
    ("acos", np.arccos, "tan", "unit",
     "The angle in radians with this cosine; NaN outside [-1, 1]."),
    ("atan", np.arctan, "tan", "any", "The angle in radians with this tangent."),
    ("sinh", np.sinh, "tan", "small", "The hyperbolic sine."),
    ("cosh", np.cosh, "tan", "small", "The hyperbolic cosine."),
    ("tanh", np.tanh, "tan", "any", "The hyperbolic tangent."),
    ("asinh", np.arcsinh, "tan", "any", "The inverse hyperbolic sine."),
    ("acosh", np.arccosh, "tan", "positive",
     "The inverse hyperbolic cosine; NaN below 1."),
    ("atanh", np.arctanh, "tan", "unit",
     "The inverse hyperbolic tangent; infinities at ±1, NaN beyond."),
    ("erf", erf, "erf", "any", "The error function."),
)  # fmt: skip

for _name, _function, _tolerance, _domain, _doc in _FUNCTIONS:
    define(
        _name,
        rule=elementwise,
        reference=in_float64(_function),
        doc=_doc,
        dtypes=FLOATS,
        samples=elementwise_samples(1, _domain),
        tolerance=_tolerance,
        level="core" if _name == "exp" else "math",
    )
