"""Reduction truth: sums without rounding, products, extremes, scans, contractions.

A sum of float64 numbers is exact (`math.fsum`), and so is a dot product of them: each product is
split into two doubles that add up to it. Sums of narrower floats are taken in float64.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from typing import Any, Final

import numpy as np
from realta.types import DType

from realta_conformance.formats import Array
from realta_conformance.truth.floats import FLOAT_OPS
from realta_conformance.truth.integers import exact_ints, wrap

__all__ = ["contraction_rows", "dot", "extreme", "index_of_extreme", "rows_of", "scan", "total"]

_SPLITTER: Final = 134217729.0  # 2**27 + 1, Dekker


def rows_of(x: Array, axes: Sequence[int]) -> Array:
    """The reduced elements as a last axis, in row-major order."""
    kept = [n for n in range(x.ndim) if n not in axes]
    moved = x.transpose([*kept, *sorted(axes)])
    count = math.prod(x.shape[n] for n in axes)
    return moved.reshape((*[x.shape[n] for n in kept], count))


def _exact_sum(row: Array) -> float:
    if not np.isfinite(row).all():
        with np.errstate(all="ignore"):
            return float(np.sum(row))
    try:
        return math.fsum(row.tolist()) + 0.0 if row.size else 0.0
    except OverflowError:
        with np.errstate(all="ignore"):
            return float(np.sum(row))


def total(x: Array, axes: Sequence[int], dtype: DType, multiply: bool = False) -> Array:
    """Sum or product over axes: of floats as float64, of others wrapped to the dtype."""
    rows = rows_of(x, axes)
    flat = rows.reshape((math.prod(rows.shape[:-1]), rows.shape[-1]))
    if x.dtype.kind == "f":
        with np.errstate(all="ignore"):
            one = np.prod if multiply else _exact_sum
            values = [float(one(row)) for row in flat]
        return np.array(values, np.float64).reshape(rows.shape[:-1])
    ints = exact_ints(flat)
    sums = [math.prod(r) if multiply else sum(r) for r in ints.tolist()]
    if dtype.kind == "bool":
        return np.array(sums, object).astype(bool).reshape(rows.shape[:-1])
    return wrap(dtype, np.array([*sums, None], object)[:-1].reshape(rows.shape[:-1]))


def extreme(x: Array, axes: Sequence[int], largest: bool) -> Array:
    """Largest or smallest element over axes; NaN wins, -0 is below +0."""
    rows = rows_of(x, axes)
    if x.dtype.kind != "f":
        return np.asarray(rows.max(axis=-1) if largest else rows.min(axis=-1))
    step = FLOAT_OPS["maximum" if largest else "minimum"]
    columns = [rows[..., n] for n in range(rows.shape[-1])]
    return np.asarray(reduce(step, columns))


def index_of_extreme(x: Array, axis: int, largest: bool) -> Array:
    """Position of the first extreme element along an axis; the first NaN wins."""
    rows = np.moveaxis(x, axis, -1)
    flat = rows.reshape((math.prod(rows.shape[:-1]), rows.shape[-1])).tolist()
    found = []
    for row in flat:
        best = 0
        for n, value in enumerate(row):
            held = row[best]
            if held != held:
                break
            if value != value or (value > held if largest else value < held):
                best = n
        found.append(best)
    return np.array(found, np.int64).reshape(rows.shape[:-1])


_SCANS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {
    "cumsum": lambda a, b: a + b,
    "cumprod": lambda a, b: a * b,
    "cummax": lambda a, b: FLOAT_OPS["maximum"](a, b) if a.dtype.kind == "f" else np.maximum(a, b),
    "cummin": lambda a, b: FLOAT_OPS["minimum"](a, b) if a.dtype.kind == "f" else np.minimum(a, b),
}


def _scan_start(name: str, dtype: DType) -> Any:
    if name in ("cumsum", "cumprod"):
        return 0 if name == "cumsum" else 1
    sign = -1 if name == "cummax" else 1
    if dtype.is_float:
        return sign * math.inf
    if dtype.kind == "bool":
        return sign > 0
    info = np.iinfo(dtype.numpy)
    return info.max if sign > 0 else info.min


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    """The rounded sum and what rounding lost (Knuth)."""
    total = a + b
    part = total - a
    lost = (a - (total - part)) + (b - part)
    return total, np.where(np.isfinite(total), lost, 0.0)


def scan(
    name: str, x: Array, dtype: DType, *, axis: int, exclusive: bool = False, reverse: bool = False
) -> Array:
    """A running sum, product or extreme along an axis, each prefix from its own elements."""
    whole = x.dtype.kind != "f" and name in ("cumsum", "cumprod")
    work = np.moveaxis(exact_ints(x) if whole else x, axis, 0)
    work = work[::-1] if reverse else work
    summing = name == "cumsum" and not whole
    out = np.empty_like(work)
    held = np.full(work.shape[1:], _scan_start(name, dtype), work.dtype)
    cut = np.zeros(work.shape[1:])
    with np.errstate(all="ignore"):
        for n in range(work.shape[0]):
            if exclusive:
                out[n] = held + cut if summing else held
            if summing:  # two-sum keeps what float64 cuts off
                held, lost = _two_sum(held, work[n])
                cut = cut + lost
            else:
                held = _SCANS[name](held, work[n])
            if not exclusive:
                out[n] = held + cut if summing else held
    out = np.moveaxis(out[::-1] if reverse else out, 0, axis)
    return wrap(dtype, out) if whole and dtype.kind != "bool" else np.asarray(out)


def contraction_rows(
    x: Array, y: Array, *, x_batch: Any, y_batch: Any, x_contract: Any, y_contract: Any
) -> tuple[Array, Array, tuple[int, ...]]:
    """Both operands as (batch, free, contracted), and the shape of the result."""
    x_free = [n for n in range(x.ndim) if n not in (*x_batch, *x_contract)]
    y_free = [n for n in range(y.ndim) if n not in (*y_batch, *y_contract)]
    batch = [x.shape[n] for n in x_batch]
    depth = math.prod(x.shape[n] for n in x_contract)
    shape = (*batch, *[x.shape[n] for n in x_free], *[y.shape[n] for n in y_free])
    count = math.prod(batch)
    left = x.transpose([*x_batch, *x_free, *x_contract])
    right = y.transpose([*y_batch, *y_free, *y_contract])
    rows = math.prod(x.shape[n] for n in x_free), math.prod(y.shape[n] for n in y_free)
    return left.reshape((count, rows[0], depth)), right.reshape((count, rows[1], depth)), shape


def _split(x: Array) -> tuple[Array, Array]:
    high = x * _SPLITTER
    high = high - (high - x)
    return high, x - high


def dot(left: Array, right: Array, exact: bool) -> Array:
    """The contraction of (batch, m, k) with (batch, n, k) as (batch, m, n).

    Args:
        left: first operand.
        right: second operand.
        exact: sum the products without any rounding (for float64).
    """
    if left.dtype.kind != "f":
        a, b = exact_ints(left), exact_ints(right)
        return np.asarray((a[:, :, None, :] * b[:, None, :, :]).sum(axis=-1))
    if not exact or not (np.isfinite(left).all() and np.isfinite(right).all()):
        with np.errstate(all="ignore"):
            return np.asarray(np.einsum("bmk,bnk->bmn", left, right, optimize=False))
    a, b = np.broadcast_arrays(left[:, :, None, :], right[:, None, :, :])
    product = a * b
    (ah, al), (bh, bl) = _split(a), _split(b)
    rest = ((ah * bh - product) + ah * bl + al * bh) + al * bl
    terms = np.concatenate([product, rest], axis=-1)
    flat = [
        math.fsum(row)
        for row in terms.reshape((math.prod(product.shape[:-1]), terms.shape[-1])).tolist()
    ]
    return np.array(flat, np.float64).reshape(product.shape[:-1])
