"""Elementwise: ops of the graph as functions of JAX arrays, one for each op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import jax
import jax.numpy as jnp
from jax import lax
from realta.backend import Node

__all__ = ["ELEMENTWISE", "FLOAT_ONLY", "Lowering"]

Array = Any
Lowering = Callable[..., Array]
"""``lowering(node, *operands) -> result``, called while JAX traces."""


def plain(function: Callable[..., Array]) -> Lowering:
    """An op without attributes."""

    def lowered(node: Node, *operands: Array) -> Array:
        return function(*operands)

    return lowered


def is_float(x: Array) -> bool:
    """Whether an array has floating-point elements."""
    return bool(jnp.issubdtype(x.dtype, jnp.floating))


def larger(x: Array, y: Array) -> Array:
    """The larger one; NaN wins, and +0 is above -0."""
    best = jnp.maximum(x, y)
    return jnp.where(x == y, jnp.where(jnp.signbit(x), y, x), best) if is_float(x) else best


def smaller(x: Array, y: Array) -> Array:
    """The smaller one; NaN wins, and -0 is below +0."""
    best = jnp.minimum(x, y)
    return jnp.where(x == y, jnp.where(jnp.signbit(x), x, y), best) if is_float(x) else best


def floor_div(x: Array, y: Array) -> Array:
    """The quotient rounded down; integers by zero give 0."""
    if is_float(x):
        return jnp.floor_divide(x, y)
    return jnp.where(y == 0, 0, jnp.floor_divide(x, jnp.where(y == 0, 1, y))).astype(x.dtype)


def mod(x: Array, y: Array) -> Array:
    """The remainder with the divisor's sign; integers by zero give 0."""
    if is_float(x):
        return jnp.mod(x, y)
    return jnp.where(y == 0, 0, jnp.mod(x, jnp.where(y == 0, 1, y))).astype(x.dtype)


def shift_right(x: Array, amount: Array) -> Array:
    """Shifts in the sign of signed integers, zeros for others; by a negative amount 0."""
    signed = jnp.issubdtype(x.dtype, jnp.signedinteger)
    shifted = (lax.shift_right_arithmetic if signed else lax.shift_right_logical)(x, amount)
    return jnp.where(amount < 0, jnp.zeros_like(x), shifted)


def cast(node: Node, x: Array) -> Array:
    """Converts. A float becomes the nearest integer towards zero that there is, NaN becomes 0."""
    dtype = node.types[0].dtype
    if dtype.kind == "bool":
        return x != 0
    if not (is_float(x) and dtype.is_integer):
        return x.astype(dtype.numpy)
    limits = jnp.iinfo(dtype.numpy)
    # The first float that does not fit is a power of two, which every float type has.
    over, under = x >= 2.0 ** (dtype.bits - (dtype.kind == "int")), x < float(limits.min)
    inside = jnp.where(over | under | jnp.isnan(x), 0, x).astype(dtype.numpy)
    largest, smallest = (jnp.asarray(n, dtype.numpy) for n in (limits.max, limits.min))
    return jnp.where(over, largest, jnp.where(under, smallest, inside))


def bitcast(node: Node, x: Array) -> Array:
    """The same bits as another element type."""
    return lax.bitcast_convert_type(x, node.types[0].dtype.numpy)


ELEMENTWISE: Final[dict[str, Lowering]] = {
    "abs": plain(jnp.abs),
    "add": plain(jnp.add),
    "bitcast": bitcast,
    "bitwise_and": plain(jnp.bitwise_and),
    "bitwise_not": plain(jnp.bitwise_not),
    "bitwise_or": plain(jnp.bitwise_or),
    "bitwise_xor": plain(jnp.bitwise_xor),
    "cast": cast,
    "div": plain(jnp.divide),
    "equal": plain(jnp.equal),
    "floor_div": plain(floor_div),
    "greater": plain(jnp.greater),
    "greater_equal": plain(jnp.greater_equal),
    "less": plain(jnp.less),
    "less_equal": plain(jnp.less_equal),
    "logical_not": plain(jnp.logical_not),
    "maximum": plain(larger),
    "minimum": plain(smaller),
    "mod": plain(mod),
    "mul": plain(jnp.multiply),
    "neg": plain(jnp.negative),
    "not_equal": plain(jnp.not_equal),
    "select": plain(jnp.where),
    "shift_left": plain(lax.shift_left),
    "shift_right": plain(shift_right),
    "sign": plain(jnp.sign),
    "sub": plain(jnp.subtract),
}

FLOAT_ONLY: Final[dict[str, Lowering]] = {
    "acos": plain(jnp.arccos),
    "acosh": plain(jnp.arccosh),
    "asin": plain(jnp.arcsin),
    "asinh": plain(jnp.arcsinh),
    "atan": plain(jnp.arctan),
    "atan2": plain(jnp.arctan2),
    "atanh": plain(jnp.arctanh),
    "ceil": plain(jnp.ceil),
    "copysign": plain(jnp.copysign),
    "cos": plain(jnp.cos),
    "cosh": plain(jnp.cosh),
    "erf": plain(jax.scipy.special.erf),
    "exp": plain(jnp.exp),
    "expm1": plain(jnp.expm1),
    "floor": plain(jnp.floor),
    "hypot": plain(jnp.hypot),
    "is_finite": plain(jnp.isfinite),
    "is_inf": plain(jnp.isinf),
    "is_nan": plain(jnp.isnan),
    "log": plain(jnp.log),
    "log10": plain(jnp.log10),
    "log1p": plain(jnp.log1p),
    "log2": plain(jnp.log2),
    "logaddexp": plain(jnp.logaddexp),
    "nextafter": plain(jnp.nextafter),
    "pow": plain(jnp.power),
    "round": plain(jnp.round),
    "rsqrt": plain(lax.rsqrt),
    "signbit": plain(jnp.signbit),
    "sin": plain(jnp.sin),
    "sinh": plain(jnp.sinh),
    "sqrt": plain(jnp.sqrt),
    "tan": plain(jnp.tan),
    "tanh": plain(jnp.tanh),
    "trunc": plain(jnp.trunc),
}
"""Ops that are declared for floating-point types, even where they mean something for others."""
