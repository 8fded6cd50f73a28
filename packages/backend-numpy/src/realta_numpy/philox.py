"""Philox: random bits by the counter-based generator Philox4x32-10 (Salmon et al., SC 2011)."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.runtime import workers

__all__ = ["philox_bits", "philox_key"]

_MULTIPLIERS: Final = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL: Final = (0x9E3779B9, 0xBB67AE85)
_LOW: Final = np.uint64(0xFFFFFFFF)
_HALF: Final = np.uint64(32)
_BLOCKS: Final = 1 << 14
"""Counter blocks worked on at once: their ten rounds stay in the cache."""


def philox_bits(state: NDArray[Any], out: NDArray[Any]) -> None:
    """Fills a C-contiguous uint32 or uint64 array.

    Element i of 32 bits is lane i mod 4 of block i // 4; element i of 64 bits has lanes 2(i mod 2)
    (low) and the next one (high) of block i // 2. On a little-endian host both are the lanes in
    order.

    Args:
        state: uint32[4]: Philox counter words 2 and 3, key words 0 and 1. Counter words 0 and 1
        are the
            block number.
        out: the result.
    """
    words = out.reshape(-1).view(np.uint32)
    blocks = -(-words.size // 4)
    constants = [int(v) for v in state.reshape(-1)]
    shares = -(-blocks // _BLOCKS)

    def share(number: int) -> None:
        first = number * _BLOCKS
        lanes = _lanes(first, min(_BLOCKS, blocks - first), constants)
        part = words[4 * first : 4 * (first + lanes.shape[0])]
        part[...] = lanes.reshape(-1)[: part.size]

    workers().run(share, shares)


def _lanes(first: int, count: int, state: list[int]) -> NDArray[np.uint32]:
    """The four lanes of ``count`` blocks from block ``first`` on, one row a block."""
    number = np.arange(first, first + count, dtype=np.uint64)
    return _rounds(number & _LOW, number >> _HALF, state)


def philox_key(state: NDArray[Any], iteration: int, path: int) -> tuple[int, int]:
    """The key of draws inside of control flow: two lanes of the block (iteration, path)."""
    words = [np.array([word], np.uint64) for word in (iteration, path)]
    lanes = _rounds(words[0], words[1], [int(v) for v in state.reshape(-1)])
    return int(lanes[0, 0]), int(lanes[0, 1])


def _rounds(c0: NDArray[np.uint64], c1: NDArray[np.uint64], state: list[int]) -> NDArray[np.uint32]:
    """The four lanes of blocks whose numbers are given by their words."""
    count = c0.size
    c2, c3 = (np.full(count, v, np.uint64) for v in state[:2])
    key = list(state[2:])
    for _ in range(10):
        a, b = c0 * _MULTIPLIERS[0], c2 * _MULTIPLIERS[1]
        k0, k1 = np.uint64(key[0]), np.uint64(key[1])
        c0, c2 = (b >> _HALF) ^ c1 ^ k0, (a >> _HALF) ^ c3 ^ k1
        c1, c3 = b & _LOW, a & _LOW
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, _WEYL, strict=True)]
    lanes = np.empty((count, 4), np.uint32)
    for lane, words in enumerate((c0, c1, c2, c3)):
        lanes[:, lane] = words
    return lanes
