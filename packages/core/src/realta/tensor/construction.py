"""Construction: what `Tensor(data)` makes of Python numbers, nested lists and arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from realta.errors import ArgumentError, DTypeError, ScalarOverflowError, ShapeError
from realta.plugins import current_dtype
from realta.types import DType, as_dtype, convert_scalar

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["array_of"]


def array_of(data: Any, dtype: DType | None) -> NDArray[Any]:
    """The C-contiguous array of a tensor's data, with the dtype of spec 3; a copy.

    Python ints give int64, bools bool, floats the default float dtype; NumPy arrays keep theirs.

    Raises:
        DTypeError: complex, string or object data, or numbers that ``dtype`` cannot hold.
        ScalarOverflowError: a Python int does not fit ``dtype``, which is int64 if left out.
        ShapeError: a ragged nested list.
    """
    if isinstance(data, (bool, int, float)) and not isinstance(data, np.generic):
        return convert_scalar(data, dtype or _python_dtype(type(data)))
    if isinstance(data, (np.ndarray, np.generic)):
        array = np.asarray(data)
        found = as_dtype(array.dtype)
    else:
        array = _from_sequence(data, dtype)
        found = (
            _python_dtype(array.dtype.type) if _is_python(data, array) else as_dtype(array.dtype)
        )
    wanted = dtype or found
    return _convert(array, wanted)


def _python_dtype(kind: Any) -> DType:
    if issubclass(kind, (float, np.floating)):
        return current_dtype()
    return as_dtype("bool") if issubclass(kind, (bool, np.bool_)) else as_dtype("int64")


def _is_python(data: Any, array: NDArray[Any]) -> bool:
    """Whether an array was made from Python numbers, whose width says nothing."""
    if not isinstance(data, Sequence) or array.dtype not in (np.bool_, np.int64, np.float64):
        return False
    return not any(hasattr(x, "__array__") and not isinstance(x, np.float64) for x in data)


def _from_sequence(data: Any, dtype: DType | None) -> NDArray[Any]:
    if not isinstance(data, Sequence) and not hasattr(data, "__array__"):
        raise ArgumentError(
            f"a tensor cannot be made from {type(data).__name__}",
            fix="give a number, a nested list of numbers, or an array",
        )
    if isinstance(data, (str, bytes)):
        raise DTypeError("a tensor cannot be made from text", fix="give numbers")
    try:
        array = np.asarray(data)
        if _may_be_wide(array, dtype) and not any(hasattr(x, "__array__") for x in data):
            return _from_python(np.asarray(data, object), array, dtype)
    except ValueError as error:
        raise ShapeError(
            "the nested lists are ragged: inner lists have different lengths",
            fix="make them rectangular, or pad them",
        ) from error
    return array


def _may_be_wide(array: NDArray[Any], dtype: DType | None) -> bool:
    """Whether NumPy may have made something else of Python ints that are too wide for int64."""
    if array.dtype.kind in "OUS":
        return True
    if array.dtype == np.uint64:
        return dtype is None and bool((array >= 2**63).any())
    return array.dtype == np.float64 and bool((np.abs(array) >= 2.0**63).any())


def _from_python(leaves: NDArray[Any], array: NDArray[Any], dtype: DType | None) -> NDArray[Any]:
    """The array of nested lists some of whose ints are wide.

    Args:
        leaves: their elements as objects.
        array: what NumPy makes of them.
        dtype: what is asked for.

    Raises:
        DTypeError: an element is no number.
        ScalarOverflowError: an int does not fit.
    """
    kinds = {type(x) for x in leaves.flat}
    for kind in kinds:
        if not issubclass(kind, (bool, int, float, np.number, np.bool_)):
            named = "text" if issubclass(kind, (str, bytes)) else kind.__name__
            raise DTypeError(f"a tensor cannot be made from {named}", fix="give numbers")
    if not kinds <= {int, bool}:
        return _as_floats(leaves) if array.dtype.kind == "O" else array
    if dtype is not None and dtype.is_float:
        return _as_floats(leaves)
    wanted = dtype or as_dtype("int64")
    info = np.iinfo(wanted.numpy if wanted.is_integer else np.int64)
    for number in leaves.flat:
        if not info.min <= number <= info.max:
            convert_scalar(number, wanted)  # raises: it does not fit
    return leaves.astype(wanted.numpy)


def _as_floats(leaves: NDArray[Any]) -> NDArray[Any]:
    try:
        return leaves.astype(np.float64)
    except OverflowError as error:
        raise ScalarOverflowError(
            "an integer is beyond the range of float64", fix="divide it first"
        ) from error


def _convert(array: NDArray[Any], dtype: DType) -> NDArray[Any]:
    if array.dtype.kind not in "biufV":
        raise DTypeError(
            f"a tensor cannot hold elements of NumPy's {array.dtype}",
            fix="convert them to numbers first",
        )
    if dtype.is_integer and array.dtype.kind == "f":
        whole = np.isfinite(array).all() and (array == np.trunc(array)).all()
        if not whole:
            raise DTypeError(
                f"numbers with a fractional part do not fit {dtype}",
                fix="round them first, or build the tensor and use .cast()",
            )
    if dtype.is_integer and array.size and array.dtype.kind in "iuf":
        info = np.iinfo(dtype.numpy)
        low, high = array.min(), array.max()
        if low < info.min or high > info.max:
            raise DTypeError(
                f"numbers from {low} to {high} do not fit {dtype} ({info.min} to {info.max})",
                fix="choose a wider dtype",
            )
    with np.errstate(over="ignore", under="ignore"):
        return np.array(array, dtype=dtype.numpy, order="C", copy=True, ndmin=0)
