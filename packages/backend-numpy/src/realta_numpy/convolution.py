"""Convolution: windows laid out as rows of a matrix, block by block, and multiplied by the filter.

Blocks are cut by shape alone, each is a matrix product by BLAS on one thread, and rows and filter
are always in row-major order; so neither layout nor the number of threads can change a bit. Filters
of one channel a group (depthwise ones) are added up element by element instead, in an order that
their extent alone decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.runtime import matrix_product, one_thread, workers
from realta.types import DType

from realta_numpy.movement import copy_blocks
from realta_numpy.pairwise import pairwise
from realta_numpy.registers import register_dtype, widen
from realta_numpy.scratch import borrowed

__all__ = ["Convolution", "blocks", "convolve"]

Array = NDArray[Any]
Block = tuple[slice, ...]
_PATCH: Final = 1 << 18
"""Elements of a block of rows that a cache holds beside the filter."""
_ROWS: Final = (256, 4096)
"""Fewer rows cost more to pack the filter for than they save; more leave threads without work."""
_SLICE: Final = 1 << 16
"""Elements of a result of depthwise filters that one thread computes at a time."""
_ALONE: Final = 1 << 15
"""Products of up to this many multiplications use one thread whatever BLAS is set to."""
_PATCH_SLOT: Final = 8


@dataclass(frozen=True, slots=True)
class Convolution:
    """The attributes of a convolution, one entry for each axis of places.

    Args:
        strides: how far apart windows start.
        low: zeros before the axis.
        high: zeros after the axis.
        input_dilation: how far apart the operand's elements are moved.
        dilation: how far apart the elements of a window are.
        groups: parts of the channels and of the results.
    """

    strides: Sequence[int]
    low: Sequence[int]
    high: Sequence[int]
    input_dilation: Sequence[int]
    dilation: Sequence[int]
    groups: int

    def source(self, x: Array) -> Array:
        """The operand with its gaps and its border of zeros."""
        if not any(self.low) and not any(self.high) and all(d == 1 for d in self.input_dilation):
            return x
        extents = [
            max((d - 1) * s + 1, 0) if d else 0
            for d, s in zip(x.shape[1:-1], self.input_dilation, strict=True)
        ]
        lines = list(zip(self.low, extents, self.high, strict=True))
        result = np.zeros((x.shape[0], *[a + d + b for a, d, b in lines], x.shape[-1]), x.dtype)
        steps = zip(lines, self.input_dilation, strict=True)
        inside = tuple(slice(a, a + d, s) for (a, d, _), s in steps)
        copy_blocks(x, result[(slice(None), *inside)])
        return result

    def places(self, block: Block, offset: Sequence[int]) -> Block:
        """Where the elements of a window at an offset lie, for a block of windows."""
        found = [block[0]]
        for part, k, stride, apart in zip(
            block[1:], offset, self.strides, self.dilation, strict=True
        ):
            start = part.start * stride + k * apart
            stop = (part.stop - 1) * stride + k * apart + 1
            found.append(slice(start, stop, stride))
        return tuple(found)


def convolve(x: Array, filter: Array, dtype: DType, convolution: Convolution, out: Array) -> None:
    """Writes a convolution of stored values.

    Args:
        x: (batch, places…, channels), in any layout.
        filter: (window…, channels of a group, results), in any layout.
        dtype: their dtype.
        convolution: its attributes.
        out: (batch, windows…, results), C-contiguous, in the storage of the same dtype.
    """
    if not out.size:
        return
    window, channels, results = filter.shape[:-2], filter.shape[-2], filter.shape[-1]
    depth = prod(window) * channels
    if not depth:
        out[...] = 0
        return
    source = convolution.source(x)
    weights = np.ascontiguousarray(widen(filter, dtype)).reshape(depth, results)
    if prod(window) == 1 and convolution.groups == 1:
        _pointwise(source, weights, dtype, convolution, out)
    elif channels == 1 and convolution.groups > 1:
        _depthwise(source, weights, dtype, window, convolution, out)
    else:
        _by_blocks(source, weights, dtype, window, convolution, out)


def _pointwise(
    x: Array, weights: Array, dtype: DType, convolution: Convolution, out: Array
) -> None:
    """A window of one element: the operand's rows are those of the product."""
    whole = tuple(slice(0, n) for n in out.shape[:-1])
    picked = x[convolution.places(whole, (0,) * len(convolution.strides))]
    rows = np.ascontiguousarray(widen(picked, dtype)).reshape(1, -1, x.shape[-1])
    _multiply(rows, weights[None], dtype, out.reshape(1, rows.shape[1], out.shape[-1]))


def _multiply(rows: Array, weights: Array, dtype: DType, out: Array) -> None:
    """A product whose tiles are shared out over threads."""
    if not dtype.is_half:
        matrix_product(rows, weights, out)
        return
    wide = np.empty(out.shape, np.float32)
    matrix_product(rows, weights, wide)
    out[...] = wide.astype(dtype.numpy)


def blocks(extents: Sequence[int], rows: int) -> Iterator[Block]:
    """Blocks of at most ``rows`` elements of an index space, in row-major order, by shape alone.

    Each is contiguous: single places of the first axes, a range of one, and the others whole.
    """
    axis, inner = len(extents) - 1, 1
    while axis > 0 and inner * extents[axis] <= rows:
        inner *= extents[axis]
        axis -= 1
    step = max(1, rows // inner)
    rest = tuple(slice(0, n) for n in extents[axis + 1 :])
    for place in np.ndindex(*extents[:axis]):
        for start in range(0, extents[axis], step):
            part = slice(start, min(start + step, extents[axis]))
            yield (*(slice(n, n + 1) for n in place), part, *rest)


def _by_blocks(
    x: Array,
    weights: Array,
    dtype: DType,
    window: Sequence[int],
    convolution: Convolution,
    out: Array,
) -> None:
    depth = weights.shape[0]
    channels = depth // prod(window)
    results = weights.shape[1] // convolution.groups
    parts = [
        np.ascontiguousarray(weights[:, n * results : (n + 1) * results])
        for n in range(convolution.groups)
    ]
    most = min(max(_PATCH // depth, _ROWS[0]), _ROWS[1])
    cut = list(blocks(out.shape[:-1], most))
    register = register_dtype(dtype)

    def rows_of(block: Block, group: int) -> Array:
        own = x[..., group * channels : (group + 1) * channels]
        return _rows(own, register, window, convolution, block)

    if len(cut) == 1 and convolution.groups == 1:
        rows = rows_of(cut[0], 0)
        _multiply(rows[None], parts[0][None], dtype, out.reshape(1, len(rows), results))
        return

    def share(number: int) -> None:
        block = cut[number]
        target = out[block].reshape(-1, out.shape[-1])
        for group, part in enumerate(parts):
            columns = slice(group * results, (group + 1) * results)
            rows = rows_of(block, group)
            if dtype.is_half:
                target[:, columns] = np.matmul(rows, part).astype(dtype.numpy)
            else:
                np.matmul(rows, part, out=target[:, columns])

    if x.dtype.kind in "iu" or min(most, prod(out.shape[:-1])) * depth * results <= _ALONE:
        workers().run(share, len(cut))
        return
    with one_thread:
        workers().run(share, len(cut))


def _rows(
    x: Array,
    register: np.dtype[Any],
    window: Sequence[int],
    convolution: Convolution,
    block: Block,
) -> Array:
    """The windows of a block as the rows of a matrix, in memory that the next block uses again."""
    counts = [part.stop - part.start for part in block]
    origin = x[convolution.places(block, (0,) * len(window))]
    steps = [s * d for s, d in zip(x.strides[1:-1], convolution.dilation, strict=True)]
    shape = (*counts, *window, x.shape[-1])
    view = np.lib.stride_tricks.as_strided(
        origin, shape, (*origin.strides[:-1], *steps, x.strides[-1]), writeable=False
    )
    rows = borrowed(_PATCH_SLOT, shape, register)
    np.copyto(rows, view, casting="unsafe")
    return rows.reshape(prod(counts), prod(window) * x.shape[-1])


def _depthwise(
    x: Array,
    weights: Array,
    dtype: DType,
    window: Sequence[int],
    convolution: Convolution,
    out: Array,
) -> None:
    """One channel a group: products of whole arrays, added up element by element."""
    groups = convolution.groups
    factors = weights.reshape(-1, 1, groups, weights.shape[1] // groups)
    offsets = list(np.ndindex(*window))
    cut = list(blocks(out.shape[:-1], max(1, _SLICE // out.shape[-1])))
    register = register_dtype(dtype)
    # Factors for a whole line of windows: channels alone would make very short loops.
    width = cut[0][-1].stop - cut[0][-1].start
    lines = np.ascontiguousarray(
        np.broadcast_to(factors, (len(offsets), width, *factors.shape[2:]))
    )

    def share(number: int) -> None:
        block = cut[number]
        counts = [part.stop - part.start for part in block]
        shape = (*counts, *factors.shape[2:])
        work = borrowed(_PATCH_SLOT, shape, register)

        def product(n: int, target: Array) -> Array:
            part = x[convolution.places(block, offsets[n])][..., None]
            part = part.astype(register, copy=False)
            np.multiply(part, lines[n, : counts[-1]], out=target)
            return target

        found = pairwise(
            np.add,
            lambda n: product(n, np.empty(shape, register)),
            lambda n: product(n, work),
            len(offsets),
        )
        np.copyto(out[block].reshape(shape), found, casting="unsafe")

    workers().run(share, len(cut))
