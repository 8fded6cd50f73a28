"""Guard: ties a check of indices to the op that uses them."""

from __future__ import annotations

from typing import Any

from realta.ops.conversion import Array
from realta.ops.opdef import Emitter, OpKind, Sample, define
from realta.ops.rules import check_dtype
from realta.types import INTEGERS, TensorType, int32

__all__: list[str] = []


def _rule(x: TensorType, status: TensorType) -> TensorType:
    check_dtype("the status", status, (int32,))
    return x


def _reference(x: Array, status: Array) -> Array:
    return x.copy()


def _lowering(emit: Emitter, x: Any, status: Any) -> Any:
    # The check is an effect, so it stays in the graph without a reader; core reads its status.
    return x


define(
    "guard",
    operands=("x", "status"),
    rule=_rule,
    reference=_reference,
    lowering=_lowering,
    doc="The indices x, after the check whose status is the second operand.",
    kind=OpKind.OPAQUE,
    dtypes=INTEGERS,
    samples=(Sample(((17,), (4,)), {}, ("indices", "integers"), (None, int32)),),
    level="indexing",
)
