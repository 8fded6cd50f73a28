"""Methods: attaches functions and operators to Tensor, so that a function is written once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from realta.functional import class_members, movement
from realta.functional.fast_path import fast_binary
from realta.functional.indexing import getitem, setitem
from realta.functional.operation import movement as as_movement
from realta.functional.special import pos
from realta.graph import Value
from realta.ops import get_op
from realta.tensor import Tensor
from realta.tensor.members import BINARY, CLASS_MEMBERS, COMPARISON, METHODS, UNARY
from realta.types import is_weak

__all__ = ["attach"]

Function = Callable[..., Any]


def _operand(value: Any) -> bool:
    return isinstance(value, (Tensor, Value, np.ndarray, np.generic)) or is_weak(value)


def _operator(function: Function, dunder: str, *, reflected: bool = False) -> Function:
    def method(self: Any, other: Any) -> Any:
        if not _operand(other):
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    method.__name__ = method.__qualname__ = dunder
    method.__doc__ = f"``{function.__name__}`` as an operator."
    return method


def _prefix(function: Function) -> Function:
    return lambda self: function(self)


def _transposed(tensor: Tensor) -> Tensor:
    """The last two axes exchanged; the tensor itself if it has fewer."""
    return movement.matrix_transpose(tensor) if tensor.rank > 1 else pos(tensor)


def attach(functions: Mapping[str, Function]) -> None:
    """Gives Tensor its operators and methods, and graph values the operators.

    Graph values keep Python's comparison, since graphs look them up by identity.
    """
    tensor: dict[str, Any] = {name: functions[name] for name in METHODS}
    value: dict[str, Any] = {}
    for dunder, name in BINARY.items():
        plain = _operator(functions[name], f"__{dunder}__")
        value[f"__{dunder}__"] = plain
        value[f"__r{dunder}__"] = _operator(functions[name], f"__r{dunder}__", reflected=True)
    for dunder, name in UNARY.items():
        value[f"__{dunder}__"] = _prefix(functions[name])
    tensor.update(value)
    for dunder, name in BINARY.items():
        if name not in ("matmul", "divmod"):
            tensor[f"__{dunder}__"] = fast_binary(get_op(name), value[f"__{dunder}__"])
    for dunder, name in COMPARISON.items():
        tensor[f"__{dunder}__"] = _operator(functions[name], f"__{dunder}__")
    tensor["__getitem__"], tensor["__setitem__"] = getitem, setitem
    tensor["T"] = property(
        as_movement(_transposed, name="T"), doc="The last two axes exchanged, if there are two."
    )
    tensor["mT"] = property(movement.matrix_transpose, doc="The last two axes exchanged.")
    for name in CLASS_MEMBERS:
        tensor[name] = staticmethod(getattr(class_members, name))
    value["tensor"] = property(Tensor.from_graph_value, doc="The tensor that names it.")
    for owner, members in ((Tensor, tensor), (Value, value)):
        for name, member in members.items():
            setattr(owner, name, member)
