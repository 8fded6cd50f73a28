"""Pointwise functions: one line for each elementwise op of core's registry.

An op that is defined later needs no line here: ``F.name`` finds it (see `realta.functional`).
"""

from __future__ import annotations

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
add = binary("add")
sub = binary("sub")
mul = binary("mul")
div = binary("div")
floor_div = binary("floor_div")
mod = binary("mod")
neg = negate = unary("neg")
abs = unary("abs")
sign = unary("sign")
square = unary("square")
reciprocal = unary("reciprocal")
sqrt = unary("sqrt")
rsqrt = unary("rsqrt")
hypot = binary("hypot")
maximum = elementwise_max = binary("maximum")
minimum = elementwise_min = binary("minimum")

# Rounding and the parts of a number.
floor = rounding("floor")
ceil = rounding("ceil")
trunc = rounding("trunc")
round = rounding("round")
copysign = binary("copysign")
nextafter = binary("nextafter")

# Exponentials and logarithms.
exp = unary("exp")
expm1 = unary("expm1")
log = unary("log")
log1p = unary("log1p")
log2 = unary("log2")
log10 = unary("log10")
logaddexp = binary("logaddexp")
erf = unary("erf")

# Angles.
sin = unary("sin")
cos = unary("cos")
tan = unary("tan")
asin = unary("asin")
acos = unary("acos")
atan = unary("atan")
atan2 = binary("atan2")
sinh = unary("sinh")
cosh = unary("cosh")
tanh = unary("tanh")
asinh = unary("asinh")
acosh = unary("acosh")
atanh = unary("atanh")

# Activations.
relu = unary("relu")
sigmoid = unary("sigmoid")
silu = unary("silu")

# Comparisons.
equal = comparison("equal")
not_equal = comparison("not_equal")
less = comparison("less")
less_equal = comparison("less_equal")
greater = comparison("greater")
greater_equal = comparison("greater_equal")
is_nan = predicate("is_nan", of_integers=False)
is_inf = predicate("is_inf", of_integers=False)
is_finite = predicate("is_finite", of_integers=True)
signbit = sign_test("signbit")

# Logic and bits.
logical_and = logical("logical_and", "bitwise_and")
logical_or = logical("logical_or", "bitwise_or")
logical_xor = logical("logical_xor", "bitwise_xor")
bitwise_and = binary("bitwise_and")
bitwise_or = binary("bitwise_or")
bitwise_xor = binary("bitwise_xor")
bitwise_not = unary("bitwise_not")
shift_left = binary("shift_left")
shift_right = binary("shift_right")
