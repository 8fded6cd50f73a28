"""Movement: index maps as NumPy views, and the ops that store what they move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from realta.graph import Node
from realta.runtime import workers

__all__ = ["basic_slices", "copy_blocks", "moved", "pad"]

Array = NDArray[Any]
_PARALLEL_FROM = 1 << 20
"""Bytes from which a copy is shared out over threads."""


def basic_slices(
    start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]
) -> tuple[slice, ...]:
    """Python slices for the attributes of ``slice`` and ``update_slice``.

    There -1 as a stop means before the first element, where Python would count from the end.
    """
    return tuple(
        slice(a, None if b < 0 else b, s) if range(a, b, s) else slice(0, 0)
        for a, b, s in zip(start, stop, step, strict=True)
    )


def moved(node: Node, x: Array) -> Array:
    """What an index map shows of an array: a view, or for some reshapes of views a copy."""
    name, attrs = node.op.name, node.attrs
    if name == "reshape":
        return x.reshape(attrs["shape"])
    if name == "permute":
        return x.transpose(attrs["axes"])
    if name == "broadcast":
        return np.broadcast_to(x, attrs["shape"])
    if name == "slice":
        return x[basic_slices(attrs["start"], attrs["stop"], attrs["step"])]
    return x  # barrier: the identity map


def copy_blocks(source: Array, out: Array) -> None:
    """Copies an array of the same shape, large ones on several threads."""
    if out.nbytes < _PARALLEL_FROM or out.ndim == 0:
        np.copyto(out, source)
        return
    axis = int(np.argmax(out.shape))
    pool = workers()
    step = -(-out.shape[axis] // (pool.count * 4))
    before = (slice(None),) * axis

    def share(number: int) -> None:
        part = (*before, slice(number * step, (number + 1) * step))
        np.copyto(out[part], source[part])

    pool.run(share, -(-out.shape[axis] // step))


def pad(x: Array, fill: Array, low: tuple[int, ...], out: Array) -> None:
    """Fills the result and puts x in its place."""
    out[...] = fill
    out[tuple(slice(a, a + n) for a, n in zip(low, x.shape, strict=True))] = x
