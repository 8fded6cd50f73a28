"""Integer truth: the ops on Python's own integers, wrapped to the width of the dtype at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from realta.types import DType

from realta_conformance.formats import Array

__all__ = ["INTEGER_OPS", "WIDTH_OPS", "exact_ints", "integer_result", "limits", "wrap"]


def limits(dtype: DType) -> tuple[int, int]:
    """Smallest and largest value of an integer dtype."""
    if dtype.kind == "uint":
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def exact_ints(array: Array) -> Array:
    """An integer or boolean array as Python ints that never overflow."""
    out = np.empty(array.shape, object)
    out.ravel()[:] = [int(v) for v in array.ravel().tolist()]
    if array.ndim:
        return out
    return np.array(int(array), object)


def wrap(dtype: DType, values: Array) -> Array:
    """Python ints modulo two to the width, as an array of the dtype."""
    low = limits(dtype)[0]
    span = 2**dtype.bits
    flat = [(int(v) - low) % span + low for v in np.asarray(values, object).ravel()]
    return np.array(flat, dtype.numpy).reshape(np.shape(values))


def _sign(x: int) -> int:
    return (x > 0) - (x < 0)


def _floor_div(x: int, y: int) -> int:
    return x // y if y else 0


def _mod(x: int, y: int) -> int:
    return x % y if y else 0


def _pow(x: int, y: int, span: int) -> int:
    if y >= 0:
        return pow(x, y, span)
    if x == 1:
        return 1
    return (1 if y % 2 == 0 else -1) if x == -1 else 0


def _shift_left(x: int, y: int, bits: int) -> int:
    return x << y if 0 <= y < bits else 0


def _shift_right(x: int, y: int, bits: int) -> int:
    if y < 0:
        return 0
    return x >> min(y, bits)


INTEGER_OPS: Final[Mapping[str, Callable[..., int]]] = {
    "neg": lambda x: -x, "abs": abs, "sign": _sign, "floor": int, "ceil": int, "trunc": int,
    "round": int, "bitwise_not": lambda x: ~x, "square": lambda x: x * x,
    "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y,
    "floor_div": _floor_div, "mod": _mod, "maximum": max, "minimum": min,
    "bitwise_and": lambda x, y: x & y, "bitwise_or": lambda x, y: x | y,
    "bitwise_xor": lambda x, y: x ^ y, "equal": lambda x, y: x == y,
    "not_equal": lambda x, y: x != y, "less": lambda x, y: x < y,
    "less_equal": lambda x, y: x <= y, "greater": lambda x, y: x > y,
    "greater_equal": lambda x, y: x >= y, "relu": lambda x: max(x, 0),
    "clip": lambda x, low, high: min(max(x, low), high), "select": lambda c, x, y: x if c else y,
    "logical_not": lambda x: not x, "signbit": lambda x: x < 0,
    "is_nan": lambda x: False, "is_inf": lambda x: False, "is_finite": lambda x: True,
}  # fmt: skip
"""Elementwise ops by name on Python ints."""
WIDTH_OPS: Final[Mapping[str, Callable[[int, int, DType], int]]] = {
    "pow": lambda x, y, dtype: _pow(x, y, 2**dtype.bits),
    "shift_left": lambda x, y, dtype: _shift_left(x, y, dtype.bits),
    "shift_right": lambda x, y, dtype: _shift_right(x, y, dtype.bits),
}
"""Those whose result depends on the width."""
_BOOLEAN: Final[Mapping[str, Callable[..., bool]]] = {
    "add": lambda x, y: x or y,
    "mul": lambda x, y: x and y,
    "bitwise_not": lambda x: not x,
}


def integer_result(name: str, operands: tuple[Array, ...], operand: DType, result: DType) -> Array:
    """An elementwise op on integer or boolean arrays, as an array of the result's dtype."""
    table: Mapping[str, Any] = INTEGER_OPS
    function = table.get(name)
    if operand.kind == "bool" and name in _BOOLEAN:
        function = _BOOLEAN[name]
    if name in WIDTH_OPS:
        by_width = WIDTH_OPS[name]
        function = lambda x, y: by_width(x, y, operand)  # noqa: E731
    if function is None:
        raise KeyError(name)
    flat = [exact_ints(x).ravel().tolist() for x in np.broadcast_arrays(*operands)]
    values = [function(*row) for row in zip(*flat, strict=True)]
    shape = np.broadcast_shapes(*[x.shape for x in operands])
    if result.kind == "bool":
        return np.array(values, bool).reshape(shape)
    return wrap(result, np.array([*values, None], object)[:-1].reshape(shape))
