"""Interchange: tensors from arrays of other libraries; copied unless sharing is provably safe."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from realta.context import caller_location
from realta.errors import ArgumentError, DTypeError, ExchangeError
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


def _is_dense(array: NDArray[Any]) -> bool:
    """Whether the memory holds the elements as devices want them: in row-major order, native."""
    return array.flags.c_contiguous and array.flags.aligned and array.dtype.isnative


def from_numpy(array: NDArray[Any], *, device: Any = None, trusted: bool = False) -> Tensor:
    """A tensor from a NumPy array.

    Args:
        array: values of an element dtype, in any layout.
        device: where; the default device if left out.
        trusted: whether you promise that nobody writes the array's memory any more; it is then
            shared where the device can.

    Returns:
        A tensor of the array's dtype and shape; a copy, unless the array is trusted or read-only
        memory of a bytes object.

    Raises:
        DTypeError: the dtype is no element type.
        ArgumentError: it is no array.
    """
    given: Any = array
    if not isinstance(given, np.ndarray):
        raise ArgumentError(
            f"from_numpy takes a NumPy array, got {type(given).__name__}",
            where=str(caller_location()),
            fix="use realta.Tensor(data)",
        )
    try:
        as_dtype(array.dtype)
    except DTypeError as error:
        raise error.at(f"from_numpy at {caller_location()}") from None
    opened = open_device(_place(device))
    share = _is_dense(array) and (trusted or _is_immutable(array))
    return real_tensor(opened.adopt(array) if share else opened.upload(array))


def from_dlpack(x: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from any object with ``__dlpack__``.

    Args:
        x: producer in host memory.
        device: where; the default device if left out.
        copy: True copies; False shares and raises if it cannot; None shares only what the producer
            marks read-only.

    Raises:
        ArgumentError: the object exports nothing.
        ExchangeError: its memory cannot be imported, or not be shared.
    """
    if isinstance(x, Tensor):
        return asarray(x, device=device, copy=copy)
    array, marked = _imported(x)
    opened = open_device(_place(device))
    possible = _is_dense(array) and opened.is_host
    if copy is False and not possible:
        raise ExchangeError(
            "the producer's memory cannot be shared: it is strided or not on the device",
            where=f"from_dlpack(copy=False) at {caller_location()}",
            fix="use copy=None",
        )
    share = copy is False or (copy is None and marked)
    return real_tensor(opened.adopt(array) if share and possible else opened.upload(array))


class _Producer:
    """An object with ``__dlpack__``, and whether what it gave can say that it is read-only.

    NumPy takes memory of producers before DLPack 1.0 for read-only, which they cannot say.
    """

    def __init__(self, producer: Any) -> None:
        self.producer = producer
        self.versioned = False

    def __dlpack__(self, **options: Any) -> Any:
        capsule = self.producer.__dlpack__(**options)
        self.versioned = '"dltensor_versioned"' in repr(capsule)
        return capsule

    def __dlpack_device__(self) -> Any:
        return self.producer.__dlpack_device__()


def _imported(x: Any) -> tuple[NDArray[Any], bool]:
    """A producer's memory as an array, and whether the producer marks it read-only."""
    if not hasattr(x, "__dlpack__"):
        raise ArgumentError(
            f"{type(x).__name__} has no __dlpack__",
            where=str(caller_location()),
            fix="use realta.Tensor(data) for numbers and lists",
        )
    producer = _Producer(x)
    try:
        array = np.from_dlpack(producer)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        raise ExchangeError(
            f"{type(x).__name__} cannot be imported through DLPack: {error}",
            where=str(caller_location()),
            fix="bring it to host memory in a dtype that NumPy has",
        ) from error
    return array, producer.versioned and not array.flags.writeable


def asarray(obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from anything that has values.

    Args:
        obj: tensor, array, number or nested list.
        dtype: element type.
        device: where.
        copy: False raises where a copy would be needed (lists, other dtypes, writable arrays).

    Raises:
        ExchangeError: ``copy=False`` and a copy is needed.
    """
    if isinstance(obj, Tensor):
        wanted = obj.dtype if dtype is None else as_dtype(dtype)
        place = obj.device.name if device is None else device_of(device).name
        if copy is False and (wanted is not obj.dtype or place != obj.device.name):
            raise ExchangeError(
                f"{obj.type} as {wanted} on {place} needs a copy",
                where=f"asarray(copy=False) at {caller_location()}",
                fix="use copy=None",
            )
        # Versions never change, so that another handle is as good as a copy.
        return Tensor(obj, dtype=wanted, device=place)
    if copy is False:
        if isinstance(obj, np.ndarray) and dtype in (None, obj.dtype) and _is_immutable(obj):
            return from_numpy(obj, device=device)
        raise ExchangeError(
            f"{type(obj).__name__} cannot be shared safely, so copy=False is refused",
            where=f"asarray(copy=False) at {caller_location()}",
            fix="use copy=None, or from_numpy(array, trusted=True)",
        )
    return Tensor(obj, dtype=dtype, device=device)
