"""Custom call: a function of the user, by name, as one op of a graph."""

from __future__ import annotations

from typing import Any, NoReturn

from realta.errors import ArgumentError, UnsupportedOp
from realta.ops.opdef import Attr, OpKind, define
from realta.types import DTYPES, TensorType

__all__: list[str] = []


def _rule(
    *values: TensorType,
    name: str,
    types: tuple[TensorType, ...],
    mutates: tuple[int, ...],
    parameters: str,
    source: str,
) -> tuple[TensorType, ...]:
    if not values and not types:
        raise ArgumentError(
            f"the custom call {name!r} takes and returns nothing", fix="give it result types"
        )
    wrong = [n for n in mutates if n not in range(len(values))]
    if wrong or sorted(set(mutates)) != list(mutates):
        raise ArgumentError(
            f"the custom call {name!r} changes the operands {list(mutates)} of {len(values)}",
            fix="number operands from 0, in ascending order",
        )
    return (*[values[n] for n in mutates], *types)


def _reference(*values: Any, name: str, **_: Any) -> NoReturn:
    raise UnsupportedOp(
        f"the custom call {name!r} has no meaning of its own",
        fix="run it through a device, where core calls the function registered under that name",
    )


define(
    "custom_call",
    operands=("values",),
    variadic=True,
    rule=_rule,
    reference=_reference,
    doc=(
        "Calls a custom function, a pure one, by its name: on host devices one that is registered "
        "in Python, elsewhere one that the session builds from the source. The results are the new "
        "versions of the operands that it changes, then values of the types given."
    ),
    kind=OpKind.OPAQUE,
    attrs={
        "name": Attr("str", doc="the function's name"),
        "types": Attr("types", doc="types of the results"),
        "mutates": Attr("ints", (), "operands that it changes: their new versions are results"),
        "parameters": Attr("str", "{}", "keyword arguments, as JSON"),
        "source": Attr("str", "", "code for sessions that build kernels"),
    },
    dtypes=frozenset(DTYPES),
    level="contexts",
)
