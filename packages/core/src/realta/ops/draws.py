"""Draws: uniform, normal and integer random values as composites of `philox_bits` (spec 6)."""

from __future__ import annotations

from math import pi, prod
from typing import Any, Final

import numpy as np

from realta.errors import ArgumentError
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define, get_op
from realta.ops.rules import drawn
from realta.types import (
    FLOATS,
    INTEGERS,
    DType,
    Shape,
    TensorType,
    float32,
    float64,
    uint32,
    uint64,
)

__all__ = ["MANTISSA"]

MANTISSA: Final = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}
"""Significant bits of each float type: a uniform takes so many bits of its lane."""

_ATTRS: Final = {
    "shape": Attr("shape", doc="shape of the result"),
    "dtype": Attr("dtype", doc="element type of the result"),
    "device": Attr("str", "", "device of the result; empty for the graph's device"),
}
_SAMPLES: Final = tuple(
    Sample(((4,),), {"shape": s, "dtype": lambda d: d}, "integers", (uint32,))
    for s in ((), (0,), (17,), (3, 33), (1025,))
)


def _draw_rule(
    state: TensorType, *, shape: Shape, dtype: DType, device: str, **_: Any
) -> TensorType:
    return drawn(state, shape, dtype, device)


def _bits(state: Array, shape: tuple[int, ...], dtype: DType) -> Array:
    return get_op("philox_bits").reference(state, shape=shape, dtype=dtype, device="")  # type: ignore[no-any-return]


def _lane(dtype: DType) -> DType:
    return uint64 if dtype is float64 else uint32


def _uniform(state: Array, *, shape: tuple[int, ...], dtype: DType, device: str) -> Array:
    lane = _lane(dtype)
    kept = MANTISSA[dtype.name]
    bits = _bits(state, shape, lane) >> lane.numpy.type(lane.bits - kept)
    wide = bits.astype(np.float64) * 2.0**-kept
    return wide.astype(dtype.numpy)  # type: ignore[no-any-return]


def _lower_uniform(emit: Emitter, state: Any, *, shape: Shape, dtype: DType, device: str) -> Any:
    lane = _lane(dtype)
    kept = MANTISSA[dtype.name]
    bits = emit.philox_bits(state, shape=shape, dtype=lane, device=device)
    high = emit.shift_right(bits, emit.const(lane.bits - kept, like=bits))
    # The kept bits fit the mantissa, so the cast and the power of two are exact.
    value = emit.cast(high, dtype=dtype)
    return emit.mul(value, emit.const(2.0**-kept, like=value))


define(
    "random_uniform",
    operands=("state",),
    rule=_draw_rule,
    reference=_uniform,
    lowering=_lower_uniform,
    doc=(
        "Uniform in [0, 1): the upper bits of each lane, as many as the mantissa holds, as a "
        "fraction. Exact on every device."
    ),
    kind=OpKind.RANDOM,
    attrs=_ATTRS,
    dtypes=FLOATS,
    data_operand=-1,
    samples=_SAMPLES,
    level="random",
)


def _wide(dtype: DType) -> DType:
    """Normals of half types are computed in float32 and rounded once."""
    return float64 if dtype is float64 else float32


def _normal(state: Array, *, shape: tuple[int, ...], dtype: DType, device: str) -> Array:
    lane = _lane(dtype)
    pairs = -(-prod(shape) // 2)
    bits = _bits(state, (pairs, 2), lane)
    if lane is uint64:
        bits = bits >> np.uint64(11)
    scale = 2.0**-53 if lane is uint64 else 2.0**-32
    wide = _wide(dtype).numpy
    # The float32 decomposition rounds the lanes to float32 first, and adds there; so does this one.
    first = (bits[:, 0].astype(wide) + wide.type(1)).astype(np.float64)
    second = bits[:, 1].astype(wide).astype(np.float64)
    radius = np.sqrt(-2.0 * np.log(first * scale))
    angle = 2.0 * pi * (second * scale)
    found = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    return found.reshape(-1)[: prod(shape)].reshape(shape).astype(dtype.numpy)


def _lower_normal(emit: Emitter, state: Any, *, shape: Shape, dtype: DType, device: str) -> Any:
    lane, wide = _lane(dtype), _wide(dtype)
    size = prod(shape)
    pairs = -(-size // 2)
    bits = emit.philox_bits(state, shape=(pairs, 2), dtype=lane, device=device)
    if lane is uint64:
        bits = emit.shift_right(bits, emit.const(11, like=bits))
    lanes = []
    for n in (0, 1):
        column = emit.slice(bits, start=(0, n), stop=(pairs, n + 1), step=(1, 1))
        lanes.append(emit.cast(emit.reshape(column, shape=(pairs,)), dtype=wide))
    scale = 2.0**-53 if lane is uint64 else 2.0**-32
    first = emit.add(lanes[0], emit.const(1.0, like=lanes[0]))
    unit = emit.mul(first, emit.const(scale, like=first))
    logarithm = emit.log(unit)
    radius = emit.sqrt(emit.mul(logarithm, emit.const(-2.0, like=logarithm)))
    angle = emit.mul(lanes[1], emit.const(2.0 * pi * scale, like=lanes[1]))
    parts = [
        emit.reshape(emit.mul(radius, wave), shape=(pairs, 1))
        for wave in (emit.cos(angle), emit.sin(angle))
    ]
    flat = emit.reshape(emit.concat(*parts, axis=1), shape=(2 * pairs,))
    if size != 2 * pairs:
        flat = emit.slice(flat, start=(0,), stop=(size,), step=(1,))
    shaped = flat if tuple(shape) == (size,) else emit.reshape(flat, shape=shape)
    return shaped if wide is dtype else emit.cast(shaped, dtype=dtype)


define(
    "random_normal",
    operands=("state",),
    rule=_draw_rule,
    reference=_normal,
    lowering=_lower_normal,
    doc=(
        "Standard normal by Box and Muller's transform (1958): lanes 2j and 2j+1 give "
        "u1 = (lane + 1) / 2**32 and u2 = lane / 2**32, elements 2j and 2j+1 are "
        "sqrt(-2 ln u1) times cos and sin of 2 pi u2. float64 takes 53 bits of one block a pair."
    ),
    kind=OpKind.RANDOM,
    attrs=_ATTRS,
    dtypes=FLOATS,
    data_operand=-1,
    samples=_SAMPLES,
    tolerance="normal",
    level="random",
)


def _integers_rule(
    state: TensorType, *, shape: Shape, low: int, high: int, dtype: DType, device: str
) -> TensorType:
    info = np.iinfo(dtype.numpy)
    if not info.min <= low < high <= info.max + 1:
        raise ArgumentError(
            f"random integers from {low} to {high} (excluded) do not exist in {dtype}",
            fix="give low < high within the dtype's range",
        )
    return _draw_rule(state, shape=shape, dtype=dtype, device=device)


def _integers(
    state: Array, *, shape: tuple[int, ...], low: int, high: int, dtype: DType, device: str
) -> Array:
    span = high - low
    lane = uint32 if span <= 2**32 else uint64
    bits = _bits(state, shape, lane).astype(np.uint64)
    if lane is uint32:
        scaled = (bits * np.uint64(span)) >> np.uint64(32) if span < 2**32 else bits
    else:
        scaled = _multiply_high(bits, span)
    return (scaled + np.uint64(low % 2**64)).astype(dtype.numpy)


def _multiply_high(bits: Array, span: int) -> Array:
    """The upper half of a 64 by 64 bit product, by 32-bit halves."""
    if span == 2**64:
        return bits
    half, word = np.uint64(32), np.uint64(0xFFFFFFFF)
    a, b = bits >> half, bits & word
    c, d = np.uint64(span >> 32), np.uint64(span & 0xFFFFFFFF)
    middle = (b * d >> half) + (a * d & word) + (b * c & word)
    return a * c + (a * d >> half) + (b * c >> half) + (middle >> half)  # type: ignore[no-any-return]


def _lower_integers(
    emit: Emitter, state: Any, *, shape: Shape, low: int, high: int, dtype: DType, device: str
) -> Any:
    span = high - low
    lane = uint32 if span <= 2**32 else uint64
    drawn = emit.philox_bits(state, shape=shape, dtype=lane, device=device)
    bits = drawn if lane is uint64 else emit.cast(drawn, dtype=uint64)

    def number(value: int) -> Any:
        return emit.const(value % 2**64, like=bits)

    if span in (2**32, 2**64):
        scaled = bits
    elif lane is uint32:
        scaled = emit.shift_right(emit.mul(bits, number(span)), number(32))
    else:
        a, b = emit.shift_right(bits, number(32)), emit.bitwise_and(bits, number(0xFFFFFFFF))
        c, d = number(span >> 32), number(span & 0xFFFFFFFF)
        ad, bc = emit.mul(a, d), emit.mul(b, c)
        middle = emit.add(
            emit.shift_right(emit.mul(b, d), number(32)),
            emit.add(
                emit.bitwise_and(ad, number(0xFFFFFFFF)), emit.bitwise_and(bc, number(0xFFFFFFFF))
            ),
        )
        upper = emit.add(emit.shift_right(ad, number(32)), emit.shift_right(bc, number(32)))
        scaled = emit.add(emit.add(emit.mul(a, c), upper), emit.shift_right(middle, number(32)))
    moved = emit.add(scaled, number(low)) if low else scaled
    return moved if dtype is uint64 else emit.cast(moved, dtype=dtype)


define(
    "random_integers",
    operands=("state",),
    rule=_integers_rule,
    reference=_integers,
    lowering=_lower_integers,
    doc=(
        "Integers in [low, high): the upper half of lane times span; lanes of 32 bits for spans "
        "up to 2**32, else of 64 (Lemire 2019, without rejection). Exact on every device."
    ),
    kind=OpKind.RANDOM,
    attrs={
        "shape": _ATTRS["shape"],
        "low": Attr("int", doc="smallest value"),
        "high": Attr("int", doc="one more than the largest value"),
        "dtype": _ATTRS["dtype"],
        "device": _ATTRS["device"],
    },
    dtypes=INTEGERS,
    data_operand=-1,
    samples=tuple(
        Sample(
            ((4,),), {"shape": s, "low": a, "high": b, "dtype": lambda d: d}, "integers", (uint32,)
        )
        for s, a, b in (
            ((), 0, 1),
            ((0,), 0, 7),
            ((17,), 0, 100),
            ((3, 33), 5, 127),
            ((1025,), 0, 10),
        )
    ),
    level="random",
)
