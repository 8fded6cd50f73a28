"""Tensor: a handle on an immutable version, real or pending in exactly one context."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from realta.context import AbandonedRegion, RecordingContext, caller_location, use_handle_type
from realta.errors import ArgumentError, RealtaError
from realta.graph import Value
from realta.plugins import Device, current_device, device_of, open_device
from realta.runtime import Storage
from realta.tensor.construction import array_of
from realta.tensor.display import html_of, text_of, text_of_unrealized
from realta.tensor.exchange import ExchangedTensor
from realta.tensor.habits import METHOD_HABITS
from realta.types import as_dtype

__all__ = ["Tensor", "real_tensor", "wrap"]

_new = object.__new__


class Tensor(ExchangedTensor):
    """A multi-dimensional array whose realization you control.

    Args:
        data: a number, nested lists of numbers, or an array, which are copied; or a tensor, which
            may stay unrealized.
        dtype: element type; by default int64 for Python ints, bool for bools, the default float
            dtype for floats, and an array's own dtype.
        device: where it lives; the default device, or the tensor's own, if left out.

    Raises:
        DTypeError: the data are not numbers, or do not fit the dtype.
        ShapeError: nested lists are ragged.
        BackendNotFound, BackendUnavailable: the device cannot be used.
    """

    __slots__ = ()

    def __init__(self, data: Any, *, dtype: Any = None, device: Any = None) -> None:
        try:
            wanted = None if dtype is None else as_dtype(dtype)
            if isinstance(data, Tensor):
                self._take_over(data, wanted, device)
                return
            name = current_device() if device is None else device_of(device).name
            array = array_of(data, wanted)
        except RealtaError as error:
            error.at(f"Tensor({type(data).__name__}) at {caller_location()}")
            raise
        storage = open_device(name).upload(array)
        self._type = storage.type
        # Nobody else knows this storage, and ops take what the session made as it is.
        self._held = storage if storage.block or storage.launch else storage.handle
        self._value = None
        self._context = None

    def _take_over(self, source: Tensor, dtype: Any, device: Any) -> None:
        """Names the same version as another tensor, or what a cast and a move make of it."""
        if dtype is not None and dtype is not source.dtype:
            source = source.cast(dtype)
        if device is not None and device_of(device).name != source._type.device:
            source = source.to(device)
        same = source._another_handle()
        self._type, self._storage = same._type, same._storage
        self._value = self._context = None
        if same._context is not None:
            same._context.adopt(self, same._value)

    # -- Python's protocols -----------------------------------------------------------------------

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentError(
                "a 0-d tensor has no length",
                where=f"len of {self._type} at {caller_location()}",
                fix="use .size or .item()",
            )
        if not isinstance(self.shape[0], int):
            raise ArgumentError(
                f"the first extent of {self._type} is not known before the call",
                where=f"len at {caller_location()}",
                fix="use t.shape[0], which computes like a number",
            )
        return self.shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise ArgumentError(
                "a 0-d tensor cannot be iterated",
                where=f"iter of {self._type} at {caller_location()}",
                fix="use .item()",
            )
        self._real_storage()
        return (self[n] for n in range(len(self)))

    def __bool__(self) -> bool:
        if self._type.is_static and self.size != 1:
            raise ArgumentError(
                f"the truth value of a tensor of shape {self.shape} is ambiguous",
                where=f"bool of {self._type} at {caller_location()}",
                fix="use F.all(t) or F.any(t), or F.where to choose by element",
            )
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __index__(self) -> int:
        if not (self.dtype.is_integer and self.shape == ()):
            raise ArgumentError(
                f"only a 0-d integer tensor can be an index, not {self._type}",
                where=str(caller_location()),
                fix="cast it, or index one element of it",
            )
        return int(self.item())

    def __round__(self, digits: int | None = None) -> Any:
        return round(self.item(), digits)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def __hash__(self) -> int:
        return id(self)

    def __contains__(self, item: Any) -> bool:
        found = self == item
        return isinstance(found, Tensor) and bool(found.any())

    def __repr__(self) -> str:
        if not self._settle():
            return text_of_unrealized(self._type, "unrealized")
        try:
            array = self._storage.numpy()
        except RealtaError:  # whoever uses it is told; printing it only shows what it is
            return text_of_unrealized(self._type, "poisoned")
        return text_of(array, self._type)

    def _repr_html_(self) -> str:
        return html_of(repr(self), self._type)

    def __rich_repr__(self) -> Iterator[Any]:
        if self._settle():
            try:
                yield self._storage.numpy()
            except RealtaError:  # as in __repr__
                yield "state", "poisoned"
        else:
            yield "state", "unrealized"
            yield "shape", self.shape
        yield "dtype", self.dtype.name
        yield "device", self._type.device

    def __copy__(self) -> Tensor:
        return self._another_handle()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        return self._another_handle()

    def _another_handle(self) -> Tensor:
        """A new handle on the same version; versions never change, so that is a copy."""
        if self._settle():
            return real_tensor(self._storage)
        return wrap(self._context, self._value)

    def __reduce__(self) -> tuple[Any, ...]:
        array = self._real_storage().numpy()
        return (_unpickle, (array.tobytes(), self.dtype.name, self.shape, self.device))

    if TYPE_CHECKING:
        # `realta.functional` attaches operators and methods, each written once for both.
        def __add__(self, other: Any) -> Tensor: ...
        def __radd__(self, other: Any) -> Tensor: ...
        def __sub__(self, other: Any) -> Tensor: ...
        def __rsub__(self, other: Any) -> Tensor: ...
        def __mul__(self, other: Any) -> Tensor: ...
        def __rmul__(self, other: Any) -> Tensor: ...
        def __truediv__(self, other: Any) -> Tensor: ...
        def __rtruediv__(self, other: Any) -> Tensor: ...
        def __floordiv__(self, other: Any) -> Tensor: ...
        def __rfloordiv__(self, other: Any) -> Tensor: ...
        def __mod__(self, other: Any) -> Tensor: ...
        def __rmod__(self, other: Any) -> Tensor: ...
        def __divmod__(self, other: Any) -> tuple[Tensor, Tensor]: ...
        def __rdivmod__(self, other: Any) -> tuple[Tensor, Tensor]: ...
        def __pow__(self, other: Any) -> Tensor: ...
        def __rpow__(self, other: Any) -> Tensor: ...
        def __matmul__(self, other: Any) -> Tensor: ...
        def __rmatmul__(self, other: Any) -> Tensor: ...
        def __and__(self, other: Any) -> Tensor: ...
        def __rand__(self, other: Any) -> Tensor: ...
        def __or__(self, other: Any) -> Tensor: ...
        def __ror__(self, other: Any) -> Tensor: ...
        def __xor__(self, other: Any) -> Tensor: ...
        def __rxor__(self, other: Any) -> Tensor: ...
        def __lshift__(self, other: Any) -> Tensor: ...
        def __rlshift__(self, other: Any) -> Tensor: ...
        def __rshift__(self, other: Any) -> Tensor: ...
        def __rrshift__(self, other: Any) -> Tensor: ...
        def __lt__(self, other: Any) -> Tensor: ...
        def __le__(self, other: Any) -> Tensor: ...
        def __gt__(self, other: Any) -> Tensor: ...
        def __ge__(self, other: Any) -> Tensor: ...
        def __neg__(self) -> Tensor: ...
        def __pos__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __getitem__(self, other: Any) -> Tensor: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...

        # Methods that the layer above attaches.
        def __getattr__(self, name: str) -> Any: ...

        def __eq__(self, other: object) -> Any: ...
        def __ne__(self, other: object) -> Any: ...

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if name not in METHOD_HABITS]


use_handle_type(Tensor)


def wrap(context: RecordingContext | AbandonedRegion, value: Value) -> Tensor:
    """A new unrealized tensor that names a value of a context.

    Raises:
        RealizationError: an exception left the region that the value was recorded in.
    """
    tensor: Tensor = _new(Tensor)
    context.adopt(tensor, value)
    return tensor


def real_tensor(storage: Storage) -> Tensor:
    """A new real tensor over a storage."""
    tensor: Tensor = _new(Tensor)
    tensor._type = storage.type
    tensor._held = storage
    tensor._value = None
    tensor._context = None
    return tensor


def _unpickle(data: bytes, dtype: str, shape: tuple[int, ...], device: Device) -> Tensor:
    array = np.frombuffer(data, as_dtype(dtype).numpy).reshape(shape)
    return real_tensor(open_device(device.name).upload(array))
