"""Instructions: for each scalar instruction and dtype, the function that applies it to whole tiles.

The one place that says how this device computes an elementwise op: op by op, fused, eager and
compiled code all call these functions, so they all give the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from math import prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.graph import Node
from realta.types import DType, bfloat16, float16, float64

from realta_numpy import float_functions, integer_functions, registers

__all__ = ["Instruction", "elementwise_names", "extreme_of_number", "instruction_of"]


@dataclass(frozen=True, slots=True)
class Instruction:
    """A function on registers, called as ``function(*operands, out=register)``.

    Args:
        name: identifier of the function in generated source.
        function: NumPy's ufunc or one of ours.
        exact: its results on values of a half type are values of that type, so nothing is to be
        rounded.
    """

    name: str
    function: Callable[..., Any]
    exact: bool = False

    @property
    def reuses(self) -> bool:
        """Whether the result may be written over an operand of the same dtype and shape."""
        return isinstance(self.function, np.ufunc)


def _copy(x: Any, out: Any) -> None:
    np.copyto(out, x)


def _select_bool(condition: Any, x: Any, y: Any, out: Any) -> None:
    np.copyto(out, np.where(condition, x, y))


_F = float_functions
_I = integer_functions
_EXACT_FLOAT: Final[Mapping[str, Callable[..., Any]]] = {
    "neg": np.negative, "abs": np.absolute, "sign": np.sign, "floor": np.floor, "ceil": np.ceil,
    "trunc": np.trunc, "round": np.rint, "maximum": _F.maximum, "minimum": _F.minimum,
    "copysign": np.copysign, "select": _F.select,
}  # fmt: skip
_ROUNDED_FLOAT: Final[Mapping[str, Callable[..., Any]]] = {
    "sqrt": np.sqrt, "rsqrt": _F.rsqrt, "exp": np.exp, "expm1": np.expm1, "log": _F.log,
    "log1p": np.log1p, "log2": np.log2, "log10": np.log10, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "sinh": np.sinh,
    "cosh": np.cosh, "tanh": np.tanh, "asinh": np.arcsinh, "acosh": np.arccosh,
    "atanh": np.arctanh, "erf": _F.erf, "add": np.add, "sub": np.subtract, "mul": np.multiply,
    "div": np.divide, "floor_div": np.floor_divide, "mod": np.remainder, "pow": _F.power,
    "atan2": np.arctan2, "hypot": np.hypot, "nextafter": np.nextafter, "logaddexp": np.logaddexp,
    "sigmoid": _F.sigmoid,
}  # fmt: skip
_FLOAT_TESTS: Final[Mapping[str, Callable[..., Any]]] = {
    "is_nan": np.isnan, "is_inf": np.isinf, "is_finite": np.isfinite, "signbit": np.signbit,
}  # fmt: skip
_COMPARISONS: Final[Mapping[str, Callable[..., Any]]] = {
    "equal": np.equal, "not_equal": np.not_equal, "less": np.less, "less_equal": np.less_equal,
    "greater": np.greater, "greater_equal": np.greater_equal,
}  # fmt: skip
_INTEGER: Final[Mapping[str, Callable[..., Any]]] = {
    "neg": np.negative, "abs": np.absolute, "sign": np.sign, "add": np.add, "sub": np.subtract,
    "mul": np.multiply, "floor_div": np.floor_divide, "mod": np.remainder, "pow": _I.power,
    "maximum": np.maximum, "minimum": np.minimum, "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor, "bitwise_not": np.invert,
    "shift_left": np.left_shift, "shift_right": _I.shift_right, "select": _F.select,
    "logical_not": np.logical_not,
}  # fmt: skip
_BOOL: Final[Mapping[str, Callable[..., Any]]] = {
    "add": np.logical_or, "mul": np.logical_and, "maximum": np.logical_or,
    "minimum": np.logical_and, "bitwise_and": np.logical_and, "bitwise_or": np.logical_or,
    "bitwise_xor": np.logical_xor, "bitwise_not": np.logical_not, "logical_not": np.logical_not,
    "select": _select_bool,
}  # fmt: skip

_TABLES: Final[Mapping[str, Mapping[str, Callable[..., Any]]]] = {
    "float": {**_ROUNDED_FLOAT, **_EXACT_FLOAT, **_FLOAT_TESTS, **_COMPARISONS},
    "int": {**_INTEGER, **_COMPARISONS},
    "uint": {**_INTEGER, **_COMPARISONS},
    "bool": {**_BOOL, **_COMPARISONS},
}
_SPECIAL: Final[Mapping[tuple[str, DType], Callable[..., Any]]] = {
    ("log", float64): np.log,
    ("nextafter", float16): _F.nextafter_float16,
    ("nextafter", bfloat16): _F.nextafter_bfloat16,
}
_CLIP: Final = Instruction("clip", np._core.umath.clip, exact=True)  # type: ignore[attr-defined]
_ADD: Final = Instruction("add", np.add, exact=True)
_SMALL: Final = 4096
"""Up to this many elements the fewest calls are the fastest."""
_CONVERSIONS: Final = ("cast", "bitcast")


def elementwise_names() -> frozenset[str]:
    """The scalar instructions there are."""
    return frozenset(_CONVERSIONS).union(*_TABLES.values())


def instruction_of(node: Node) -> Instruction | None:
    """The instruction of an elementwise node; None if there is none for its dtype."""
    name = node.op.scalar
    data = node.operands[1 if name == "select" else 0].type.dtype
    if name in _CONVERSIONS:
        target = node.types[0].dtype
        if name == "bitcast":
            function: Callable[..., Any] = partial(_bitcast, source=data, target=target)
            return Instruction(f"bitcast_{data}_{target}", function, exact=True)
        if data is target:
            return Instruction("copy", _copy, exact=True)
        if data.is_float and target.is_integer:
            function = registers.truncation(registers.register_dtype(data), target.numpy)
        else:
            function = partial(_cast, source=data, target=target)
        return Instruction(f"cast_{data}_{target}", function, exact=True)
    found = _SPECIAL.get((name, data)) or _TABLES[data.kind].get(name)
    if found is None:
        return None
    exact = name in _EXACT_FLOAT or (name, data) in _SPECIAL
    if data.kind == "float":
        return Instruction(f"{name}_{data}" if (name, data) in _SPECIAL else name, found, exact)
    return Instruction(f"{name}_{data.kind}", found, exact=True)


def extreme_of_number(
    name: str, number: NDArray[Any], size: int
) -> tuple[tuple[Instruction, tuple[NDArray[Any], ...]], ...]:
    """Cheaper steps for the maximum or minimum of floats with one known finite number.

    Args:
        name: ``maximum`` or ``minimum``.
        number: the number, a 0-d array.
        size: elements of a tile.

    Returns:
        Instructions with their further operands; each is applied to the result of the one before.
        Empty if there is nothing cheaper.
    """
    largest = name == "maximum"
    if not np.isfinite(number) or (number == 0 and (not largest or np.signbit(number))):
        return ()
    infinity = np.array(np.inf if largest else -np.inf, number.dtype)
    if size <= _SMALL:
        ufunc = np.maximum if largest else np.minimum
        first: tuple[Instruction, tuple[NDArray[Any], ...]]
        first = Instruction(f"{name}_number", ufunc, exact=True), (number,)
    else:  # half the price of a maximum with a scalar
        first = _CLIP, (number, infinity) if largest else (infinity, number)
    # Of -0 and 0 NumPy takes either; -0 + 0 is 0, anything else stays.
    return (first,) if number != 0 else (first, (_ADD, (number,)))


@cache
def _takes_second_zero() -> bool:
    """Whether NumPy's loops over contiguous floats give the second of two equal zeros.

    x86 and Arm instructions do; asked once, since it decides bits.
    """
    for dtype in (np.float32, np.float64):
        for size in (*range(1, 70), 1025):
            minus = np.negative(np.zeros(size, dtype))
            zero = np.zeros(size, dtype)
            if np.signbit(np.maximum(minus, zero)).any():
                return False
            if not np.signbit(np.minimum(zero, minus)).all():
                return False
    return True


_NEVER_MINUS_ZERO: Final = frozenset({"abs", "exp"})


def never_minus_zero(value: Any) -> bool:
    """Whether a value that a node computes is never -0."""
    if not isinstance(value, Node):
        return False
    if value.op.name == "cast":
        return not value.operands[0].type.dtype.is_float
    return value.op.name in _NEVER_MINUS_ZERO


def plain_extreme(name: str, first: bool, second: bool) -> tuple[Instruction, bool] | None:
    """NumPy's own maximum or minimum of contiguous floats, where its choice of zeros is right.

    Args:
        name: ``maximum`` or ``minimum``.
        first: whether the first operand is never -0.
        second: whether the second is never -0.

    Returns:
        The instruction, and whether the operands are to be exchanged; None if it may choose wrong.
    """
    if not (first or second) or not _takes_second_zero():
        return None
    # Of two zeros the second is taken: for a maximum it must be the one that is never -0.
    largest = name == "maximum"
    ufunc = np.maximum if largest else np.minimum
    return Instruction(f"{name}_plain", ufunc, exact=True), not (second if largest else first)


@lru_cache(maxsize=16)
def _filled(number: bytes, dtype: np.dtype[Any], count: int) -> NDArray[Any]:
    found = np.full(count, np.frombuffer(number, dtype)[0])
    found.flags.writeable = False
    return found


def extreme_of_filled(
    name: str, number: NDArray[Any], tile: tuple[int, ...]
) -> tuple[Instruction, NDArray[Any]] | None:
    """The maximum or minimum of a contiguous tile with one known finite number, as one call.

    NumPy takes an array of equal numbers four times as fast as the number, and of two zeros that
    array's.

    Args:
        name: ``maximum`` or ``minimum``.
        number: the number, a 0-d array of the register's dtype.
        tile: extents of a whole tile.

    Returns:
        The instruction and its second operand; None where it could choose the wrong zero.
    """
    largest = name == "maximum"
    wrong_zero = number == 0 and bool(np.signbit(number)) is largest
    if wrong_zero or not np.isfinite(number) or not _takes_second_zero():
        return None
    filled = _filled(number.tobytes(), number.dtype, prod(tile)).reshape(tile)
    return Instruction(f"{name}_plain", np.maximum if largest else np.minimum, exact=True), filled


def _cast(x: Any, out: Any, source: DType, target: DType) -> None:
    registers.cast(x, source, target, out)


def _bitcast(x: Any, out: Any, source: DType, target: DType) -> None:
    bits = registers.narrow(np.ascontiguousarray(x), source).view(target.numpy)
    np.copyto(out, registers.widen(bits, target))
