"""Dependence: what a function's trace depends on, as a key, and the tensors it can reach.

Two calls with equal keys record the same, apart from which tensors they read. What cannot be
compared by value makes a key that equals no other.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from realta.plugins import Device
from realta.tensor import Tensor
from realta.types import Dim, DType, TensorType

__all__ = ["Dependence"]

_PLAIN: Final = (type(None), bool, int, str, bytes, complex, type(...), slice)
_FIXED: Final = (
    type, types.ModuleType, types.BuiltinFunctionType, types.MethodDescriptorType,
    types.WrapperDescriptorType, np.ufunc,
)  # fmt: skip
"""Things that are what they are for as long as a program runs; compared by identity."""
_OWN: Final = "realta."
"""Functions of this library are fixed as well; what they remember is no part of what they do."""


class Dependence:
    """Collects what functions and values depend on; walks everything they refer to.

    Attributes:
        parts: the key so far; hashable.
        tensors: the tensors found, each once, in order.
        kept: what is compared by identity; whoever keeps the key must keep it too.
    """

    def __init__(self) -> None:
        self.parts: list[Any] = []
        self.tensors: list[Tensor] = []
        self.kept: list[Any] = []
        self._tensors: dict[int, int] = {}
        self._seen: dict[int, int] = {}
        self._walked: list[Any] = []  # so that no number of an object becomes another's meanwhile
        self._stack: list[Any] = []

    @property
    def key(self) -> tuple[Any, ...]:
        """Equal for calls that record the same."""
        return tuple(self.parts)

    def add(self, value: Any) -> None:
        """Adds a value and everything it refers to."""
        stack = self._stack
        stack.append(value)
        while stack:
            self._visit(stack.pop())

    def _visit(self, value: Any) -> None:
        kind = type(value)
        if isinstance(value, Tensor):
            number = self._tensors.setdefault(id(value), len(self.tensors))
            if number == len(self.tensors):
                self.tensors.append(value)
            self.parts.append((Tensor, number, value._type))
        elif kind in _PLAIN:
            self.parts.append((kind, repr(value) if kind in (slice, complex) else value))
        elif kind is float:
            self.parts.append((float, value.hex()))  # tells -0 from 0, and NaN is itself
        elif isinstance(value, (DType, Device, enum.Enum, TensorType, Dim)):
            self.parts.append((kind, str(value) if kind is Dim else value))
        elif isinstance(value, (np.ndarray, np.generic)):
            array = np.asarray(value)
            self.parts.append((kind, array.dtype.str, array.shape, array.tobytes()))
        elif kind in (tuple, list):
            self._children(kind, len(value), value)
        elif kind is dict:
            pairs = [item for pair in value.items() for item in pair]
            self._children(kind, len(value), pairs)
        else:
            self._visit_object(value)

    def _visit_object(self, value: Any) -> None:
        known = self._seen.get(id(value))
        if known is not None:
            self.parts.append(("again", known))  # also what refers to itself
            return
        self._seen[id(value)] = len(self._seen)
        self._walked.append(value)
        if isinstance(value, _FIXED):
            self._fixed(value)
        elif isinstance(value, types.FunctionType):
            self._visit_function(value)
        elif isinstance(value, types.MethodType):
            self._children(types.MethodType, 2, (value.__func__, value.__self__))
        elif isinstance(value, functools.partial):
            self._children(functools.partial, 3, (value.func, value.args, value.keywords))
        else:
            self._visit_instance(value)

    def _fixed(self, value: Any) -> None:
        self.kept.append(value)
        self.parts.append((type(value), id(value)))

    def _visit_function(self, function: Any) -> None:
        if (function.__module__ or "").startswith(_OWN):
            self._fixed(function)
            return
        code = function.__code__
        self.kept.append(code)
        cells = [_content(cell) for cell in function.__closure__ or ()]
        found = [(n, function.__globals__[n]) for n in _names(code) if n in function.__globals__]
        children = (cells, function.__defaults__, function.__kwdefaults__, *found)
        self._children(types.FunctionType, id(code), children)

    def _visit_instance(self, value: Any) -> None:
        kind = type(value)
        self.kept.append(kind)
        attributes: dict[str, Any] = dict(getattr(value, "__dict__", {}))
        for base in kind.__mro__:
            slots = base.__dict__.get("__slots__", ())
            for name in (slots,) if isinstance(slots, str) else slots:
                if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                    attributes[name] = getattr(value, name)
        if not attributes and not hasattr(value, "__dict__"):
            self.parts.append(object())  # opaque: it equals nothing
            return
        forward = [kind.forward] if isinstance(getattr(kind, "forward", None), _FUNCTIONS) else []
        pairs = [item for pair in attributes.items() for item in pair]
        self._children(id(kind), len(attributes), [*pairs, *forward])

    def _children(self, kind: Any, count: int, values: Iterable[Any]) -> None:
        self.parts.append((kind, count))
        self._stack.extend(reversed(list(values)))


_FUNCTIONS: Final = (types.FunctionType,)
_EMPTY_CELL: Final = "an empty cell"


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _EMPTY_CELL


def _names(code: types.CodeType) -> list[str]:
    """The global names that a function and those inside it may read, in order."""
    found: dict[str, None] = {}
    stack = [code]
    while stack:
        part = stack.pop()
        found.update(dict.fromkeys(part.co_names))
        stack += [constant for constant in part.co_consts if isinstance(constant, types.CodeType)]
    return list(found)
