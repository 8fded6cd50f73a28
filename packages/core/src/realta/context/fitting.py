"""Fitting record: the hot path of tracing, for ops on operands that fit as they are.

Does what `RecordingContext.record` and `RecordingContext.adopt` do, with the checks that the caller
has made left out and nothing built that is thrown away.
"""

from __future__ import annotations

from sys import _getframe
from typing import Any, Final

from realta.context.base import YOUNG, RecordingContext
from realta.context.location import caller, is_user_code
from realta.graph.values import RecordedNode
from realta.ops import OpDef
from realta.types import TensorType

__all__ = ["record_fitting"]

_new: Final = object.__new__
_YOUNG_TRACED: Final = 256
"""Like `YOUNG`, for regions, which end soon."""


def record_fitting(
    context: RecordingContext,
    op: OpDef,
    first: Any,
    second: Any,
    types: tuple[TensorType, ...],
    handle: Any,
) -> None:
    """Records an op of one or two operands and makes ``handle`` its result.

    Args:
        context: the current context; one that is traced has the entry written too.
        op: an op without attributes.
        first: a tensor.
        second: a tensor, None for an op of one operand.
        types: the types of the op's result.
        handle: a new tensor without a version.
    """
    a = first._value
    if a is None or first._context is not context or first._held is not None:
        a = context._sources.get(id(first._held))
        if a is None or a.payload is not first._held:
            a = context.value_of(first)
    a.uses += 1
    node = _new(RecordedNode)
    node.first = a
    if second is None:
        node.second = b = None
    else:
        b = second._value
        if b is None or second._context is not context or second._held is not None:
            b = context._sources.get(id(second._held))
            if b is None or b.payload is not second._held:
                b = context.value_of(second)
        b.uses += 1
        node.second = b
    # The caller's caller is the user's line, unless the operator was reached from inside.
    frame = _getframe(2)
    code = frame.f_code
    if code is _last[0] or is_user_code(code, _last):
        node.code = code
        node.instruction = frame.f_lasti
    else:
        node.where = caller()
    node.op = op
    node.types = types
    node.type = handle._type = types[0]
    node.region = context.region
    node.payload = node.handles = handle._held = None
    node.uses = 0
    handle._value = node
    handle._context = context
    context._recorded += 1
    young = context.young
    young.append(handle)
    trace = context.trace
    if trace is not None:
        trace.write(node, op, a, b)
        if len(young) >= _YOUNG_TRACED:
            context.register_young()
        return
    node.place = -1
    if len(young) >= YOUNG:
        context.register_young()
    if context.node_budget is not None and context._recorded > context.node_budget:
        context._over_budget(handle)


_last: Final[list[Any]] = [None]
"""The user's code object met last: loops record from the same one again and again."""
