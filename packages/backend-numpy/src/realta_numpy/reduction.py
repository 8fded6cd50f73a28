"""Reduction: the canonical trees of sums and products, and maxima with ordered zeros.

The order in which a float sum adds depends on how many elements are reduced and on nothing else:

1. The elements, in row-major order of the reduced axes, are cut into chunks of 4096.
2. In a chunk, element ``i`` goes to lane ``i mod 128``. Each lane adds its elements in order.
3. The lanes, side by side in memory, are added by NumPy's reduction of a contiguous row, whose
order
   (pairwise, in eight streams) depends on its length alone.
4. The sums of the chunks are reduced in the same way.

Step 2 adds whole arrays, so no layout, thread or vector width can change a bit, also where the
reduced axis is not the last one. An addend takes part in at most 32 + 20 roundings per power of
4096 in n.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.runtime import workers

__all__ = ["CHUNK", "reduce_array", "reduce_tile", "tree"]

Array = NDArray[Any]
CHUNK: Final = 4096
_TILE: Final = 1 << 17
LANES: Final = 128
_UFUNCS: Final[dict[str, np.ufunc]] = {
    "sum": np.add, "prod": np.multiply, "max": np.maximum, "min": np.minimum,
    "any": np.logical_or, "all": np.logical_and,
}  # fmt: skip


def reduce_tile(name: str, x: Array, out: Array) -> None:
    """Reduces the middle axis of a C-contiguous block of shape (outer, n, inner), n >= 1.

    Args:
        name: ``sum prod max min any all``.
        x: the elements.
        out: shape (outer, inner) of the same dtype.
    """
    ufunc = _UFUNCS[name]
    if x.dtype.kind != "f":
        ufunc.reduce(x, axis=1, dtype=x.dtype, out=out)
    elif name in ("sum", "prod"):
        if x.shape[1] <= LANES and x.shape[2] == 1:  # one row of lanes: step 3 alone
            ufunc.reduce(x[:, :, 0], axis=1, out=out[:, 0])
        else:
            np.copyto(out, tree(ufunc, x))
    else:
        ufunc.reduce(x, axis=1, out=out)
        if not out.all():
            _order_zeros(name, x, out)


def _order_zeros(name: str, x: Array, out: Array) -> None:
    """Gives zero results the sign that -0 < 0 asks for; NumPy leaves it to chance."""
    negative = np.signbit(x)
    wanted = (x == 0) & (~negative if name == "max" else negative)
    sign = wanted.any(axis=1) if name == "min" else ~wanted.any(axis=1)
    np.copyto(out, np.where(sign, out.dtype.type(-0.0), out.dtype.type(0.0)), where=out == 0)


def tree(ufunc: np.ufunc, x: Array) -> Array:
    """Steps 1 to 4 over the middle axis of (outer, n, inner): an array (outer, inner)."""
    while x.shape[1] > CHUNK:
        x = _chunk_totals(ufunc, x)
    return _chunk_total(ufunc, x[:, None])[:, 0]


def _chunk_totals(ufunc: np.ufunc, x: Array) -> Array:
    """Steps 1 to 3: (outer, n, inner) to (outer, ceil(n / 4096), inner)."""
    outer, n, inner = x.shape
    whole = n // CHUNK
    totals = np.empty((outer, -(-n // CHUNK), inner), x.dtype)
    if whole:
        chunks = x[:, : whole * CHUNK].reshape(outer, whole, CHUNK, inner)
        totals[:, :whole] = _chunk_total(ufunc, chunks)
    if n % CHUNK:
        totals[:, whole:] = _chunk_total(ufunc, x[:, None, whole * CHUNK :])
    return totals


def _chunk_total(ufunc: np.ufunc, x: Array) -> Array:
    """Steps 2 and 3: (outer, chunks, n, inner) with n <= 4096 to (outer, chunks, inner)."""
    outer, chunks, n, inner = x.shape
    lanes = min(LANES, n)
    rows = n // lanes
    whole = x[:, :, : rows * lanes].reshape(outer, chunks, rows, lanes, inner)
    # Lanes are a faster axis than rows, so this adds whole rows of lanes in order.
    total = whole[:, :, 0] if rows == 1 else ufunc.reduce(whole, axis=2)
    rest = n - rows * lanes
    if inner == 1 and not (rest and rows == 1):
        lined = total.reshape(outer, chunks, 1, lanes)
    else:
        lined = np.array(np.moveaxis(total, 2, 3), order="C")  # never the elements themselves
    if rest:
        left = np.moveaxis(x[:, :, rows * lanes :], 2, 3)
        ufunc(lined[..., :rest], left, out=lined[..., :rest])
    found: Array = ufunc.reduce(lined, axis=3)
    return found


def _middle_axis(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, int, int] | None:
    """The shape (outer, n, inner) that makes adjacent axes the middle one; None if they are not."""
    first, last = min(axes), max(axes) + 1
    if any(shape[n] != 1 for n in range(first, last) if n not in axes):
        return None
    return prod(shape[:first]), prod(shape[first:last]), prod(shape[last:])


def reduce_array(name: str, x: Array, axes: tuple[int, ...]) -> Array:
    """Reduces axes of a row-major array, in blocks on several threads: the result, flat.

    Over no elements it gives the unit: 0 for sums, 1 for products, False for any, True for all.
    """
    block = _blocks(x, axes)
    outer, n, inner = block.shape
    out = np.empty((outer, inner), x.dtype)
    if n == 0:
        out[...] = name in ("prod", "all")
    elif out.size:
        if n > CHUNK and x.dtype.kind == "f" and name in ("sum", "prod"):
            block = _parallel_chunks(_UFUNCS[name], block)
        _parallel_tiles(name, block, out)
    return out.reshape(-1)


def _blocks(x: Array, axes: tuple[int, ...]) -> Array:
    """The array as (outer, n, inner) with the reduced axes in the middle."""
    if not axes:
        return x.reshape(-1, 1, 1)
    shape = _middle_axis(x.shape, axes)
    if shape is None:
        kept = [n for n in range(x.ndim) if n not in axes]
        x = x.transpose((*kept, *sorted(axes)))
        shape = (prod(x.shape[: len(kept)]), prod(x.shape[len(kept) :]), 1)
    return np.ascontiguousarray(x).reshape(shape)


def _parallel_chunks(ufunc: np.ufunc, x: Array) -> Array:
    """`chunk_totals` with the chunks shared out over threads."""
    outer, n, inner = x.shape
    count = -(-n // CHUNK)
    totals = np.empty((outer, count, inner), x.dtype)
    step = max(1, _TILE // (CHUNK * inner))

    def share(number: int) -> None:
        row, first = divmod(number, -(-count // step))
        chunks = slice(first * step, (first + 1) * step)
        elements = x[row : row + 1, chunks.start * CHUNK : chunks.stop * CHUNK]
        totals[row : row + 1, chunks] = _chunk_totals(ufunc, elements)

    workers().run(share, outer * -(-count // step))
    return totals


def _parallel_tiles(name: str, x: Array, out: Array) -> None:
    outer, n, inner = x.shape
    rows = max(1, _TILE // (n * inner))
    columns = inner if rows > 1 or n * inner <= _TILE else max(64, _TILE // n)
    across = -(-inner // columns)

    def share(number: int) -> None:
        row, column = divmod(number, across)
        part = slice(row * rows, (row + 1) * rows), slice(column * columns, (column + 1) * columns)
        total = np.empty(out[part].shape, out.dtype)
        reduce_tile(name, np.ascontiguousarray(x[part[0], :, part[1]]), total)
        out[part] = total

    workers().run(share, -(-outer // rows) * across)
