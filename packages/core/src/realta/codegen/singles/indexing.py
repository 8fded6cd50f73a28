"""Indices as data: from what is stored to a position along an axis, clamped."""

from __future__ import annotations

from realta.codegen.indices import Position
from realta.codegen.ir import Apply, Const, Expr
from realta.codegen.scalar import cast, select
from realta.codegen.writer import KernelWriter
from realta.types import DType, bool_, int64

__all__ = ["counted", "is_inside", "position"]


def counted(index: Expr, dtype: DType, extent: int) -> Expr:
    """An index counted from the start: a negative one counts from the end, once."""
    if extent > (1 << 31) - 1:
        index = cast(index, dtype, int64)
    zero, whole = Const(0, index.dtype), Const(extent, index.dtype)
    negative = Apply("less", (index, zero), bool_)
    return select(negative, Apply("add", (index, whole), index.dtype), index)


def is_inside(counted: Expr, extent: int) -> Expr:
    """Whether a counted index is one of the axis."""
    high = Apply("less", (counted, Const(extent, counted.dtype)), bool_)
    low = Apply("greater_equal", (counted, Const(0, counted.dtype)), bool_)
    return Apply("bitwise_and", (low, high), bool_)


def position(writer: KernelWriter, counted: Expr, extent: int) -> Position:
    """A counted index clamped to the axis, as an index."""
    last = Apply("minimum", (counted, Const(extent - 1, counted.dtype)), counted.dtype)
    clamped = Apply("maximum", (last, Const(0, counted.dtype)), counted.dtype)
    return Position(writer.let(clamped, "at"), extent)
