"""Searching: where values belong in a sorted row; NaN belongs behind everything else."""

from __future__ import annotations

from typing import Any

import numpy as np

from realta.errors import ShapeError
from realta.ops.conversion import Array, widened
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.ops.rules import check_same
from realta.types import NUMERIC, TensorType, int64

__all__: list[str] = []


def _rule(row: TensorType, values: TensorType, *, right: bool) -> TensorType:
    check_same((row, values), shapes=False)
    if row.rank != 1:
        raise ShapeError(
            f"searchsorted in a tensor of {row.rank} axes", fix="give one row of sorted elements"
        )
    if not isinstance(row.shape[0], int):
        raise ShapeError(
            f"searchsorted in a row of the symbolic extent {row.shape[0]}",
            fix="declare that extent as a number",
        )
    return values.with_dtype(int64)


def _searchsorted(row: Array, values: Array, *, right: bool) -> Array:
    found = np.searchsorted(widened(row), widened(values), side="right" if right else "left")
    return np.asarray(found, np.int64)


def _lower(emit: Emitter, row: Any, values: Any, *, right: bool) -> Any:
    """Binary search of all values at once: each step halves what is left of the row."""
    extent = int(emit.type_of(row).static_shape[0])
    found = emit.cast(emit.const(0, like=values), dtype=int64)
    if not extent:
        return found
    for step in reversed(range(extent.bit_length())):
        ahead = emit.add(found, emit.const(1 << step, like=found))
        last = emit.const(extent, like=found)
        place = emit.sub(emit.minimum(ahead, last), emit.const(1, like=found))
        element = emit.gather(row, place, axis=0)
        before = (
            _before_or_equal(emit, element, values) if right else _before(emit, element, values)
        )
        fits = emit.bitwise_and(before, emit.less_equal(ahead, last))
        found = emit.select(fits, ahead, found)
    return found


def _before(emit: Emitter, x: Any, y: Any) -> Any:
    """Whether x sorts before y."""
    if not emit.type_of(x).dtype.is_float:
        return emit.less(x, y)
    number = emit.bitwise_not(emit.is_nan(x))
    return emit.bitwise_or(emit.less(x, y), emit.bitwise_and(number, emit.is_nan(y)))


def _before_or_equal(emit: Emitter, x: Any, y: Any) -> Any:
    return emit.bitwise_not(_before(emit, y, x))


define(
    "searchsorted",
    operands=("row", "values"),
    rule=_rule,
    reference=_searchsorted,
    lowering=_lower,
    doc=(
        "For each value the int64 place in a sorted row where it can be put so that the row stays "
        "sorted: the first such place, or the last one. NaN belongs behind everything else."
    ),
    kind=OpKind.OPAQUE,
    attrs={"right": Attr("bool", False, "the last place rather than the first")},
    dtypes=NUMERIC,
    samples=(
        Sample(((17,), (33,)), {"right": False}, ("sorted", "any")),
        Sample(((33,), (3, 5)), {"right": True}, ("sorted", "any")),
        Sample(((1,), (17,)), {"right": False}, ("sorted", "small")),
        Sample(((16,), ()), {"right": True}, ("sorted", "small")),
        Sample(((0,), (3,)), {"right": True}, note="an empty row"),
        Sample(((5,), (0,)), {"right": False}, ("sorted", "any"), note="no values"),
        Sample(((1025,), (65,)), {"right": False}, ("sorted", "small"), note="equal elements"),
        Sample(((1025,), (65,)), {"right": True}, ("sorted", "small"), note="equal elements"),
        Sample(((17,), (64,)), {"right": False}, ("sorted", "special"), note="NaN and infinities"),
        Sample(((17,), (64,)), {"right": True}, ("sorted", "special"), note="NaN and infinities"),
    ),
    level="math",
)
