"""ConstantData: the value of a literal tensor in a graph, immutable and comparable bit by bit."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

import numpy as np

from realta.types import DType, as_dtype

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["ConstantData"]


class ConstantData:
    """An immutable array.

    Equality and hash go by dtype, shape and bytes: -0 and 0 differ, a NaN equals the same NaN.

    Args:
        array: what `numpy.asarray` takes, of an element type; its elements are copied.

    Raises:
        DTypeError: the array's dtype is not an element type.
    """

    __slots__ = ("_hash", "array", "data", "dtype")

    array: NDArray[Any]
    """Read-only, C-contiguous, in native byte order."""
    data: bytes
    """The elements in row-major order."""
    dtype: DType

    def __init__(self, array: Any) -> None:
        given = np.asarray(array)
        self.dtype = as_dtype(given.dtype)
        native = given.astype(self.dtype.numpy, copy=False)
        # An array over bytes can never be made writable, unlike one with a cleared flag.
        self.data = native.tobytes(order="C")
        self.array = np.ndarray(given.shape, self.dtype.numpy, buffer=self.data)
        self._hash: int | None = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the array."""
        return self.array.shape

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return len(self.data)

    @property
    def digest(self) -> str:
        """Sixteen hexadecimal digits that name the bytes, dtype and shape in printed graphs."""
        hashlib = importlib.import_module("hashlib")  # few programs print constants
        digest = hashlib.blake2b(self.data, digest_size=8)
        digest.update(f"{self.dtype.short}{list(self.shape)}".encode())
        return str(digest.hexdigest())

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, ConstantData):
            return NotImplemented
        return self._key() == other._key()

    def _key(self) -> tuple[object, ...]:
        return (self.dtype.name, self.shape, self.data)

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._key())
        return self._hash

    def __repr__(self) -> str:
        extents = ",".join(map(str, self.shape))
        if self.array.size == 1:
            return f"ConstantData({self.dtype.short}[{extents}] {self.array.reshape(-1)[0]})"
        return f"ConstantData({self.dtype.short}[{extents}] #{self.digest})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.dtype.name, self.shape, self.data))


def _restore(dtype: str, shape: tuple[int, ...], data: bytes) -> ConstantData:
    return ConstantData(np.ndarray(shape, as_dtype(dtype).numpy, buffer=data))
