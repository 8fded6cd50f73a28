"""Effects: printing and assertions, in an order that tokens between them keep.

A token is a tensor without elements. An effect takes the tokens of effects that come before it and
gives one, so that order is data flow like any other. No pass drops, doubles or merges an effect.
"""

from __future__ import annotations

import sys

import numpy as np

from realta.errors import ExecutionError, ShapeError
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, OpKind, define
from realta.ops.rules import check_dtype
from realta.types import DTYPES, TensorType, bool_, tensor_type

__all__: list[str] = []


def _check_tokens(tokens: tuple[TensorType, ...]) -> None:
    for token in tokens:
        check_dtype("a token", token, (bool_,))
        if token.shape != (0,):
            raise ShapeError(f"a token is bool[0], got {token}", fix="pass results of effects")


def _token(x: TensorType) -> TensorType:
    return tensor_type(bool_, (0,), x.device)


def _print_rule(x: TensorType, *after: TensorType, name: str) -> TensorType:
    _check_tokens(after)
    return _token(x)


def _print(x: Array, *after: Array, name: str) -> Array:
    sys.stdout.write(f"{name}: {x}\n" if name else f"{x}\n")
    return np.zeros(0, bool)


define(
    "print",
    operands=("x", "after"),
    variadic=True,
    rule=_print_rule,
    reference=_print,
    doc="Prints the operand on the host, after the effects whose tokens it takes; gives a token.",
    kind=OpKind.EFFECT,
    attrs={"name": Attr("str", "", "a label before the values")},
    dtypes=frozenset(DTYPES),
    level="contexts",
)


def _assert_rule(cond: TensorType, *after: TensorType, message: str) -> TensorType:
    check_dtype("the condition", cond, (bool_,))
    _check_tokens(after)
    return _token(cond)


def _assert(cond: Array, *after: Array, message: str) -> Array:
    if not cond.all():
        raise ExecutionError(message or "an assertion does not hold")
    return np.zeros(0, bool)


define(
    "assert_",
    operands=("cond", "after"),
    variadic=True,
    rule=_assert_rule,
    reference=_assert,
    doc=(
        "Fails the run unless every element of the condition is true, after the effects whose "
        "tokens it takes; gives a token."
    ),
    kind=OpKind.EFFECT,
    attrs={"message": Attr("str", "", "what the error says")},
    dtypes=frozenset({bool_}),
    level="contexts",
)
