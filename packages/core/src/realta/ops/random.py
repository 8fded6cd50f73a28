"""Random bits: the one primitive that all random ops are made of (spec 6)."""

from __future__ import annotations

from math import prod

import numpy as np

from realta.errors import DTypeError
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.philox import philox_block
from realta.ops.rules import drawn
from realta.types import DType, Shape, TensorType, uint32, uint64

__all__: list[str] = []


def _philox_rule(state: TensorType, *, shape: Shape, dtype: DType, device: str) -> TensorType:
    found = drawn(state, shape, dtype, device)
    if dtype not in (uint32, uint64):
        raise DTypeError(f"philox_bits makes uint32 or uint64, not {dtype}", fix="cast the bits")
    return found


def _philox_bits(state: Array, *, shape: tuple[int, ...], dtype: DType, device: str) -> Array:
    size = prod(shape)
    in_block = 16 // dtype.itemsize
    block = np.arange(-(-size // in_block), dtype=np.uint64)
    counter_low, counter_high, key_low, key_high = (int(word) for word in state)
    words = philox_block(
        (
            block & np.uint64(0xFFFFFFFF),
            block >> np.uint64(32),
            np.full_like(block, counter_low),
            np.full_like(block, counter_high),
        ),
        (key_low, key_high),
    ).astype(np.uint64)
    if dtype is uint64:
        words = words[:, 0::2] | words[:, 1::2] << np.uint64(32)
    return words.reshape(-1)[:size].astype(dtype.numpy).reshape(shape)


def _follow(dtype: DType) -> DType:
    return dtype


define(
    "philox_bits",
    operands=("state",),
    rule=_philox_rule,
    reference=_philox_bits,
    doc=(
        "Random bits of Philox4x32-10. The state is (counter low, counter high, key low, key high) "
        "in uint32; the block number is the low half of the counter. 32-bit element i is lane "
        "i mod 4 of block i // 4; 64-bit element i is lanes 2 (i mod 2), low, and the next, high, "
        "of block i // 2."
    ),
    kind=OpKind.RANDOM,
    attrs={
        "shape": Attr("shape", doc="shape of the result"),
        "dtype": Attr("dtype", doc="uint32 or uint64"),
        "device": Attr("str", "", "device of the result; empty for the graph's device"),
    },
    dtypes=frozenset({uint32, uint64}),
    data_operand=-1,
    samples=tuple(
        Sample(((4,),), {"shape": shape, "dtype": _follow}, "integers", (uint32,))
        for shape in ((), (0,), (1,), (17,), (3, 33), (1025,))
    ),
    level="random",
)
