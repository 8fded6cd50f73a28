"""Members: names of the operators and methods that `realta.functional` gives to tensors.

Importing the library must stay cheap, so the functions come with the first of them that is called:
until then each name stands for a member that brings them all.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

from realta.context import caller_location
from realta.errors import MissingAttribute
from realta.graph import Value
from realta.tensor.habits import METHOD_HABITS
from realta.tensor.tensor import Tensor

__all__ = ["BINARY", "COMPARISON", "METHODS", "UNARY", "Habit", "promise"]

BINARY: Final[Mapping[str, str]] = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_div",
    "mod": "mod", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "shift_left", "rshift": "shift_right", "matmul": "matmul", "divmod": "divmod",
}  # fmt: skip
"""By operator, its function; there is a reflected one for each."""
COMPARISON: Final[Mapping[str, str]] = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip
UNARY: Final[Mapping[str, str]] = {
    "neg": "neg", "abs": "abs", "invert": "bitwise_not", "pos": "pos"
}  # fmt: skip
METHODS: Final = (
    "abs", "all", "any", "argmax", "argmin", "argsort", "broadcast_to", "cast", "ceil", "chunk",
    "clip", "cumprod", "cumsum", "exp", "flatten", "flip", "floor", "gather", "log", "logsumexp",
    "matmul", "max", "mean", "min", "moveaxis", "neg", "permute", "prod", "relu", "reshape",
    "roll", "round", "rsqrt", "sigmoid", "sign", "silu", "softmax", "sort", "split", "sqrt",
    "square", "squeeze", "std", "sum", "take", "tanh", "tile", "to", "top_k", "transpose", "tril",
    "triu", "trunc", "unsqueeze", "var",
)  # fmt: skip
"""Functions whose first argument is the tensor and that are methods under the same name."""
CLASS_MEMBERS: Final = (
    "arange", "from_dim", "from_dlpack", "full", "full_like", "ones", "ones_like", "range_like",
    "zeros", "zeros_like",
)  # fmt: skip
"""Functions that make tensors, as ``Tensor.zeros`` and the like."""
_PROPERTIES: Final = ("T", "mT")


def _bring(owner: type, name: str, promised: Any) -> Any:
    """The member itself, after `realta.functional` has put it in place."""
    importlib.import_module("realta.functional")
    found = owner.__dict__[name]
    if found is promised:
        raise AttributeError(f"{owner.__name__}.{name} is used while its function is imported")
    return found


def _method(owner: type, name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _bring(owner, name, method)(self, *args, **kwargs)

    method.__name__ = name
    method.__qualname__ = f"{owner.__name__}.{name}"
    return method


def _static(owner: type, name: str) -> staticmethod[..., Any]:
    def function(*args: Any, **kwargs: Any) -> Any:
        return _bring(owner, name, made).__func__(*args, **kwargs)

    made = staticmethod(function)
    return made


def _property(owner: type, name: str) -> property:
    def read(self: Any) -> Any:
        return _bring(owner, name, made).__get__(self)

    made = property(read)
    return made


class Habit:
    """An attribute that tensors do not have. Costs nothing where it is not asked for.

    A ``__getattr__`` would do the same in one place, but with one in the class the interpreter
    looks up every attribute of every tensor the slow way.
    """

    __slots__ = ("fix", "name")

    def __init__(self, name: str, fix: str) -> None:
        self.name = name
        self.fix = fix

    def __get__(self, tensor: Any, owner: Any) -> Any:
        if tensor is None:
            return self
        raise MissingAttribute(
            f"a tensor has no {self.name!r}", where=str(caller_location()), fix=self.fix
        )


def _operators() -> list[str]:
    both = [f"__{r}{name}__" for name in BINARY for r in ("", "r")]
    return both + [f"__{name}__" for name in UNARY]


def promise() -> None:
    """Puts the names in place, on tensors and on the values of graphs."""
    operators = _operators()
    for name in operators:
        setattr(Value, name, _method(Value, name))
    compared = [f"__{name}__" for name in COMPARISON]
    for name in (*operators, *compared, *METHODS, "__getitem__", "__setitem__"):
        setattr(Tensor, name, _method(Tensor, name))
    for name in CLASS_MEMBERS:
        setattr(Tensor, name, _static(Tensor, name))
    for name in _PROPERTIES:
        setattr(Tensor, name, _property(Tensor, name))
    for name, fix in METHOD_HABITS.items():
        setattr(Tensor, name, Habit(name, fix))
