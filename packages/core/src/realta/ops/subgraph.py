"""Subgraph: `call`, which runs a graph that it shares with other calls."""

from __future__ import annotations

from typing import Any

from realta.errors import VerificationError
from realta.ops.control import evaluate
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, OpKind, define
from realta.types import DTYPES, TensorType

__all__: list[str] = []


def _rule(*operands: TensorType, body: Any) -> tuple[TensorType, ...]:
    found = tuple([value.type for value in body.inputs])
    if found != operands:
        takes, gets = (", ".join(map(str, types)) or "nothing" for types in (found, operands))
        raise VerificationError(
            f"the graph 'body' takes {takes}, but its operands are {gets}",
            fix="give it one input of the same type for each operand, in their order",
        )
    return tuple([value.type for value in body.outputs])


def _reference(*arrays: Array, body: Any) -> tuple[Array, ...]:
    return evaluate(body, arrays)


define(
    "call",
    operands=("captures",),
    variadic=True,
    rule=_rule,
    reference=_reference,
    doc=(
        "The results of a graph on the operands. Calls of one graph compile it once, so that "
        "layers of the same structure cost what one costs."
    ),
    kind=OpKind.CONTROL,
    attrs={"body": Attr("graph", doc="what runs; it reads nothing but its own inputs")},
    dtypes=frozenset(DTYPES),
    level="contexts",
)
