"""TensorType: dtype, shape and device of a value; interned, so equal types are one object."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from math import prod
from typing import Any, Self, cast

from realta.errors import RealtaError, ShapeError
from realta.locks import Lock
from realta.types.dims import Dim, as_dim
from realta.types.dtypes import DType, as_dtype

Shape = tuple["int | Dim", ...]

_interned: weakref.WeakValueDictionary[tuple[object, ...], TensorType] = (
    weakref.WeakValueDictionary()
)
_lock = Lock()


class TensorType:
    """The type of a tensor: ``f32[2,3]@numpy:0``.

    Equal types are the same object, so identity compares them and hashing is free.

    Args:
        dtype: the element type, in any spelling that `realta.types.as_dtype` takes.
        shape: extents; each an int >= 0, a name or a symbolic `Dim`.
        device: canonical device name such as ``"numpy:0"``; empty means the graph's device.

    Raises:
        DTypeError: no such element type.
        ShapeError: an extent is negative or not an integer.
    """

    __slots__ = ("__weakref__", "device", "dtype", "is_static", "shape")

    dtype: DType
    shape: Shape
    device: str
    is_static: bool

    def __new__(
        cls, dtype: object, shape: Sequence[int | str | Dim] = (), device: object = ""
    ) -> Self:
        name = device if type(device) is str else str(device)
        try:
            found = tensor_type(as_dtype(dtype), tuple(as_dim(d) for d in shape), name)
        except RealtaError as error:
            error.at(f"TensorType({dtype!r}, {shape!r})")
            raise
        return cast(Self, found)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements.

        Raises:
            ShapeError: the shape has symbolic extents.
        """
        return prod(self.static_shape)

    @property
    def nbytes(self) -> int:
        """Bytes of the elements in C order without padding."""
        return self.size * self.dtype.itemsize

    @property
    def static_shape(self) -> tuple[int, ...]:
        """The shape as plain ints.

        Raises:
            ShapeError: the shape has symbolic extents.
        """
        if not self.is_static:
            raise ShapeError(
                f"the shape of {self} is symbolic, so it has no number of elements yet",
                where=f"the type {self}",
                fix="bind its dimensions by calling the compiled function with real tensors",
            )
        return self.shape  # type: ignore[return-value]

    def with_dtype(self, dtype: DType) -> TensorType:
        """The same shape and device with another dtype."""
        return tensor_type(dtype, self.shape, self.device)

    def with_shape(self, shape: Shape) -> TensorType:
        """The same dtype and device with another shape."""
        return tensor_type(self.dtype, shape, self.device)

    def with_device(self, device: str) -> TensorType:
        """The same dtype and shape on another device."""
        return tensor_type(self.dtype, self.shape, device)

    def __str__(self) -> str:
        text = f"{self.dtype.short}[{','.join(map(str, self.shape))}]"
        return f"{text}@{self.device}" if self.device else text

    def __repr__(self) -> str:
        return str(self)

    def __reduce__(self) -> tuple[Any, ...]:
        return (TensorType, (self.dtype, self.shape, self.device))


def tensor_type(dtype: DType, shape: Shape, device: str = "") -> TensorType:
    """The interned type of parts that are checked already: the fast way in."""
    # A Dim refuses undecidable comparisons, so the key holds its canonical text instead.
    key = (dtype.name, tuple([d if type(d) is int else str(d) for d in shape]), device)
    found = _interned.get(key)
    if found is not None:
        return found
    with _lock:
        found = _interned.get(key)
        if found is None:
            found = object.__new__(TensorType)
            found.dtype = dtype
            found.shape = shape
            found.device = device
            found.is_static = all(type(d) is int for d in shape)
            _interned[key] = found
    return found
