"""Splats: values whose elements are all one known number."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.graph import Node, Value
from realta.types import DType

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["is_number", "splat"]

_REARRANGING: Final = frozenset({"broadcast", "reshape", "permute"})
_LONGEST_CHAIN: Final = 8


def splat(value: Value) -> NDArray[Any] | None:
    """The number that every element of a value is, as a 0-d array; None if not known."""
    for _ in range(_LONGEST_CHAIN):
        if not isinstance(value, Node):
            return None
        if value.op.name == "constant":
            array: NDArray[Any] = value.attrs["value"].array
            return array.reshape(()) if array.size == 1 else None
        if value.op.name not in _REARRANGING:
            return None
        value = value.operands[0]
    return None


def is_number(array: NDArray[Any], number: float | str | None, dtype: DType) -> bool:
    """Whether a 0-d array is a number of an op's algebra, bit for bit (-0 is not 0).

    ``lowest`` and ``highest`` are the ends of the dtype, infinities where it has them.
    """
    if number is None:
        return False
    if isinstance(number, str):
        number = _end(dtype, -1.0 if number == "lowest" else 1.0)
    return bool(array.tobytes() == np.asarray(number).astype(dtype.numpy).tobytes())


def _end(dtype: DType, sign: float) -> float:
    if dtype.is_float:
        return sign * float("inf")
    if dtype.kind == "bool":
        return sign > 0
    info = np.iinfo(dtype.numpy)
    return info.max if sign > 0 else info.min
