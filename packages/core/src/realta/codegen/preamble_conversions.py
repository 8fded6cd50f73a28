"""Conversion helpers: floats to integers, and the narrow floats that only memory holds.

Narrow floats are rounded once, to nearest even, from whatever type they are made of; they are
unsigned integers of their width in memory and float32 in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from realta.codegen.ir import Apply, Const
from realta.codegen.preamble_trace import Trace, V, select
from realta.types import (
    DType,
    bfloat16,
    bool_,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

__all__ = [
    "Conversion",
    "bits_type",
    "float_to_integer",
    "narrowed",
    "round_to",
    "rounded_from",
    "widened",
]

Conversion = Callable[[Trace, V, DType], V]
"""Writes a helper that converts a value to or from a type."""


class _Format(NamedTuple):
    """A narrow float: bits of its mantissa, bias of its exponent, and its last finite number."""

    mantissa: int
    bias: int
    nan: int
    overflow: int
    """What a number beyond the last finite one becomes: an infinity, or NaN."""


_FORMATS: Final[Mapping[DType, _Format]] = {
    float16: _Format(10, 15, 0x7E00, 0x7C00),
    bfloat16: _Format(7, 127, 0x7FC0, 0x7F80),
    float8_e4m3fn: _Format(3, 7, 0x7F, 0x7F),
    float8_e5m2: _Format(2, 15, 0x7E, 0x7C),
}


def bits_type(dtype: DType) -> DType:
    """The type that memory holds elements of a type in."""
    if dtype is bool_:
        return uint8
    if dtype.is_half:
        return uint16 if dtype.itemsize == 2 else uint8
    return dtype


def narrowed(trace: Trace, x: V, target: DType) -> V:
    """The bits of a float32 rounded to a narrow type."""
    mantissa, bias, nan, overflow = _FORMATS[target]
    dropped = 23 - mantissa
    bits = trace.let("bits", x.bits())
    magnitude = trace.let("magnitude", bits & 0x7FFFFFFF)
    half = trace.let("half_", ((magnitude >> dropped) & 1) + ((1 << (dropped - 1)) - 1))
    found = (magnitude + half) >> dropped
    if bias != 127:
        # Wraps below the least normal number, where it is not taken.
        found = found - ((127 - bias) << mantissa)
        # Adding a number whose last bit is the least subnormal's rounds to multiples of it.
        step = (127 + 23 + 1 - bias - mantissa) << 23
        moved = magnitude.as_type(float32) + magnitude.like(step).as_type(float32)
        tiny = magnitude < ((128 - bias) << 23)
        found = select(tiny, moved.bits() - step, found)
    found = trace.let("found", found)
    found = select(found > overflow, found.like(overflow), found)
    found = select(magnitude > 0x7F800000, found.like(nan), found)
    sign = (bits >> (32 - target.bits)) & (1 << (target.bits - 1))
    return (found | sign).to(bits_type(target))


def widened(trace: Trace, bits: V, source: DType) -> V:
    """The float32 that a narrow type's bits stand for."""
    mantissa, bias, nan, overflow = _FORMATS[source]
    wide = trace.let("wide", bits.to(uint32))
    if source is bfloat16:
        return (wide << 16).as_type(float32)
    last = (1 << (source.bits - 1)) - 1
    magnitude = trace.let("magnitude", wide & last)
    moved = trace.let("moved", (magnitude << (23 - mantissa)) + ((127 - bias) << 23))
    # A subnormal number is one of the least normal binade, less that binade's first.
    least = (128 - bias) << 23
    tiny = (moved + (1 << 23)).as_type(float32) - moved.like(least).as_type(float32)
    number = select(magnitude < (1 << mantissa), tiny.bits(), moved)
    if overflow == nan:
        number = select(magnitude.equals(nan), number.like(0x7FC00000), number)
    else:
        number = select(magnitude >= overflow, moved | 0x7F800000, number)
    return (number | ((wide & (last + 1)) << (32 - source.bits))).as_type(float32)


def round_to(trace: Trace, x: V, target: DType) -> V:
    """A float32 rounded to a narrow type."""
    bits = trace.let("narrow", narrow_call(x, target))
    return widen_call(bits, target)


def narrow_call(x: V, target: DType) -> V:
    """A call of `narrowed`."""
    return _with_target(x, "narrow", bits_type(target), target)


def widen_call(bits: V, source: DType) -> V:
    """A call of `widened`."""
    return _with_target(bits, "widen", float32, source)


def _with_target(x: V, op: str, dtype: DType, target: DType) -> V:
    return V(Apply(op, (x.expr,), dtype, target))


def _odd_single(trace: Trace, x: V) -> V:
    """A float64 as a float32, rounded to odd: a later rounding to fewer bits is as good as one."""
    single = trace.let("single", x.to(float32))
    back = trace.let("back", single.to(float64))
    away = back.c("fabs") > x.c("fabs")
    inexact = back.differs(x) & ~x.is_nan()
    bits = trace.let("single_bits", single.bits())
    toward_zero = select(away, bits - 1, bits)
    return select(inexact, toward_zero | 1, toward_zero).as_type(float32)


def _odd_integer(trace: Trace, x: V) -> V:
    """An integer as a float32 that keeps 16 bits, what is dropped showing in the last of them."""
    wide = uint64 if x.dtype.bits == 64 else uint32
    if x.dtype.kind == "int":
        widest = x.to(int64 if wide is uint64 else int32)
        magnitude = select(widest < 0, -widest, widest).as_type(wide)
    else:
        magnitude = x.to(wide)
    magnitude = trace.let("whole0", magnitude)
    scale = V(Const(1.0, float32))
    # Each step leaves at least 16 bits where it takes any.
    steps = ((1 << 48, 32), (1 << 32, 16), (1 << 24, 8)) if wide is uint64 else ((1 << 24, 8),)
    for number, (bound, dropped) in enumerate(steps, 1):
        large = magnitude >= bound
        rest = (magnitude & ((1 << dropped) - 1)).differs(0)
        shifted = (magnitude >> dropped) | select(rest, magnitude.like(1), magnitude.like(0))
        scale = trace.let(f"scale{number}", select(large, scale * float(1 << dropped), scale))
        magnitude = trace.let(f"whole{number}", select(large, shifted, magnitude))
    single = magnitude.to(float32) * scale
    return single if x.dtype.kind == "uint" else select(x < 0, -single, single)


def rounded_from(trace: Trace, x: V, target: DType) -> V:
    """A number of any type rounded once to a narrow type, as a float32."""
    if x.dtype is float64:
        exact = _odd_single(trace, x)
    elif x.dtype.bits >= 32:
        exact = _odd_integer(trace, x)
    else:
        exact = x.to(float32)  # holds every integer of 16 bits
    return widen_call(trace.let("narrow", narrow_call(exact, target)), target)


def float_to_integer(trace: Trace, x: V, dtype: DType) -> V:
    """The whole part of a float, at most what the integer holds; 0 for NaN."""
    signed = dtype.kind == "int"
    low, high = (
        (-(1 << (dtype.bits - 1)), 1 << (dtype.bits - 1)) if signed else (0, 1 << dtype.bits)
    )
    whole = trace.let("whole", x.c("trunc"))
    # Both ends are powers of two or 0, hence floats; the largest integer itself may be none.
    under, over = whole < float(low), whole >= float(high)
    inside = trace.let("inside", ~(under | over | x.is_nan()))
    number = trace.let("number", select(inside, whole, 0.0).to(dtype))
    ends = select(under, number.like(low), number)
    return select(over, number.like(high - 1), ends)
