"""Lowering: steps that several decompositions share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from realta.ops.opdef import Emitter
from realta.ops.rules import count

__all__ = ["across", "centered", "mean"]


def across(emit: Emitter, reduced: Any, axes: Sequence[int], like: Any) -> Any:
    """A value reduced over axes, repeated along them to the shape of ``like``."""
    shape = emit.type_of(like).shape
    kept = tuple(1 if n in axes else d for n, d in enumerate(shape))
    return emit.broadcast(emit.reshape(reduced, shape=kept), shape=shape)


def mean(emit: Emitter, x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over axes divided by the number of terms."""
    shape = emit.type_of(x).shape
    total = emit.sum(x, axes=axes)
    return emit.div(total, emit.const(float(count([shape[a] for a in axes])), like=total))


def centered(emit: Emitter, x: Any, axes: tuple[int, ...]) -> Any:
    """The operand minus its mean over axes."""
    return emit.sub(x, across(emit, mean(emit, x, axes), axes, x))
