"""Expressions: ops as texts of numexpr, over operands x, y, z.

numexpr compiles a text once for each combination of element types, and runs it on blocks that fit
the cache, with several threads.
"""

from __future__ import annotations

import threading
from typing import Any, Final

import numexpr
import numpy as np
from numexpr import necompiler
from numpy.typing import NDArray

__all__ = ["BY_KIND", "SAME", "evaluate"]

Array = NDArray[Any]

SAME: Final = {
    "add": "x + y",
    "sub": "x - y",
    "mul": "x * y",
    "div": "x / y",
    "neg": "-x",
    "sqrt": "sqrt(x)",
    "exp": "exp(x)",
    "expm1": "expm1(x)",
    "log": "log(x)",
    "log1p": "log1p(x)",
    "log2": "log2(x)",
    "log10": "log10(x)",
    "sin": "sin(x)",
    "cos": "cos(x)",
    "tan": "tan(x)",
    "asin": "arcsin(x)",
    "acos": "arccos(x)",
    "atan": "arctan(x)",
    "sinh": "sinh(x)",
    "cosh": "cosh(x)",
    "tanh": "tanh(x)",
    "asinh": "arcsinh(x)",
    "acosh": "arccosh(x)",
    "atanh": "arctanh(x)",
    "atan2": "arctan2(x, y)",
    "hypot": "hypot(x, y)",
    "floor": "floor(x)",
    "ceil": "ceil(x)",
    "trunc": "trunc(x)",
    "round": "round(x)",
    "copysign": "copysign(x, y)",
    "is_nan": "isnan(x)",
    "is_inf": "isinf(x)",
    "is_finite": "isfinite(x)",
    "signbit": "signbit(x)",
    "equal": "x == y",
    "not_equal": "x != y",
    "less": "x < y",
    "less_equal": "x <= y",
    "greater": "x > y",
    "greater_equal": "x >= y",
    "logical_not": "~x",
    "bitwise_and": "x & y",
    "bitwise_or": "x | y",
    "bitwise_xor": "x ^ y",
    "bitwise_not": "~x",
    "select": "where(x, y, z)",
}
"""Ops that are one text for all element types."""

BY_KIND: Final = {
    "abs": {"f": "abs(x)", "i": "where(x < 0, -x, x)"},
    # NaN wins, and of two zeros the one that is larger or smaller.
    "maximum": {
        "f": "where(x == y, where(signbit(x), y, x), where(x > y, x, where(y > x, y, x + y)))",
        "i": "where(x > y, x, y)",
        "b": "x | y",
    },
    "minimum": {
        "f": "where(x == y, where(signbit(x), x, y), where(x < y, x, where(y < x, y, x + y)))",
        "i": "where(x < y, x, y)",
        "b": "x & y",
    },
}
"""Ops that are another text for floats, integers and bools."""

_NAMES: Final = ("x", "y", "z")
_compiled: Final[dict[tuple[str, tuple[str, ...]], Any]] = {}
_lock: Final = threading.Lock()


def evaluate(text: str, operands: tuple[Array, ...]) -> Array:
    """The value of an expression; operands are of equal shape."""
    key = (text, tuple([operand.dtype.str for operand in operands]))
    names = list(zip(_NAMES, operands, strict=False))
    # numexpr keeps the state of a run in one place for the whole process.
    with _lock:
        program = _compiled.get(key)
        if program is None:
            signature = [(name, necompiler.getType(operand)) for name, operand in names]
            program = numexpr.NumExpr(text, signature, optimization="none")
            _compiled[key] = program
        return np.asarray(program(*[operand for _, operand in names]))
