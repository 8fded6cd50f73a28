"""Kernel faults: one op gives a wrong result, and everything else is right."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from realta.backend import Node

from realta_saboteurs.fault import Array, Fault, KernelFault

__all__ = ["KERNEL_FAULTS"]

_BLOCK: Final = 16


def _wrong_dtype(right: Any, node: Node, x: Array, y: Array) -> Any:
    found = right()
    return found.astype(np.float64) if found.dtype == np.float32 else found


def _drops_nan(right: Any, node: Node, x: Array) -> Any:
    if x.dtype.kind in "biu":
        return right()
    return np.where(np.isnan(x), -np.inf, x).max(axis=node.attrs["axes"]).astype(x.dtype)


def _orders_nan(right: Any, node: Node, x: Array, y: Array) -> Any:
    return np.where(x > y, x, y)


def _loses_block_edge(right: Any, node: Node, x: Array, y: Array) -> Any:
    found = right().reshape(-1).copy()
    if found.size % _BLOCK == 1 and found.size > 1:
        found[-1] = found[-2]
    return found.reshape(x.shape)


def _loses_tail(right: Any, node: Node, x: Array) -> Any:
    axes = node.attrs["axes"]
    if len(axes) != 1 or x.shape[axes[0]] % _BLOCK != 1 or x.shape[axes[0]] == 1:
        return right()
    kept = np.delete(x, -1, axis=axes[0])
    return (
        kept.sum(axis=axes[0], dtype=np.float64) if x.dtype.kind == "f" else kept.sum(axis=axes[0])
    ).astype(x.dtype)


def _wrong_axis(right: Any, node: Node, x: Array) -> Any:
    with np.errstate(all="ignore"):
        return np.cumsum(x, axis=x.ndim - 1 - node.attrs["axis"]).reshape(x.shape).astype(x.dtype)


def _inverse_permutation(right: Any, node: Node, x: Array) -> Any:
    return x.transpose(np.argsort(node.attrs["axes"]))


def _half_accumulator(right: Any, node: Node, x: Array) -> Any:
    if x.dtype.itemsize != 2 or x.dtype.kind in "iu":
        return right()
    axes = node.attrs["axes"]
    rows = np.moveaxis(x, axes, range(len(axes)))
    total = np.zeros(rows.shape[len(axes) :], x.dtype)
    for place in np.ndindex(*rows.shape[: len(axes)]):
        total = (total + rows[place]).astype(x.dtype)
    return total


def _by_reciprocal(right: Any, node: Node, x: Array, y: Array) -> Any:
    if x.dtype.kind not in "iu":
        return right()
    quotient = np.floor(x.astype(np.float32) * (np.float32(1) / y.astype(np.float32)))
    return np.where(y == 0, 0, quotient).astype(x.dtype)


def _truncates(right: Any, node: Node, x: Array, y: Array) -> Any:
    if x.dtype.kind != "i":
        return right()
    rest = np.fmod(x, np.where(y == 0, 1, y))
    return np.where(y == 0, 0, rest).astype(x.dtype)


def _flushes(right: Any, node: Node, x: Array, y: Array) -> Any:
    found = right()
    if found.dtype != np.float32:
        return found
    return np.where(np.abs(found) < np.finfo(np.float32).tiny, np.float32(0), found)


def _negates_by_subtraction(right: Any, node: Node, x: Array) -> Any:
    return np.zeros_like(x) - x


def _rounds_away(right: Any, node: Node, x: Array) -> Any:
    wide = x.astype(np.float64)
    return np.copysign(np.floor(np.abs(wide) + 0.5), wide).astype(x.dtype)


def _wraps_on_cast(right: Any, node: Node, x: Array) -> Any:
    target = node.types[0].dtype.numpy
    if x.dtype.kind in "biu" or target.kind not in "iu":
        return right()
    safe = np.nan_to_num(x.astype(np.float64), nan=0.0, posinf=0.0, neginf=0.0)
    wrapped = [int(v) % 2 ** (8 * target.itemsize) for v in safe.reshape(-1).tolist()]
    return np.array(wrapped, np.uint64).astype(target).reshape(x.shape)


def _coarse_exp(right: Any, node: Node, x: Array) -> Any:
    found = right()
    if found.dtype != np.float32:
        return found
    return found * np.float32(1 + 2.0**-20)


def _unstable(right: Any, node: Node, x: Array) -> Any:
    axis, size = node.attrs["axis"], x.shape[node.attrs["axis"]]
    backwards = np.flip(x, axis)
    order = (
        np.argsort(backwards, axis=axis, kind="stable") if not node.attrs["descending"] else None
    )
    return right() if order is None else (size - 1 - order).astype(np.int64)


def _lanes_reversed(right: Any, node: Node, state: Array) -> Any:
    found = right()
    flat = found.reshape(-1).copy()
    whole = flat.size // 4 * 4
    flat[:whole] = flat[:whole].reshape(-1, 4)[:, ::-1].reshape(-1)
    return flat.reshape(found.shape)


def _clamps_negative(right: Any, node: Node, x: Array, indices: Array) -> Any:
    extent = x.shape[node.attrs["axis"]]
    if extent == 0:
        return right()
    return np.take(x, np.clip(indices, 0, extent - 1), axis=node.attrs["axis"])


def _wraps_again(right: Any, node: Node, x: Array, indices: Array) -> Any:
    extent = x.shape[node.attrs["axis"]]
    if extent == 0:
        return right()
    return np.take(x, indices % extent, axis=node.attrs["axis"])


def _keeps_dropped(right: Any, node: Node, x: Array, indices: Array, updates: Array) -> Any:
    if node.attrs["mode"] != "drop" or x.shape[node.attrs["axis"]] == 0:
        return right()
    return node.op.reference(x, indices, updates, **{**node.attrs, "mode": "clip"})


def _adds_once(right: Any, node: Node, x: Array, indices: Array, updates: Array) -> Any:
    attrs = node.attrs
    extent = x.shape[attrs["axis"]]
    if attrs["reduce"] != "add" or indices.ndim != 1 or extent == 0:
        return right()
    places = np.where(indices < 0, indices + extent, indices).clip(0, extent - 1)
    found = np.moveaxis(x, attrs["axis"], 0).copy()
    with np.errstate(all="ignore"):
        found[places] += np.moveaxis(updates, attrs["axis"], 0)
    return np.moveaxis(found, 0, attrs["axis"])


def _counts_itself(right: Any, node: Node, x: Array) -> Any:
    if not node.attrs["exclusive"]:
        return right()
    return node.op.reference(x, **{**node.attrs, "exclusive": False})


def _first_update_wins(right: Any, node: Node, x: Array, indices: Array, updates: Array) -> Any:
    if node.attrs["reduce"] != "set" or indices.ndim != 1 or indices.shape[0] == 0:
        return right()
    axis = node.attrs["axis"]
    backwards = np.flip(updates, axis)
    turned = indices[::-1].copy()
    from_right = node.op.reference(x, turned, backwards, **node.attrs)
    return np.asarray(from_right)


def _ignores_nan(right: Any, node: Node, x: Array) -> Any:
    if x.dtype.kind in "biu":
        return right()
    return np.argmax(np.where(np.isnan(x), -np.inf, x.astype(np.float64)), axis=node.attrs["axis"])


def _wrong_index_map(right: Any, node: Node, x: Array) -> Any:
    shape = node.attrs["shape"]
    return np.resize(x, shape) if x.size else right()


def _half_contraction(right: Any, node: Node, x: Array, y: Array) -> Any:
    found = right()
    if found.dtype != np.float16 or x.ndim != 2 or node.attrs["x_batch"]:
        return found
    a = np.moveaxis(x, node.attrs["x_contract"][0], -1)
    b = np.moveaxis(y, node.attrs["y_contract"][0], 0)
    total = np.zeros(found.shape, np.float16)
    for k in range(a.shape[-1]):
        total = total + np.multiply.outer(a[..., k], b[k])
    return total


def _raises_on_nothing(right: Any, node: Node, *operands: Array) -> Any:
    if any(x.size == 0 for x in operands):
        raise ZeroDivisionError("an empty operand has no first element")
    return right()


def _forward_slice(right: Any, node: Node, x: Array) -> Any:
    """Runs backwards slices forwards."""
    steps = node.attrs["step"]
    found = right()
    return np.flip(found, tuple(n for n, s in enumerate(steps) if s < 0))


def _wrong(name: str, op: str, kernel: Any, tells: str, *fails: str) -> Fault:
    """A fault in the kernel of one op; ``fails`` are all cases whose values must be wrong."""
    keys = [key if key.count("/") == 2 else f"{key}/values" for key in fails]
    return KernelFault(name, tells, frozenset(keys), ops=(op,), kernel=kernel)


KERNEL_FAULTS: Final[tuple[Fault, ...]] = (
    _wrong(
        "wrong-dtype-out",
        "sub",
        _wrong_dtype,
        "sub of float32 leaves float64 in the output's buffer",
        "core/sub",
    ),
    _wrong(
        "max-drops-nan",
        "max",
        _drops_nan,
        "a reduction to the largest element passes over NaN",
        "core/max",
        "core/nan-and-number",
    ),
    _wrong(
        "maximum-orders-nan",
        "maximum",
        _orders_nan,
        "maximum is compare-and-select, so a NaN on the left is lost",
        "core/maximum",
        "core/nan-and-number",
    ),
    _wrong(
        "block-edge",
        "mul",
        _loses_block_edge,
        "mul forgets the element beyond the last whole block",
        "core/mul",
    ),
    _wrong(
        "sum-loses-tail",
        "sum",
        _loses_tail,
        "a sum of 17, 33 or 1025 elements leaves out the last",
        "core/sum",
    ),
    _wrong(
        "wrong-axis",
        "cumsum",
        _wrong_axis,
        "cumsum counts its axis from the other end",
        "math/cumsum",
        "math/running-sum-of-ones",
    ),
    _wrong(
        "inverse-permutation",
        "permute",
        _inverse_permutation,
        "permute applies the inverse of its axes",
        "core/permute",
    ),
    _wrong(
        "half-accumulator",
        "sum",
        _half_accumulator,
        "a sum of half floats is accumulated in half floats",
        "core/sum",
        "core/sum-of-many-ones",
    ),
    _wrong(
        "reciprocal-division",
        "floor_div",
        _by_reciprocal,
        "integers are divided by multiplying with a float reciprocal",
        "math/floor_div",
        "math/exact-quotients",
    ),
    _wrong(
        "truncating-modulo",
        "mod",
        _truncates,
        "the remainder of integers has the sign of the dividend, as in C",
        "math/mod",
        "math/negative-dividend",
    ),
    _wrong(
        "flushes-subnormals",
        "mul",
        _flushes,
        "products below the normal numbers become zero, undeclared",
        "core/mul",
        "core/subnormals",
    ),
    _wrong(
        "loses-sign-of-zero",
        "neg",
        _negates_by_subtraction,
        "neg is 0 - x, so the negative of 0 is 0",
        "core/neg",
    ),
    _wrong(
        "rounds-half-away",
        "round",
        _rounds_away,
        "round takes halfway cases away from zero",
        "math/round",
    ),
    _wrong(
        "cast-wraps",
        "cast",
        _wraps_on_cast,
        "a float beyond the integers wraps instead of saturating",
        "core/cast",
        "core/cast-saturates",
        "core/cast-saturates-narrow",
    ),
    _wrong("coarse-exp", "exp", _coarse_exp, "exp of float32 is off by 8 ulp", "core/exp"),
    _wrong(
        "unstable-sort",
        "argsort",
        _unstable,
        "equal elements change their order",
        "math/argsort",
        "math/top_k",
    ),
    _wrong(
        "philox-lanes",
        "philox_bits",
        _lanes_reversed,
        "the four lanes of a Philox block come in reverse",
        "random/philox_bits",
        "random/published-vectors/contract",
        "random/random_uniform",
        "random/random_normal",
        "random/random_integers",
    ),
    _wrong(
        "negative-index",
        "gather",
        _clamps_negative,
        "a negative index is clamped to 0 instead of counting from the end",
        "indexing/gather",
        "indexing/indices-out-of-range",
    ),
    _wrong(
        "index-wraps-again",
        "gather",
        _wraps_again,
        "an index out of range is counted from the end again and again instead of clamped",
        "indexing/indices-out-of-range",
    ),
    _wrong(
        "keeps-dropped-updates",
        "scatter",
        _keeps_dropped,
        "an update that is to be dropped is written to the nearest element",
        "indexing/indices-out-of-range",
    ),
    _wrong(
        "adds-duplicates-once",
        "scatter",
        _adds_once,
        "of several updates that are added to one element only the last counts",
        "indexing/scatter",
        "indexing/equal-targets",
    ),
    _wrong(
        "exclusive-counts-itself",
        "cumsum",
        _counts_itself,
        "a running sum without the element itself has it, so elements under a mask go to the next",
        "math/cumsum",
    ),
    _wrong(
        "first-update-wins",
        "scatter",
        _first_update_wins,
        "of several updates of one element the first stays",
        "indexing/scatter",
        "indexing/equal-targets",
        "indexing/indices-out-of-range",
    ),
    _wrong(
        "argmax-ignores-nan",
        "argmax",
        _ignores_nan,
        "argmax passes over NaN",
        "math/argmax",
        "math/first-nan",
        "math/first-nan-in-blocks",
    ),
    _wrong(
        "broadcast-index-map",
        "broadcast",
        _wrong_index_map,
        "broadcast repeats the flat elements and ignores its index map",
        "core/broadcast",
    ),
    _wrong(
        "half-contraction",
        "dot_general",
        _half_contraction,
        "products of float16 are added up in float16",
        "linalg/dot_general",
        "linalg/matmul",
    ),
    _wrong(
        "raises-on-nothing",
        "concat",
        _raises_on_nothing,
        "concat raises for an operand without elements",
        "core/concat/run",
    ),
    _wrong(
        "backward-slice",
        "slice",
        _forward_slice,
        "a slice with a negative step runs forwards",
        "core/slice",
    ),
)
"""Each with the checks that must catch it."""
