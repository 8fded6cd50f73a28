"""Fast binary operators: two tensors of known types meet their compiled call, or record at once.

Where nothing has to be promoted, broadcast or moved, a binary operator is either one lookup and
one call of what the device gave as ``direct``, or one recorded node. Results are bit for bit those
of the general path; `set_fast_path` turns this off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from realta.context import current, record_pair
from realta.functional.operation import fast_path_enabled, new_memo
from realta.graph import Graph, Input, Node
from realta.ops import NO_ATTRS, get_op
from realta.runtime import Options, Storage, program_for
from realta.tensor import Tensor

__all__ = ["fast_binary"]

_new = object.__new__


def fast_binary(name: str, general: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The operator of a binary op: the fast way where it applies, else ``general``."""
    op = get_op(name)
    eager = new_memo()
    traced = new_memo()
    get_context = current.get

    def method(self: Tensor, other: Any) -> Any:
        if other.__class__ is not Tensor:
            return general(self, other)
        context = get_context()
        if context is None:
            call = eager.get((self._type, other._type))
            if call is not None:
                a = self._storage
                b = other._storage
                # An unfinished launch may hold an error, which the general path raises.
                if a is not None and b is not None and a.launch is None and b.launch is None:
                    direct, type_, device, launches = call
                    storage = _new(Storage)
                    storage.device = device
                    storage.handle = direct(a.handle, b.handle)
                    storage.type = type_
                    storage.block = storage.launch = None
                    device.launches += launches
                    result = _new(Tensor)
                    result._type = type_
                    result._storage = storage
                    result._value = result._context = None
                    return result
            elif (self._type, other._type) not in eager and self._type is other._type:
                result = general(self, other)
                _learn(eager, self._type)
                return result
            return general(self, other)
        if self._type is other._type:
            types = traced.get(self._type)
            if types is None:
                if not _plain(self._type):
                    return general(self, other)
                types = traced[self._type] = op.result_types((self._type, self._type), NO_ATTRS)
            result = _new(Tensor)
            record_pair(context, op, self, other, types, result)
            return result
        return general(self, other)

    def _plain(type_: Any) -> bool:
        return type_.dtype in op.dtypes

    def _learn(memo: dict[Any, Any], type_: Any) -> None:
        """Remembers the direct call for operands of one type, or that there is none."""
        memo[type_, type_] = None
        if not fast_path_enabled() or not _plain(type_) or not type_.is_static:
            memo.pop((type_, type_))
            return
        first, second = Input(type_, "x"), Input(type_, "y")
        node = Node(op, (first, second))
        program = program_for(Graph(op.name, (first, second), (node,)), Options(name=op.name))
        if program.direct is not None:
            memo[type_, type_] = (program.direct, node.type, program.device, program.launches)

    method.__name__ = method.__qualname__ = general.__name__
    method.__doc__ = general.__doc__
    return method
