"""Host bytes: NumPy arrays as the C-contiguous little-endian bytes that sessions exchange."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from realta.types import TensorType

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["array_from_bytes", "as_bytes", "empty_array", "writable_bytes"]


def as_bytes(array: NDArray[Any]) -> memoryview:
    """The elements of an array in row-major order as bytes; copies only what is not so already."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if sys.byteorder == "big" or not flat.dtype.isnative:
        flat = flat.astype(flat.dtype.newbyteorder("<"))
    return flat.view(np.uint8).data


def empty_array(type: TensorType) -> NDArray[Any]:
    """A new C-contiguous array for a tensor."""
    return np.empty(type.static_shape, type.dtype.numpy)


def writable_bytes(array: NDArray[Any]) -> memoryview:
    """The memory of a C-contiguous array, to be written into."""
    return array.reshape(-1).view(np.uint8).data


def array_from_bytes(data: memoryview, type: TensorType) -> NDArray[Any]:
    """A read-only array over the bytes of a tensor; shares them."""
    flat = np.frombuffer(data, np.uint8, count=type.nbytes)
    array = flat.view(type.dtype.numpy).reshape(type.static_shape)
    array.flags.writeable = False
    return array
