"""Philox truth: Philox4x32-10 on Python ints.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011).
"""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from realta_conformance.formats import Array

__all__ = ["philox_bits", "philox_block", "philox_branch"]

_MASK: Final = 0xFFFFFFFF
_MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_ROUNDS: Final = 10


def philox_block(
    counter: tuple[int, int, int, int], key: tuple[int, int]
) -> tuple[int, int, int, int]:
    """Four 32-bit lanes for a counter and a key."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        first, second = _MULTIPLIERS[0] * c0, _MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (
            (second >> 32) ^ c1 ^ k0,
            second & _MASK,
            (first >> 32) ^ c3 ^ k1,
            first & _MASK,
        )
        k0, k1 = (k0 + _KEY_STEPS[0]) & _MASK, (k1 + _KEY_STEPS[1]) & _MASK
    return c0, c1, c2, c3


def philox_bits(state: Array, *, shape: tuple[int, ...], dtype: Any, device: str = "") -> Array:
    """Random bits by spec 6: which block and lane each element takes.

    Args:
        state: uint32[4]: counter low and high word, key low and high word.
        shape: shape of the result.
        dtype: uint32 (lane i mod 4 of block i // 4) or uint64 (two lanes, low first).
        device: not read.
    """
    c2, c3, k0, k1 = (int(v) for v in state.tolist())
    count = math.prod(shape)
    lanes_each = 2 if dtype.itemsize == 8 else 1
    lanes: list[int] = []
    for block in range(-(-count * lanes_each // 4)):
        lanes += philox_block((block & _MASK, block >> 32, c2, c3), (k0, k1))
    if lanes_each == 2:
        lanes = [low | high << 32 for low, high in zip(lanes[::2], lanes[1::2], strict=True)]
    return np.array(lanes[:count], dtype.numpy).reshape(shape)


def philox_branch(state: Array, iteration: Array, *, path: int, draw: int) -> Array:
    """The state of a draw inside of control flow: a key of its own, the draw's number as counter.

    Args:
        state: uint32[4]: counter low and high word, key low and high word.
        iteration: number of the step.
        path: number of the graph.
        draw: number of the draw.
    """
    low, high, key_low, key_high = (int(v) for v in state.tolist())
    lanes = philox_block((int(iteration), path, low, high), (key_low, key_high))
    return np.array([draw, 0, *lanes[:2]], np.uint32)
