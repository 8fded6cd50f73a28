"""Philox4x32-10: the counter-based generator of every random op, vectorised.

Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Ten rounds
of two 32 × 32 bit multiplications turn a counter of four words and a key of two into four words.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from realta.ops.conversion import Array

__all__ = ["philox_block"]

_MULTIPLIERS: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)
_WORD: Final = np.uint64(0xFFFFFFFF)
_SHIFT: Final = np.uint64(32)
_ROUNDS: Final = 10


def philox_block(counter: tuple[Array, Array, Array, Array], key: tuple[int, int]) -> Array:
    """The four words of each counter.

    Args:
        counter: the four words of each counter, uint64 arrays of one shape.
        key: the two key words.

    Returns:
        Words of dtype uint32 and shape ``(*shape, 4)``.
    """
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(_ROUNDS):
        first, second = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        c0, c1, c2, c3 = (
            (second >> _SHIFT) ^ c1 ^ np.uint64(k0),
            second & _WORD,
            (first >> _SHIFT) ^ c3 ^ np.uint64(k1),
            first & _WORD,
        )
        k0 = (k0 + _KEY_STEPS[0]) & 0xFFFFFFFF
        k1 = (k1 + _KEY_STEPS[1]) & 0xFFFFFFFF
    return np.stack([c0, c1, c2, c3], axis=-1).astype(np.uint32)
