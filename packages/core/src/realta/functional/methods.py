"""Methods: attaches functions and operators to Tensor, so that a function is written once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.functional import movement
from realta.functional.fast_binary import fast_binary
from realta.functional.indexing import getitem, setitem
from realta.graph import Value
from realta.tensor import Tensor
from realta.types import is_weak

__all__ = ["attach_methods", "attach_operators"]

_BINARY: Final = {
    "add": "add", "sub": "sub", "mul": "mul", "truediv": "div", "floordiv": "floor_div",
    "mod": "mod", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "shift_left", "rshift": "shift_right",
}  # fmt: skip
_COMPARISON: Final = {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater",
    "ge": "greater_equal",
}  # fmt: skip
_UNARY: Final = {"neg": "neg", "abs": "abs", "invert": "bitwise_not"}
_METHODS: Final = (
    "abs", "all", "any", "argmax", "argmin", "argsort", "broadcast_to", "cast", "ceil", "chunk",
    "clip", "cumprod", "cumsum", "exp", "flatten", "flip", "floor", "gather", "log", "logsumexp",
    "matmul", "max", "mean", "min", "moveaxis", "neg", "permute", "prod", "relu", "reshape",
    "roll", "round", "rsqrt", "sigmoid", "sign", "silu", "softmax", "sort", "split", "sqrt",
    "square", "squeeze", "std", "sum", "take", "tanh", "tile", "to", "top_k", "transpose", "tril",
    "triu", "trunc", "unsqueeze", "var",
)  # fmt: skip
"""Functions whose first argument is the tensor and that are methods under the same name."""


def _operand(value: Any) -> bool:
    return isinstance(value, (Tensor, Value, np.ndarray, np.generic)) or is_weak(value)


def _operator(name: str, function: Callable[..., Any], dunder: str, reflected: bool) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not _operand(other):
            return NotImplemented
        return function(other, self) if reflected else function(self, other)

    method.__name__ = method.__qualname__ = dunder
    method.__doc__ = f"``{name}`` as an operator."
    return method


def _comparison(name: str, function: Callable[..., Any], dunder: str) -> Any:
    def method(self: Any, other: Any) -> Any:
        return function(self, other) if _operand(other) else NotImplemented

    method.__name__ = method.__qualname__ = dunder
    method.__doc__ = f"``{name}`` as an operator."
    return method


def attach_operators(functions: dict[str, Callable[..., Any]]) -> None:
    """Gives Tensor, and graph values where identity does not matter, Python's operators."""
    for dunder, name in _BINARY.items():
        function = functions[name]
        plain = _operator(name, function, f"__{dunder}__", reflected=False)
        setattr(Tensor, f"__{dunder}__", fast_binary(name, plain))
        setattr(Value, f"__{dunder}__", plain)
        turned = _operator(name, function, f"__r{dunder}__", reflected=True)
        setattr(Tensor, f"__r{dunder}__", turned)
        setattr(Value, f"__r{dunder}__", turned)
    for dunder, name in _COMPARISON.items():
        setattr(Tensor, f"__{dunder}__", _comparison(name, functions[name], f"__{dunder}__"))
    for dunder, name in _UNARY.items():
        function = functions[name]
        setattr(Tensor, f"__{dunder}__", _unary(function))
        setattr(Value, f"__{dunder}__", _unary(function))
    matmul = functions["matmul"]
    for owner in (Tensor, Value):
        owner.__matmul__ = _operator("matmul", matmul, "__matmul__", reflected=False)  # type: ignore[attr-defined]
        owner.__rmatmul__ = _operator("matmul", matmul, "__rmatmul__", reflected=True)  # type: ignore[attr-defined]
    Tensor.__divmod__ = lambda self, other: functions["divmod"](self, other)  # type: ignore[attr-defined]
    Tensor.__rdivmod__ = lambda self, other: functions["divmod"](other, self)  # type: ignore[attr-defined]
    Tensor.__pos__ = lambda self: functions["pos"](self)  # type: ignore[attr-defined]
    Tensor.__getitem__ = getitem  # type: ignore[attr-defined]
    Tensor.__setitem__ = setitem  # type: ignore[attr-defined]


def _unary(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: function(self)


def attach_methods(functions: dict[str, Callable[..., Any]]) -> None:
    """Gives Tensor the methods of `_METHODS` and the transposing properties."""
    for name in _METHODS:
        function = functions[name]
        setattr(Tensor, name, function)
    Tensor.T = property(_transposed, doc="The last two axes exchanged.")  # type: ignore[attr-defined]
    Tensor.mT = property(movement.matrix_transpose, doc="The last two axes exchanged.")  # type: ignore[attr-defined]
    Value.tensor = property(Tensor.from_graph_value, doc="The tensor that names it.")  # type: ignore[attr-defined]


def _transposed(tensor: Tensor) -> Tensor:
    return (
        movement.transpose(tensor)
        if tensor.rank > 1
        else movement.permute(tensor, list(range(tensor.rank)))
    )
