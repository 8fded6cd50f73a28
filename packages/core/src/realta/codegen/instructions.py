"""Instructions: the scalar instructions of the kernel IR, their types and what they compute.

An instruction that is an elementwise op of the registry is what the op's reference says, so that
there is one definition of each; the others are defined here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from realta.codegen.ir import Apply, compute_type
from realta.errors import ArgumentError, DTypeError
from realta.ops import OpDef, OpKind, convert, find_op
from realta.ops.conversion import Array
from realta.types import DType, TensorType, bool_, float32, int64, uint32, uint64

__all__ = ["COMBINATIONS", "combine", "fold_types", "perform", "result_type"]

COMBINATIONS: Final[Mapping[str, str]] = {
    "add": "add", "mul": "mul", "maximum": "maximum", "minimum": "minimum",
    "logical_and": "bitwise_and", "logical_or": "bitwise_or", "bitwise_or": "bitwise_or",
}  # fmt: skip
"""What a fold combines two values with; argmax and argmin, which combine pairs, are not here."""
_ARGUMENTS: Final = ("argmax", "argmin")


def _elementwise(name: str) -> OpDef:
    op = find_op(name)
    if op is None or op.kind is not OpKind.ELEMENTWISE or not op.primitive:
        raise ArgumentError(
            f"there is no instruction {name!r}",
            fix="use a primitive elementwise op, cast, bitcast, round_to or mul_high",
        )
    return op


def result_type(apply: Apply) -> DType:
    """The compute type of an instruction's result.

    Raises:
        ArgumentError: there is no such instruction, or it takes another number of operands.
        DTypeError, ShapeError: it is not defined for these operands.
    """
    dtypes = [operand.dtype for operand in apply.operands]
    own = _OWN.get(apply.op)
    if own is not None:
        return own[0](apply, *_counted(apply, dtypes, own[1]))
    op = _elementwise(apply.op)
    types = tuple(TensorType(dtype, ()) for dtype in dtypes)
    return op.result_types(types, op.make_attrs({}))[0].dtype


def _counted(apply: Apply, dtypes: list[DType], count: int) -> list[DType]:
    if len(dtypes) != count:
        raise ArgumentError(f"{apply.op} takes {count} operand(s), got {len(dtypes)}")
    return dtypes


def _cast_type(apply: Apply, source: DType) -> DType:
    target = apply.target
    if (
        target is not None
        and compute_type(target) is not apply.dtype
        and not (source is float32 and target.is_half)
    ):
        raise DTypeError(f"a cast to {target} gives {compute_type(target)}, not {apply.dtype}")
    return apply.dtype


def _bitcast_type(apply: Apply, source: DType) -> DType:
    given, wanted = _stored(apply, source)
    if given.itemsize != wanted.itemsize or bool_ in (given, wanted):
        raise DTypeError(
            f"the bits of {given} cannot be read as {wanted}",
            fix="name the narrow type as target, or go by integers of its width",
        )
    return apply.dtype


def _stored(apply: Apply, source: DType) -> tuple[DType, DType]:
    """The storage types between which a bitcast goes: its target is the narrow one of them."""
    if apply.target is None:
        return source, apply.dtype
    widened = apply.dtype is float32 and source.itemsize == apply.target.itemsize
    return (source, apply.target) if widened else (apply.target, apply.dtype)


def _round_type(apply: Apply, source: DType) -> DType:
    if source is not float32 or apply.target is None or not apply.target.is_half:
        raise DTypeError(
            f"round_to rounds a float32 to a half type, not {source} to {apply.target}"
        )
    return float32


def _mul_high_type(apply: Apply, x: DType, y: DType) -> DType:
    if x is not y or x not in (uint32, uint64):
        raise DTypeError(f"mul_high multiplies two uint32 or two uint64, not {x} and {y}")
    return x


_OWN: Final[Mapping[str, tuple[Callable[..., DType], int]]] = {
    "cast": (_cast_type, 1), "bitcast": (_bitcast_type, 1), "round_to": (_round_type, 1),
    "mul_high": (_mul_high_type, 2),
}  # fmt: skip
"""By instruction that is no op, or whose result the operands do not tell: its rule and operands."""


def perform(apply: Apply, *values: Array) -> Array:
    """What an instruction computes; the values have the operands' compute types."""
    with np.errstate(all="ignore"):
        return _perform(apply, values)


def _perform(apply: Apply, values: tuple[Array, ...]) -> Array:
    match apply.op:
        case "cast" | "round_to":
            narrow = values[0] if apply.target is None else convert(values[0], apply.target)
            return convert(narrow, apply.dtype)
        case "bitcast":
            given, wanted = _stored(apply, apply.operands[0].dtype)
            bits = np.ascontiguousarray(convert(values[0], given)).view(wanted.numpy)
            return convert(bits.reshape(values[0].shape), apply.dtype)
        case "mul_high":
            return _mul_high(*values)
    op = _elementwise(apply.op)
    return np.asarray(op.reference(*values), apply.dtype.numpy)


def _mul_high(x: Array, y: Array) -> Array:
    if x.dtype == np.uint32:
        return ((x.astype(np.uint64) * y) >> np.uint64(32)).astype(np.uint32)
    half, low = np.uint64(32), np.uint64(0xFFFFFFFF)
    x_high, x_low, y_high, y_low = x >> half, x & low, y >> half, y & low
    middle = x_high * y_low + ((x_low * y_low) >> half)
    carried = x_low * y_high + (middle & low)
    return np.asarray(x_high * y_high + (middle >> half) + (carried >> half))


def fold_types(combination: str, dtypes: tuple[DType, ...]) -> tuple[DType, ...]:
    """The types of a fold's results.

    Raises:
        ArgumentError: there is no such combination, or it takes another number of values.
        DTypeError: it is not defined for these values.
    """
    if combination in _ARGUMENTS:
        if len(dtypes) != 2 or dtypes[1] is not int64:
            raise DTypeError(f"{combination} combines values and their int64 indices")
        return dtypes
    if combination not in COMBINATIONS:
        raise ArgumentError(
            f"there is no combination {combination!r}",
            fix=f"use one of {', '.join((*COMBINATIONS, *_ARGUMENTS))}",
        )
    if len(dtypes) != 1:
        raise ArgumentError(f"{combination} combines one value, not {len(dtypes)}")
    if combination.startswith("logical") and dtypes[0] is not bool_:
        raise DTypeError(f"{combination} combines bools, not {dtypes[0]}")
    op = _elementwise(COMBINATIONS[combination])
    type = TensorType(dtypes[0], ())
    return (op.result_types((type, type), op.make_attrs({}))[0].dtype,)


def combine(combination: str, x: tuple[Array, ...], y: tuple[Array, ...]) -> tuple[Array, ...]:
    """Two values of a fold combined, or two pairs of a value and its index; x comes first."""
    if combination not in _ARGUMENTS:
        op = _elementwise(COMBINATIONS[combination])
        with np.errstate(all="ignore"):
            return (np.asarray(op.reference(x[0], y[0]), x[0].dtype),)
    (value, index), (other, other_index) = x, y
    beats = (other > value) if combination == "argmax" else (other < value)
    ties = other == value
    if value.dtype.kind == "f":  # NaN beats all but NaN
        beats = beats | (np.isnan(other) & ~np.isnan(value))
        ties = ties | (np.isnan(other) & np.isnan(value))
    second = beats | (ties & (other_index < index))
    return np.where(second, other, value), np.where(second, other_index, index)
