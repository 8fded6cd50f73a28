"""Lowering: steps that several decompositions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from realta.ops.opdef import Emitter
from realta.ops.rules import count
from realta.types import Dim, float64, int64

__all__ = ["across", "centered", "mean", "terms"]


def across(emit: Emitter, reduced: Any, axes: Sequence[int], like: Any) -> Any:
    """A value reduced over axes, repeated along them to the shape of ``like``."""
    shape = emit.type_of(like).shape
    kept = tuple(1 if n in axes else d for n, d in enumerate(shape))
    return emit.broadcast(emit.reshape(reduced, shape=kept), shape=shape)


def mean(emit: Emitter, x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over axes divided by the number of terms."""
    shape = emit.type_of(x).shape
    total = emit.sum(x, axes=axes)
    return emit.div(total, terms(emit, [shape[a] for a in axes], like=total))


def terms(emit: Emitter, extents: Sequence[int | Dim], *, like: Any, less: float = 0.0) -> Any:
    """How many terms a reduction over extents has, less a correction and at least 0.

    Args:
        emit: writes the ops.
        extents: the extents; where one has a name, the number is computed when the graph runs.
        like: a value of the dtype and shape of the result.
        less: the correction.
    """
    number = count(extents)
    if not isinstance(number, Dim):
        return emit.const(float(max(number - less, 0)), like=like)
    if number == 0:
        return emit.const(0.0, like=like)
    type = emit.type_of(like)
    found = None
    for extent in extents:
        # The last index of a row of indices, and one more.
        row = emit.iota(shape=(extent,), axis=0, dtype=int64, device=type.device)
        last = emit.slice(row, start=(extent - 1,), stop=(extent,), step=(1,))
        length = emit.add(last, emit.const(1, like=last))
        found = length if found is None else emit.mul(found, length)
    exact = emit.cast(emit.reshape(found, shape=()), dtype=float64)
    exact = emit.sub(exact, emit.const(less, like=exact))
    exact = emit.maximum(exact, emit.const(0.0, like=exact))
    return emit.broadcast(emit.cast(exact, dtype=type.dtype), shape=type.shape)


def centered(emit: Emitter, x: Any, axes: tuple[int, ...]) -> Any:
    """The operand minus its mean over axes."""
    return emit.sub(x, across(emit, mean(emit, x, axes), axes, x))
