"""Pointwise functions: one line for each elementwise op of core's registry.

An op that is defined later needs no line here: ``F.name`` finds it (see `realta.functional`).
"""

from __future__ import annotations

from typing import Final

from realta.functional.elementwise import (
    binary,
    comparison,
    logical,
    predicate,
    rounding,
    sign_test,
    unary,
)

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_not", "bitwise_or", "bitwise_xor", "ceil", "copysign", "cos", "cosh", "div",
    "elementwise_max", "elementwise_min", "equal", "erf", "exp", "expm1", "floor", "floor_div",
    "greater", "greater_equal", "hypot", "is_finite", "is_inf", "is_nan", "less", "less_equal",
    "log", "log1p", "log2", "log10", "logaddexp", "logical_and", "logical_or", "logical_xor",
    "maximum", "minimum", "mod", "mul", "neg", "negate", "nextafter", "not_equal", "reciprocal",
    "relu", "round", "rsqrt", "shift_left", "shift_right", "sigmoid", "sign", "signbit", "silu",
    "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh", "trunc",
]  # fmt: skip

# Arithmetic.
add: Final = binary("add")
sub: Final = binary("sub")
mul: Final = binary("mul")
div: Final = binary("div")
floor_div: Final = binary("floor_div")
mod: Final = binary("mod")
neg: Final = unary("neg")
negate: Final = neg
abs: Final = unary("abs")
sign: Final = unary("sign")
square: Final = unary("square")
reciprocal: Final = unary("reciprocal")
sqrt: Final = unary("sqrt")
rsqrt: Final = unary("rsqrt")
hypot: Final = binary("hypot")
maximum: Final = binary("maximum")
elementwise_max: Final = maximum
minimum: Final = binary("minimum")
elementwise_min: Final = minimum

# Rounding and the parts of a number.
floor: Final = rounding("floor")
ceil: Final = rounding("ceil")
trunc: Final = rounding("trunc")
round: Final = rounding("round")
copysign: Final = binary("copysign")
nextafter: Final = binary("nextafter")

# Exponentials and logarithms.
exp: Final = unary("exp")
expm1: Final = unary("expm1")
log: Final = unary("log")
log1p: Final = unary("log1p")
log2: Final = unary("log2")
log10: Final = unary("log10")
logaddexp: Final = binary("logaddexp")
erf: Final = unary("erf")

# Angles.
sin: Final = unary("sin")
cos: Final = unary("cos")
tan: Final = unary("tan")
asin: Final = unary("asin")
acos: Final = unary("acos")
atan: Final = unary("atan")
atan2: Final = binary("atan2")
sinh: Final = unary("sinh")
cosh: Final = unary("cosh")
tanh: Final = unary("tanh")
asinh: Final = unary("asinh")
acosh: Final = unary("acosh")
atanh: Final = unary("atanh")

# Activations.
relu: Final = unary("relu")
sigmoid: Final = unary("sigmoid")
silu: Final = unary("silu")

# Comparisons.
equal: Final = comparison("equal")
not_equal: Final = comparison("not_equal")
less: Final = comparison("less")
less_equal: Final = comparison("less_equal")
greater: Final = comparison("greater")
greater_equal: Final = comparison("greater_equal")
is_nan: Final = predicate("is_nan", of_integers=False)
is_inf: Final = predicate("is_inf", of_integers=False)
is_finite: Final = predicate("is_finite", of_integers=True)
signbit: Final = sign_test("signbit")

# Logic and bits.
logical_and: Final = logical("logical_and", "bitwise_and")
logical_or: Final = logical("logical_or", "bitwise_or")
logical_xor: Final = logical("logical_xor", "bitwise_xor")
bitwise_and: Final = binary("bitwise_and")
bitwise_or: Final = binary("bitwise_or")
bitwise_xor: Final = binary("bitwise_xor")
bitwise_not: Final = unary("bitwise_not")
shift_left: Final = binary("shift_left")
shift_right: Final = binary("shift_right")
