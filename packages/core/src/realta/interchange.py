"""Interchange: tensors from arrays of other libraries; copied unless sharing is provably safe."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from realta.errors import ArgumentError
from realta.plugins import current_device, device_of, open_device
from realta.tensor import Tensor, real_tensor
from realta.types import as_dtype

__all__ = ["asarray", "from_dlpack", "from_numpy"]


def _place(device: Any) -> str:
    return current_device() if device is None else device_of(device).name


def _is_immutable(array: NDArray[Any]) -> bool:
    """Whether nobody can write the memory: read-only all the way down to memory that is bytes."""
    owner: Any = array
    while isinstance(owner, np.ndarray):
        if owner.flags.writeable:
            return False
        owner = owner.base
    return isinstance(owner, bytes)


def from_numpy(array: NDArray[Any], *, device: Any = None, trusted: bool = False) -> Tensor:
    """A tensor from a NumPy array.

    Args:
        array: values of an element dtype.
        device: where; the default device if left out.
        trusted: whether you promise that nobody writes the array's memory any more; it is then shared
            where the device can.

    Raises:
        DTypeError: the dtype is no element type.
    """
    if not isinstance(array, np.ndarray):
        raise ArgumentError(
            f"from_numpy takes a NumPy array, got {type(array).__name__}",
            fix="use realta.Tensor(data)",
        )
    as_dtype(array.dtype)
    opened = open_device(_place(device))
    if trusted or _is_immutable(array):
        return real_tensor(opened.adopt(array))
    return real_tensor(opened.upload(array))


def from_dlpack(x: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from any object with ``__dlpack__``.

    Args:
        x: producer in host memory.
        device: where; the default device if left out.
        copy: True copies; False shares and raises if it cannot; None shares only what the producer
            marks read-only.

    Raises:
        ArgumentError: the object exports nothing, or cannot be shared.
    """
    if not hasattr(x, "__dlpack__"):
        raise ArgumentError(
            f"{type(x).__name__} has no __dlpack__",
            fix="use realta.Tensor(data) for numbers and lists",
        )
    array = np.from_dlpack(x)
    share = copy is False or (copy is None and not array.flags.writeable)
    opened = open_device(_place(device))
    if copy is False and not (array.flags.c_contiguous and opened.is_host):
        raise ArgumentError(
            "the producer's memory cannot be shared: it is strided or not on the device",
            fix="use copy=None",
        )
    if share and array.flags.c_contiguous:
        return real_tensor(opened.adopt(array))
    return real_tensor(opened.upload(np.ascontiguousarray(array).reshape(array.shape)))


def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from anything that has values.

    Args:
        obj: tensor, array, number or nested list.
        dtype: element type.
        device: where.
        copy: False raises where a copy would be needed (lists, other dtypes, writable arrays).

    Raises:
        ArgumentError: ``copy=False`` and a copy is needed.
    """
    if isinstance(obj, Tensor):
        wanted = obj.dtype if dtype is None else as_dtype(dtype)
        place = obj.device.name if device is None else device_of(device).name
        if wanted is obj.dtype and place == obj.device.name:
            return obj._another_handle()
        if copy is False:
            raise ArgumentError("another dtype or device needs a copy", fix="use copy=None")
        return obj.cast(wanted).to(place)  # type: ignore[attr-defined, no-any-return]
    if copy is False:
        if isinstance(obj, np.ndarray) and dtype is None and _is_immutable(obj):
            return from_numpy(obj, device=device)
        raise ArgumentError(
            f"{type(obj).__name__} cannot be shared safely, so copy=False is refused",
            fix="use copy=None, or from_numpy(array, trusted=True)",
        )
    return Tensor(obj, dtype=dtype, device=device)
