"""Rebinding: a tensor under other names of its extents, which a call must bind to equal numbers."""

from __future__ import annotations

from typing import Any

from realta.errors import ShapeError
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, Emitter, OpKind, Sample, define
from realta.ops.rules import extents
from realta.types import DTYPES, Dim, Shape, TensorType

__all__: list[str] = []


def _rule(x: TensorType, *, shape: Shape, message: str) -> TensorType:
    if len(shape) != x.rank or any(map(_never, x.shape, shape)):
        said = f"{message}: " if message else ""
        raise ShapeError(
            f"{said}rebind of {x} to {extents(shape)}",
            fix="give an argument of that shape, or rebind to the shape that it has",
        )
    return x.with_shape(shape)


def _never(have: int | Dim, want: int | Dim) -> bool:
    """Whether two extents differ whatever their names are bound to."""
    try:
        return not have == want  # noqa: SIM201  a Dim decides `==` only
    except ShapeError:
        return False


def _reference(x: Array, *, shape: tuple[int, ...], message: str) -> Array:
    return x.copy()


def _lowering(emit: Emitter, x: Any, *, shape: Shape, message: str) -> Any:
    # Extents are numbers by now, and the rule has seen that they are equal.
    return x


define(
    "rebind",
    rule=_rule,
    reference=_reference,
    lowering=_lowering,
    doc="The operand itself, where its extents are bound to those of the shape.",
    kind=OpKind.MOVEMENT,
    attrs={
        "shape": Attr("shape", doc="the extents under other names"),
        "message": Attr("str", doc="said first where they differ"),
    },
    dtypes=frozenset(DTYPES),
    samples=(
        Sample(((),), {"shape": (), "message": ""}),
        Sample(((0, 3),), {"shape": (0, 3), "message": ""}),
        Sample(((3, 33),), {"shape": (3, 33), "message": "rows"}),
    ),
    level="contexts",
)
