"""Control flow: `cond` and `while_loop`, which run graphs that are among their attributes.

A graph of these ops reads nothing but its own inputs: what it needs from outside are operands, in
the order of its inputs. Core's executor runs them on every device; a session runs them itself where
it says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from realta.errors import ShapeError, VerificationError
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, OpKind, as_arrays, define
from realta.ops.rules import check_dtype
from realta.types import DTYPES, TensorType, bool_

__all__: list[str] = []


def _listed(types: Sequence[TensorType]) -> str:
    return ", ".join(map(str, types)) or "nothing"


def _types(values: Any) -> tuple[TensorType, ...]:
    return tuple([value.type for value in values])


def _check_inputs(label: str, graph: Any, types: tuple[TensorType, ...]) -> None:
    found = _types(graph.inputs)
    if found != types:
        raise VerificationError(
            f"the graph {label!r} takes {_listed(found)}, but its operands are {_listed(types)}",
            fix="give it one input of the same type for each operand, in their order",
        )


def _check_predicate(what: str, type: TensorType) -> None:
    check_dtype(what, type, (bool_,))
    if type.shape != ():
        raise ShapeError(f"{what} must be 0-d, got {type}", fix="reduce it with any or all")


def evaluate(graph: Any, arrays: Sequence[Array]) -> tuple[Array, ...]:
    """The outputs of a graph for these inputs, each op by its reference."""
    known = dict(zip(graph.inputs, arrays, strict=True))
    for node in graph.nodes:
        results = as_arrays(node.op.reference(*[known[v] for v in node.operands], **node.attrs))
        known.update(zip(node.outputs, results, strict=True))
    return tuple([known[value] for value in graph.outputs])


def _cond_rule(
    pred: TensorType, *captures: TensorType, then: Any, otherwise: Any
) -> tuple[TensorType, ...]:
    _check_predicate("the predicate", pred)
    for label, graph in (("then", then), ("otherwise", otherwise)):
        _check_inputs(label, graph, captures)
    first, second = _types(then.outputs), _types(otherwise.outputs)
    if first != second:
        raise VerificationError(
            f"the graph 'then' returns {_listed(first)}, 'otherwise' returns {_listed(second)}",
            fix="return the same types from both",
        )
    return first


def _cond(pred: Array, *captures: Array, then: Any, otherwise: Any) -> tuple[Array, ...]:
    return evaluate(then if bool(pred) else otherwise, captures)


define(
    "cond",
    operands=("pred", "captures"),
    variadic=True,
    rule=_cond_rule,
    reference=_cond,
    doc=(
        "The results of one of two graphs on the captured values: of `then` where the 0-d "
        "predicate is true, else of `otherwise`. Only that one runs."
    ),
    kind=OpKind.CONTROL,
    attrs={
        "then": Attr("graph", doc="runs where the predicate is true"),
        "otherwise": Attr("graph", doc="runs where it is false; takes and returns the same types"),
    },
    dtypes=frozenset({bool_}),
    level="contexts",
)


def _while_rule(
    *values: TensorType, predicate: Any, body: Any, carried: int
) -> tuple[TensorType, ...]:
    if not 0 < carried <= len(values):
        raise VerificationError(
            f"{carried} of {len(values)} operands are carried",
            fix="carry at least one operand from step to step; those behind are captured",
        )
    for label, graph in (("predicate", predicate), ("body", body)):
        _check_inputs(label, graph, values)
    if len(predicate.outputs) != 1:
        raise VerificationError(
            f"the graph 'predicate' returns {_listed(_types(predicate.outputs))}",
            fix="return one 0-d bool",
        )
    _check_predicate("what the graph 'predicate' returns", predicate.outputs[0].type)
    returned, wanted = _types(body.outputs), values[:carried]
    if returned != wanted:
        raise VerificationError(
            f"the graph 'body' returns {_listed(returned)}, but {_listed(wanted)} is carried",
            fix="return the carried values in their order; types stay the same from step to step",
        )
    return wanted


def _while_loop(*values: Array, predicate: Any, body: Any, carried: int) -> tuple[Array, ...]:
    state, captures = values[:carried], values[carried:]
    while bool(evaluate(predicate, (*state, *captures))[0]):
        state = evaluate(body, (*state, *captures))
    return state


define(
    "while_loop",
    operands=("values",),
    variadic=True,
    rule=_while_rule,
    reference=_while_loop,
    doc=(
        "The carried values after the last step: while `predicate` of the carried and the captured "
        "values is true, `body` of them gives the next carried values."
    ),
    kind=OpKind.CONTROL,
    attrs={
        "predicate": Attr("graph", doc="returns one 0-d bool"),
        "body": Attr("graph", doc="returns the next carried values"),
        "carried": Attr("int", doc="how many operands are carried; those behind are captured"),
    },
    dtypes=frozenset(DTYPES),
    level="contexts",
)
