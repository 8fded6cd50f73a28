"""Fitting record: the hot path of tracing, for ops on operands that fit as they are.

Does what `RecordingContext.record` and `RecordingContext.adopt` do, with the checks that the caller
has made left out and nothing built that is thrown away.
"""

from __future__ import annotations

from sys import _getframe
from typing import Any, Final
from weakref import ref

from realta.context.base import RecordingContext
from realta.context.location import caller, is_user_code
from realta.graph import Node
from realta.ops import NO_ATTRS, OpDef
from realta.types import TensorType

__all__ = ["record_fitting"]

_new: Final = object.__new__


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
        context: the current context.
        op: an op without attributes.
        first: a tensor.
        second: a tensor, None for an op of one operand.
        types: the types of the op's result.
        handle: a new tensor without a version.
    """
    a = first._value
    if a is None or first._context is not context or first._storage is not None:
        a = context.value_of(first)
    a.uses += 1
    node = _new(Node)
    if second is None:
        node.operands = (a,)
    else:
        b = second._value
        if b is None or second._context is not context or second._storage is not None:
            b = context.value_of(second)
        b.uses += 1
        node.operands = (a, b)
    # The caller's caller is the user's line, unless the operator was reached from inside.
    frame = _getframe(2)
    code = frame.f_code
    node.where = (
        (code, frame.f_lasti) if code is _last[0] or is_user_code(code, _last) else caller()
    )
    node.op = op
    node.attrs = NO_ATTRS
    node.types = types
    node.type = handle._type = types[0]
    node.region = context.region
    node.payload = node._outputs = handle._storage = None
    node.uses = 0
    handle._value = node
    handle._context = context
    node.handles = reference = ref(handle)
    context._recorded += 1
    pending = context.pending
    pending.append(reference)
    if len(pending) >= context._compact_at:
        context._compact()
    if context.node_budget is not None and context._recorded > context.node_budget:
        context._over_budget(handle)


_last: Final[list[Any]] = [None]
"""The user's code object met last: loops record from the same one again and again."""
