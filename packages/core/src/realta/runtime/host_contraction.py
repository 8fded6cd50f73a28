"""Host contraction: matrix products in tiles that depend on shapes alone, a thread to each tile.

What changes bits of a BLAS product is its number of threads, where rows are cut, and for one row or
one column the layout of the operands. So tiles are cut by shape, no tile has a single row or column
unless the product has, and operands with one row or column are brought to row-major order.
"""

from __future__ import annotations

from math import ceil
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta.runtime.host_blas import one_thread
from realta.runtime.host_workers import workers

__all__ = ["contract_arrays", "contraction_tiles", "matrix_product"]

Array = NDArray[Any]
_TILE_WORK: Final = 1 << 26
"""Multiplications of one tile; smaller ones lose more to packing than they gain in parallel."""
_MOST_TILES: Final = 16
_ALONE: Final = 1 << 15
"""Products of up to this many multiplications use one thread whatever BLAS is set to."""


def contract_arrays(
    x: Array,
    y: Array,
    out: Array,
    x_batch: tuple[int, ...],
    y_batch: tuple[int, ...],
    x_contract: tuple[int, ...],
    y_contract: tuple[int, ...],
) -> None:
    """``dot_general`` of float operands in their register dtype.

    Args:
        x: first operand.
        y: second operand.
        out: C-contiguous result with axes batch, x free, y free, of the same dtype.
        x_batch: axes of x that are paired with ``y_batch`` and kept.
        y_batch: axes of y.
        x_contract: axes of x that are paired with ``y_contract`` and summed over.
        y_contract: axes of y.
    """
    x_free = tuple(n for n in range(x.ndim) if n not in x_batch and n not in x_contract)
    y_free = tuple(n for n in range(y.ndim) if n not in y_batch and n not in y_contract)
    batch = tuple(x.shape[n] for n in x_batch)
    left = _matrices(x, (x_batch, x_free, x_contract))
    right = _matrices(y, (y_batch, y_contract, y_free))
    shape = (left.shape[0], left.shape[1], right.shape[2])
    assert out.ndim == len(batch) + len(x_free) + len(y_free)  # noqa: S101 (a type rule holds)
    matrix_product(left, right, out.reshape(shape))


def _matrices(x: Array, parts: tuple[tuple[int, ...], ...]) -> Array:
    """The operand as (batch, rows, columns): a view where strides allow it."""
    extents = [int(np.prod([x.shape[n] for n in part], dtype=np.int64)) for part in parts]
    return x.transpose(tuple(n for part in parts for n in part)).reshape(extents)


def matrix_product(x: Array, y: Array, out: Array) -> None:
    """``out[b] = x[b] @ y[b]`` for (b, m, k) and (b, k, n), floats in tiles, integers wrapping."""
    batch, m, k = x.shape
    n = y.shape[2]
    if 0 in (batch, m, n):
        return
    if k == 0:
        out[...] = 0
        return
    if x.dtype.kind != "f":
        _integer_product(x, y, out)
        return
    x, y = _layouts(x, y)
    work = m * n * k
    if work <= _ALONE:
        for b in range(batch):
            np.matmul(x[b], y[b], out=out[b])
        return
    jobs = [
        (b, rows, columns) for b in range(batch) for rows, columns in contraction_tiles(m, k, n)
    ]

    def share(number: int) -> None:
        b, rows, columns = jobs[number]
        np.matmul(x[b, rows], y[b, :, columns], out=out[b, rows, columns])

    with one_thread:
        workers().run(share, len(jobs))


def _layouts(x: Array, y: Array) -> tuple[Array, Array]:
    """Operands whose layout cannot change bits: row-major, or for wide products transposed."""
    if x.shape[1] == 1 or y.shape[2] == 1:
        return np.ascontiguousarray(x), np.ascontiguousarray(y)
    x, y = _dense(x), _dense(y)
    if np.may_share_memory(x, y):  # NumPy has another routine for a matrix times its own transpose
        y = y.copy()
    return x, y


def _dense(x: Array) -> Array:
    """The matrices themselves if BLAS takes them as they lie, else a row-major copy."""
    size = x.itemsize
    row, column = x.strides[1:]
    plain = column == size and row >= size * x.shape[2]
    transposed = row == size and column >= size * x.shape[1]
    return x if plain or transposed else np.ascontiguousarray(x)


def contraction_tiles(m: int, k: int, n: int) -> list[tuple[slice, slice]]:
    """The tiles of an (m, k) by (k, n) product: rows of the result, or columns if more."""
    count = min(_MOST_TILES, max(1, m * n * k // _TILE_WORK))
    whole = slice(None)
    if m >= n:
        return [(rows, whole) for rows in _cut(m, count)]
    return [(whole, columns) for columns in _cut(n, count)]


def _cut(extent: int, count: int) -> list[slice]:
    """At most ``count`` pieces, multiples of 16; the last is longer rather than a single."""
    step = max(32, ceil(extent / count / 16) * 16)
    starts = list(range(0, extent, step))
    if len(starts) > 1 and extent - starts[-1] < 2:
        starts.pop()
    ends = [*starts[1:], extent]
    return [slice(a, b) for a, b in zip(starts, ends, strict=True)]


def _integer_product(x: Array, y: Array, out: Array) -> None:
    rows = max(1, (1 << 16) // max(1, x.shape[2] * y.shape[2]))
    for b in range(x.shape[0]):
        for i in range(0, x.shape[1], rows):
            np.matmul(x[b, i : i + rows], y[b], out=out[b, i : i + rows])
