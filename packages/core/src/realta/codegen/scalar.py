"""Scalar semantics: elementwise ops of the registry as scalar instructions of the kernel IR.

Half types are computed in float32: an operand of a half type is a float32 that the type can hold,
and every op whose result might not be one rounds it back, so that each op rounds at its boundary.
Booleans are combined with ``bitwise_and bitwise_or bitwise_xor logical_not`` alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import copysign, inf, isnan
from typing import Any, Final

import numpy as np

from realta.codegen.indices import Index
from realta.codegen.ir import IDENTITY, Apply, Const, Expr, FromIndex, compute_type
from realta.graph import Node
from realta.types import (
    BY_NAME,
    DType,
    bool_,
    float16,
    float32,
    int32,
    int64,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "apply_node", "apply_scalar", "bitcast", "cast", "combined", "constant", "from_index",
    "identity", "negated", "rounded", "select",
]  # fmt: skip

_EXACT_ON_HALF: Final = frozenset(
    {"neg", "abs", "sign", "floor", "ceil", "trunc", "round", "maximum", "minimum", "copysign"}
)
"""Their results can be held by the type of their operands, which need no rounding."""
_PREDICATES: Final = frozenset(
    {
        "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "is_nan", "is_inf",
        "is_finite", "signbit", "logical_not",
    }
)  # fmt: skip
_BITS: Final = {2: uint16, 4: uint32, 8: uint64}


def constant(value: Any, dtype: DType) -> Expr:
    """A number of a storage type as a value of its compute type; every bit of a NaN is kept."""
    number = np.asarray(value, dtype.numpy)
    if dtype is bool_:
        return Const(bool(number), bool_)
    if not dtype.is_float:
        return Const(int(number), dtype)
    wide = float(number)
    if isnan(wide) and copysign(1.0, wide) < 0:
        # As literals all NaNs are one.
        register = compute_type(dtype)
        bits = _BITS[register.itemsize]
        pattern = np.asarray(number.astype(register.numpy)).view(bits.numpy)
        return Apply("bitcast", (Const(int(pattern), bits),), register)
    return Const(wide, compute_type(dtype))


def from_index(index: Index, dtype: DType) -> Expr:
    """An index as a value of a storage type."""
    wide = int32 if index.low >= -(2**31) and index.high < 2**31 else int64
    return cast(FromIndex(index, wide), wide, dtype)


def rounded(value: Expr, dtype: DType) -> Expr:
    """A float32 rounded to a half type; anything else as it is."""
    if not dtype.is_half:
        return value
    return Apply("round_to", (value,), float32, dtype)


def cast(value: Expr, source: DType, target: DType) -> Expr:
    """A value of one storage type in another, by spec 5."""
    if source is target:
        return value
    if target.is_half:
        if source.is_half:
            return rounded(value, target)
        if source is bool_:
            return Apply("cast", (value,), float32)
        return Apply("cast", (value,), float32, target)
    if compute_type(source) is target:
        return value  # widening a half type is what its load did
    return Apply("cast", (value,), target)


def bitcast(value: Expr, source: DType, target: DType) -> Expr:
    """The bits of a value read as another storage type of the same width."""
    if source is target:
        return value
    bits = BY_NAME[f"uint{source.bits}"]
    if source.is_half and target.is_half:
        return bitcast(bitcast(value, source, bits), bits, target)
    narrow = source if source.is_half else target if target.is_half else None
    return Apply("bitcast", (value,), compute_type(target), narrow)


def negated(value: Expr) -> Expr:
    """Whether a bool does not hold."""
    return Apply("logical_not", (value,), bool_)


def select(condition: Expr, x: Expr, y: Expr) -> Expr:
    """X where the condition holds, else y."""
    return Apply("select", (condition, x, y), x.dtype)


def identity(combine: str, dtype: DType) -> Expr:
    """What a combination starts from, in a compute type."""
    value = IDENTITY[combine]
    if value in ("lowest", "highest"):
        if dtype.is_float:
            return Const(-inf if value == "lowest" else inf, dtype)
        if dtype is bool_:
            return Const(value == "highest", bool_)
        info = np.iinfo(dtype.numpy)
        return Const(int(info.min if value == "lowest" else info.max), dtype)
    if dtype is bool_:
        return Const(bool(value), bool_)
    return Const(float(value) if dtype.is_float else int(value), dtype)


_COMBINATIONS: Final = {"logical_and": "bitwise_and", "logical_or": "bitwise_or"}


def combined(combine: str, x: Expr, y: Expr) -> Expr:
    """Two values combined in a compute type, the first one being first."""
    return Apply(_COMBINATIONS.get(combine, combine), (x, y), x.dtype)


def _both(x: Expr, y: Expr) -> Expr:
    return Apply("bitwise_and", (x, y), bool_)


def _either(x: Expr, y: Expr) -> Expr:
    return Apply("bitwise_or", (x, y), bool_)


def _differ(x: Expr, y: Expr) -> Expr:
    return Apply("bitwise_xor", (x, y), bool_)


_ON_BOOL: Final[dict[str, Callable[..., Expr]]] = {
    "add": _either,
    "mul": _both,
    "maximum": _either,
    "minimum": _both,
    "bitwise_or": _either,
    "bitwise_and": _both,
    "bitwise_xor": _differ,
    "not_equal": _differ,
    "equal": lambda x, y: negated(_differ(x, y)),
    "less": lambda x, y: _both(negated(x), y),
    "less_equal": lambda x, y: _either(negated(x), y),
    "greater": lambda x, y: _both(x, negated(y)),
    "greater_equal": lambda x, y: _either(x, negated(y)),
    "bitwise_not": negated,
    "logical_not": negated,
}


def _next_half(x: Expr, y: Expr, dtype: DType) -> Expr:
    """``nextafter`` of a half type: its bits, one up or one down."""
    zero = Const(0.0, float32)
    bits = Apply("cast", (bitcast(x, dtype, uint16),), int32)
    away = _differ(Apply("less", (x, y), bool_), Apply("less", (x, zero), bool_))
    step = select(away, Const(1, int32), Const(-1, int32))
    moved = Apply("cast", (Apply("add", (bits, step), int32),), uint16)
    least = Apply("copysign", (bitcast(Const(1, uint16), uint16, dtype), y), float32)
    found = bitcast(moved, uint16, dtype)
    found = select(Apply("equal", (x, zero), bool_), least, found)
    # Of two zeros NumPy gives the first one in float16, as nowhere else.
    found = select(Apply("equal", (x, y), bool_), x if dtype is float16 else y, found)
    unordered = _either(Apply("is_nan", (x,), bool_), Apply("is_nan", (y,), bool_))
    return select(unordered, Apply("add", (x, y), float32), found)


def _extreme_of_number(name: str, operands: Sequence[Expr]) -> Expr | None:
    """The maximum or minimum of a float and a known number by one comparison, where that is right.

    Not where the number is the zero that the other zero wins over.
    """
    x, number = operands
    if not isinstance(number, Const):
        x, number = number, x
    if not isinstance(number, Const) or not number.dtype.is_float or isnan(number.value):
        return None
    largest = name == "maximum"
    if number.value == 0 and (copysign(1.0, number.value) < 0) == largest:
        return None
    # Negated, so that NaN is taken as well.
    loses = Apply("less_equal" if largest else "greater_equal", (x, number), bool_)
    return select(negated(loses), x, number)


def apply_scalar(name: str, operands: Sequence[Expr], source: DType, target: DType) -> Expr:
    """An elementwise instruction.

    Args:
        name: scalar name of a primitive elementwise op.
        operands: values in compute types.
        source: storage type of the data operands.
        target: storage type of the result.
    """
    if name == "cast":
        return cast(operands[0], source, target)
    if name == "bitcast":
        return bitcast(operands[0], source, target)
    if name == "select":
        return select(*operands)
    if source is bool_ and name in _ON_BOOL:
        return _ON_BOOL[name](*operands)
    if name == "nextafter" and source.is_half:
        return _next_half(operands[0], operands[1], source)
    if name in _PREDICATES:
        return Apply(name, tuple(operands), bool_)
    if name in ("maximum", "minimum"):
        found = _extreme_of_number(name, operands)
        if found is not None:
            return found
    value = Apply(name, tuple(operands), compute_type(target))
    return value if name in _EXACT_ON_HALF else rounded(value, target)


def apply_node(node: Node, operands: Sequence[Expr]) -> Expr:
    """What an elementwise node computes from its operands' values."""
    source = node.operands[node.op.data_operand].type.dtype
    return apply_scalar(node.op.scalar, operands, source, node.type.dtype)
