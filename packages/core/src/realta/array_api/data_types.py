"""Data types: what they can hold, how they combine, which kind they are of."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

import realta.functional as F
from realta.context import caller_location
from realta.errors import ArgumentError, DTypeError
from realta.plugins import current_dtype
from realta.records import Record
from realta.tensor import Tensor
from realta.types import DType, as_dtype, bool_, is_weak, promote_all, weak_dtype

__all__ = [
    "FloatInfo", "IntegerInfo", "astype", "can_cast", "finfo", "iinfo", "isdtype", "result_type",
]  # fmt: skip

KINDS: Final[Mapping[str, Callable[[DType], bool]]] = {
    "bool": lambda d: d is bool_,
    "signed integer": lambda d: d.kind == "int",
    "unsigned integer": lambda d: d.kind == "uint",
    "integral": lambda d: d.is_integer,
    "real floating": lambda d: d.is_float,
    "complex floating": lambda d: False,
    "numeric": lambda d: d is not bool_,
}
"""The standard's kinds; there are no complex dtypes in this version."""


class FloatInfo(Record):
    """The limits of a float dtype.

    Attributes:
        bits: width.
        eps: the distance of 1 to the next number.
        max: the largest finite number.
        min: the smallest finite number.
        smallest_normal: the smallest positive number of full precision.
        dtype: the dtype.
    """

    __slots__ = ("bits", "eps", "max", "min", "smallest_normal", "dtype")  # noqa: RUF023

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType

    def __init__(
        self,
        bits: int,
        eps: float,
        max: float,
        min: float,
        smallest_normal: float,
        dtype: DType,
    ) -> None:
        self._set(bits, eps, max, min, smallest_normal, dtype)


class IntegerInfo(Record):
    """The limits of an integer dtype: width, largest and smallest number."""

    __slots__ = ("bits", "max", "min", "dtype")  # noqa: RUF023  as arguments

    bits: int
    max: int
    min: int
    dtype: DType

    def __init__(self, bits: int, max: int, min: int, dtype: DType) -> None:
        self._set(bits, max, min, dtype)


def _dtype_of(value: Any) -> DType:
    return value.dtype if isinstance(value, Tensor) else as_dtype(value)


def _refused(name: str, dtype: DType, wanted: str) -> DTypeError:
    return DTypeError(
        f"{name} of {dtype}", where=f"{name} at {caller_location()}", fix=f"give {wanted} dtype"
    )


def finfo(type: Any, /) -> FloatInfo:
    """The limits of a float dtype, or of a tensor's.

    Raises:
        DTypeError: no float dtype.
    """
    dtype = _dtype_of(type)
    if not dtype.is_float:
        raise _refused("finfo", dtype, "a float")
    # NumPy does not know the types that it lacks; ml_dtypes does, and has been imported for them.
    maker = np if dtype.numpy.kind == "f" else importlib.import_module("ml_dtypes")
    found: Any = maker.finfo(dtype.numpy)
    return FloatInfo(
        dtype.bits,
        float(found.eps),
        float(found.max),
        float(found.min),
        float(found.smallest_normal),
        dtype,
    )


def iinfo(type: Any, /) -> IntegerInfo:
    """The limits of an integer dtype, or of a tensor's.

    Raises:
        DTypeError: no integer dtype.
    """
    dtype = _dtype_of(type)
    if not dtype.is_integer:
        raise _refused("iinfo", dtype, "an integer")
    found = np.iinfo(dtype.numpy)
    return IntegerInfo(dtype.bits, int(found.max), int(found.min), dtype)


def isdtype(dtype: Any, kind: Any) -> bool:
    """Whether a dtype is one, or of a kind, or any of several.

    Args:
        dtype: dtype.
        kind: a dtype, the name of a kind (``"bool"``, ``"signed integer"``, ``"unsigned
            integer"``, ``"integral"``, ``"real floating"``, ``"complex floating"``,
            ``"numeric"``), or a tuple of them.

    Raises:
        ArgumentError: another kind.
    """
    found = as_dtype(dtype)
    for one in kind if isinstance(kind, tuple) else (kind,):
        if isinstance(one, str):
            if one not in KINDS:
                raise ArgumentError(
                    f"{one!r} is no kind of dtype",
                    where=f"isdtype at {caller_location()}",
                    fix="use one of " + ", ".join(KINDS),
                )
            if KINDS[one](found):
                return True
        elif found is as_dtype(one):
            return True
    return False


def can_cast(from_: Any, to: Any, /) -> bool:
    """Whether promotion leads from one dtype, or a tensor's, to another.

    The dtype itself leads there; so does one of which the common dtype with it is that dtype.
    """
    source, target = _dtype_of(from_), as_dtype(to)
    if source is target:
        return True
    try:
        return promote_all([source, target]) is target
    except DTypeError:
        return False


def result_type(*arrays_and_dtypes: Any) -> DType:
    """The dtype in which tensors, dtypes and Python numbers are combined.

    Raises:
        DTypeError: there is none.
        ArgumentError: there is neither a tensor nor a dtype among them.
    """
    numbers = [value for value in arrays_and_dtypes if is_weak(value)]
    strong = [_dtype_of(value) for value in arrays_and_dtypes if not is_weak(value)]
    where = f"result_type at {caller_location()}"
    if not strong:
        raise ArgumentError(
            "result_type without a tensor or a dtype", where=where, fix="give one of them"
        )
    try:
        found = promote_all(strong)
        for number in numbers:
            found = weak_dtype(number, found, default_float=current_dtype())
    except DTypeError as error:
        raise error.at(where) from None
    return found


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """The tensor with another dtype, and on another device if one is given.

    Args:
        x: tensor.
        dtype: the new element type.
        copy: has no effect: tensors are values, so a copy is never observable.
        device: where; its own device if left out.
    """
    found = F.cast(x, dtype)
    return found if device is None else F.to(found, device)
