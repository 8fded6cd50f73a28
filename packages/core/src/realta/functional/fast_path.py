"""Fast path: pointwise calls on tensors that fit as they are meet their compiled call, or one node.

Where nothing has to be promoted, broadcast or moved, a call is either one lookup and one call of
what the device gave as ``direct``, or one recorded node. Results are bit for bit those of the
general path; `set_fast_path` turns this off.

The two functions build their results by hand and share no helper for it: a Python call is a tenth
of what an eager op costs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

from realta import runtime
from realta.context import current, record_fitting
from realta.functional.numbers import NumberOperand
from realta.functional.operation import fast_path_enabled, new_memo
from realta.graph import Graph, Input, Node
from realta.ops import NO_ATTRS, OpDef
from realta.runtime import Storage
from realta.runtime.deferred import filled
from realta.runtime.wrappers import execute_wrappers
from realta.tensor import Tensor
from realta.types import TensorType

__all__ = ["by_name", "fast_binary", "fast_unary"]

Function = Callable[..., Any]
_new_tensor: Final = partial(object.__new__, Tensor)  # cheaper than the call itself
_get_context: Final = current.get
_EXACT: Final = 1 << 53


def _learn(op: OpDef, type_: TensorType, memo: dict[Any, Any], result: Any) -> Any:
    """Remembers the direct call for operands of one type, or that there is none; gives the result.

    Args:
        op: the op.
        type_: type of every operand.
        memo: where it is remembered.
        result: what the general path made of such operands.
    """
    if execute_wrappers or not fast_path_enabled():
        return result  # the general path tells whoever watches
    memo[type_] = None
    if type_.dtype not in op.dtypes or not type_.is_static:
        return result
    inputs = [Input(type_, name) for name in op.operands]
    node = Node(op, tuple(inputs))
    program = runtime.program_for(Graph(op.name, inputs, (node,)), runtime.Options(name=op.name))
    if program.direct is not None:
        bare, first = _taken_apart(program.bare or program.direct)
        device = program.device
        counted = program.launches if device.counting else 0
        memo[type_] = (bare, first, program.direct, program.output_types[0], device, counted)
    return result


def _taken_apart(call: Function) -> tuple[Function, Any]:
    """A function and its first argument, None if it has none: a partial costs more than both."""
    if isinstance(call, partial) and len(call.args) == 1 and not call.keywords:
        return call.func, call.args[0]
    return call, None


def _result_types(op: OpDef, type_: TensorType, memo: dict[Any, Any]) -> Any:
    """The result types for operands of one type; None where the general path has work to do."""
    if type_.dtype not in op.dtypes:
        return None
    found = memo[type_] = op.result_types((type_,) * len(op.operands), NO_ATTRS)
    return found


def _is_plain(value: Any) -> bool:
    """Whether a value is a number that every float dtype takes without a check."""
    kind = value.__class__
    return kind is float or (kind is int and -_EXACT < value < _EXACT)


def _named(call: Function, general: Function) -> Function:
    """A function under the name and with the documentation and the signature of another."""
    call.__name__ = call.__qualname__ = general.__name__
    call.__doc__ = general.__doc__
    call.__wrapped__ = general  # type: ignore[attr-defined]
    return call


def by_name(fast: Function, general: Function, names: tuple[str, ...]) -> Function:
    """A function whose operands may be named: by place the fast one, else the general one.

    Operators need no names, and are spared the call.

    Args:
        fast: takes the operands by place.
        general: takes them in any way, and says what is wrong with others.
        names: of the operands.
    """
    count = len(names)

    def call(*given: Any, **named: Any) -> Any:
        if not named and len(given) == count:
            return fast(*given)
        placed = list(given)
        for name in names[len(given) :]:
            if name not in named:
                break
            placed.append(named.pop(name))
        return general(*placed, **named)

    return _named(call, general)


def fast_binary(op: OpDef, general: Function) -> Function:
    """A function of two tensors: the fast way where it applies, else ``general``.

    Args:
        op: an elementwise op of two operands without attributes.
        general: the function for all other arguments.
    """
    eager, traced = new_memo(), new_memo()

    def call(x: Any, y: Any, /) -> Any:
        context = _get_context()
        try:
            type_ = x._type
        except AttributeError:  # not a tensor
            return general(x, y)
        if y.__class__ is not Tensor or y._type is not type_:
            if context is not None and _is_plain(y):
                types = traced.get(type_) or _result_types(op, type_, traced)
                if types is not None and type_.dtype.kind == "float":
                    number = NumberOperand(context, y, type_)
                    result = _new_tensor()
                    record_fitting(context, op, x, number, types, result)
                    number.place(result._value.where)
                    return result
            return general(x, y)
        if context is None:
            if (found := eager.get(type_)) is not None:
                bare, first, direct, result_type, device, launches = found
                a, b = x._held, y._held
                if first is not None:
                    # A function of arrays: host memory is taken as it is shown.
                    if a.__class__ is Storage:
                        a = a.shown() if a.array is None else a.array
                    if b.__class__ is Storage:
                        b = b.shown() if b.array is None else b.array
                else:
                    # An unfinished launch may hold an error, which the general path raises.
                    if a.__class__ is Storage:
                        bare = bare if a.block is None else direct
                        a = a.handle if a.launch is None else filled(a)
                    if b.__class__ is Storage:
                        bare = bare if b.block is None else direct
                        b = b.handle if b.launch is None else filled(b)
                if a is not None and b is not None:
                    result = _new_tensor()
                    try:
                        result._held = bare(a, b) if first is None else bare(first, a, b)
                    except RuntimeError:  # another thread is in it
                        result._held = direct(a, b)
                    result._type = result_type
                    result._value = result._context = None
                    if launches:
                        device.launched += launches
                    return result
            result = general(x, y)
            return result if type_ in eager else _learn(op, type_, eager, result)
        types = traced.get(type_) or _result_types(op, type_, traced)
        if types is None:
            return general(x, y)
        result = _new_tensor()
        record_fitting(context, op, x, y, types, result)
        return result

    return _named(call, general)


def fast_unary(op: OpDef, general: Function) -> Function:
    """A function of one tensor: the fast way where it applies, else ``general``.

    Args:
        op: an elementwise op of one operand without attributes.
        general: the function for all other arguments.
    """
    eager, traced = new_memo(), new_memo()

    def call(x: Any, /) -> Any:
        if x.__class__ is not Tensor:
            return general(x)
        type_ = x._type
        context = _get_context()
        if context is None:
            if (found := eager.get(type_)) is not None:
                bare, first, direct, result_type, device, launches = found
                a = x._held
                if a.__class__ is Storage:
                    if first is not None:
                        a = a.shown() if a.array is None else a.array
                    else:
                        bare = bare if a.block is None else direct
                        a = a.handle if a.launch is None else filled(a)
                if a is not None:
                    result = _new_tensor()
                    try:
                        result._held = bare(a) if first is None else bare(first, a)
                    except RuntimeError:  # another thread is in it
                        result._held = direct(a)
                    result._type = result_type
                    result._value = result._context = None
                    if launches:
                        device.launched += launches
                    return result
            elif type_ not in eager:
                return _learn(op, type_, eager, general(x))
            return general(x)
        types = traced.get(type_) or _result_types(op, type_, traced)
        if types is None:
            return general(x)
        result = _new_tensor()
        record_fitting(context, op, x, None, types, result)
        return result

    return _named(call, general)
