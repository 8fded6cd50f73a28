"""Reducer: one reduction of a group: what it starts from, how it combines, what it gives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from realta.codegen.indices import Index
from realta.codegen.ir import Apply, Const, Expr, compute_type
from realta.codegen.scalar import cast, combined, constant, from_index, identity, rounded, select
from realta.codegen.writer import KernelWriter
from realta.graph import Node
from realta.types import DType, bool_, int32, int64, uint8

__all__ = ["Parts", "Reducer"]

Parts = tuple[Expr, ...]
"""What is accumulated: a value, or a value and its index."""
_COMBINE: Final = {"max": "maximum", "min": "minimum"}
_OF_BOOLS: Final = {"maximum": "logical_or", "minimum": "logical_and"}
_ARGUMENTS: Final = ("argmax", "argmin")
_LAST: Final = {dtype: int(np.iinfo(dtype.numpy).max) for dtype in (int32, int64)}
"""The index of no term: any other is less."""
_NOTHING: Final = {"add": 0.0, "mul": 1.0, "logical_or": False, "logical_and": True}


class Reducer:
    """A reduction.

    Args:
        node: the op.

    Attributes:
        combine: name of the combination, as a fold takes it.
        dtypes: compute types of what is accumulated.
    """

    def __init__(self, node: Node) -> None:
        self.node = node
        self.source: DType = node.operands[0].type.dtype
        combine = _COMBINE.get(node.op.scalar, node.op.scalar)
        self.is_argument = combine in _ARGUMENTS
        self.register = compute_type(self.source)
        if self.source is bool_ and self.is_argument:
            self.register = uint8
        if self.source is bool_:
            combine = _OF_BOOLS.get(combine, combine)
        self.combine = combine
        self.dtypes: tuple[DType, ...] = (self.register,)
        if self.is_argument:
            self.dtypes = (self.register, self._index_dtype())

    def _index_dtype(self) -> DType:
        """The narrowest type of the indices of the terms."""
        extent: int = self.node.operands[0].type.static_shape[self.node.attrs["axis"]]
        return int32 if extent < _LAST[int32] else int64

    @property
    def itemsize(self) -> int:
        """Bytes of what is accumulated."""
        return sum(dtype.itemsize for dtype in self.dtypes)

    def start(self) -> Parts:
        """What changes nothing that it is combined with."""
        if self.is_argument:
            return (self._worst(), Const(_LAST[self.dtypes[1]], self.dtypes[1]))
        return (identity(self.combine, self.register),)

    def start_at(self, first: Index) -> Parts:
        """What the terms of a lane are combined with one after the other, from the first on."""
        if self.is_argument:
            return (self._worst(), from_index(first, self.dtypes[1]))
        return self.start()

    def _worst(self) -> Expr:
        return identity("maximum" if self.combine == "argmax" else "minimum", self.register)

    def term(self, value: Expr, index: Index) -> Parts:
        """A term with its number among the terms."""
        if not self.is_argument:
            return (value,)
        if self.source is bool_:
            value = cast(value, self.source, uint8)
        return (value, from_index(index, self.dtypes[1]))

    def next(self, writer: KernelWriter, own: Parts, term: Parts) -> Parts:
        """What terms of rising numbers have come to, from `start_at` on, with the next one."""
        if not self.is_argument:
            return self.both(writer, own, term)
        value, other = own[0], writer.let(term[0])
        if self.register.is_float:  # the first NaN stays
            loses = _test(
                "less_equal" if self.combine == "argmax" else "greater_equal", other, value
            )
            better = _test("bitwise_and", _test("logical_not", loses), _test("equal", value, value))
        else:
            better = _test("greater" if self.combine == "argmax" else "less", other, value)
        better = writer.let(better, "better")
        return (select(better, other, value), select(better, term[1], own[1]))

    def chosen(self, condition: Expr | None, parts: Parts) -> Parts:
        """The parts where a condition holds, elsewhere what changes nothing."""
        if condition is None:
            return parts
        return tuple(select(condition, x, y) for x, y in zip(parts, self.start(), strict=True))

    def both(self, writer: KernelWriter, own: Parts, other: Parts) -> Parts:
        """Two accumulated values combined, the first one being first."""
        if not self.is_argument:
            return (combined(self.combine, own[0], other[0]),)
        value, index = own
        second, later = (writer.let(part) for part in other)
        better = writer.let(self._better(value, index, second, later), "better")
        return (select(better, second, value), select(better, later, index))

    def _better(self, value: Expr, index: Expr, other: Expr, later: Expr) -> Expr:
        """Whether the second pair wins: by value, NaN over all, of equals by the lower index."""
        wins = _test("greater" if self.combine == "argmax" else "less", other, value)
        ties = _test("equal", other, value)
        if self.register.is_float:
            nan, other_nan = _test("is_nan", value), _test("is_nan", other)
            new = _test("bitwise_and", other_nan, _test("logical_not", nan))
            wins = _test("bitwise_or", wins, new)
            ties = _test("bitwise_or", ties, _test("bitwise_and", nan, other_nan))
        first = _test("bitwise_and", ties, _test("less", later, index))
        return _test("bitwise_or", wins, first)

    def fold(self, writer: KernelWriter, parts: Parts, width: int) -> Parts:
        """The parts combined across segments of lanes."""
        if self.is_argument:  # folds take wide indices
            index = cast(parts[1], self.dtypes[1], int64)
            value, found = writer.fold((parts[0], index), self.combine, width)
            return (value, cast(found, int64, self.dtypes[1]))
        return writer.fold(parts, self.combine, width)

    def result(self, parts: Parts) -> Expr:
        """The result as an element."""
        if self.is_argument:
            return cast(parts[1], self.dtypes[1], int64)
        if self.combine in ("add", "mul"):
            return rounded(parts[0], self.source)
        return parts[0]

    def over_nothing(self) -> Expr:
        """The result over no terms."""
        return constant(_NOTHING[self.combine], self.source)


def _test(name: str, *operands: Expr) -> Expr:
    return Apply(name, tuple(operands), bool_)


def total_itemsize(reducers: Sequence[Reducer]) -> int:
    """Bytes of what several reductions accumulate."""
    return sum(reducer.itemsize for reducer in reducers)
