"""Tensor: a handle on an immutable version, real or pending in exactly one context."""

from __future__ import annotations

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from realta.context import RecordingContext, TensorHandle, current
from realta.errors import ArgumentError, MissingAttribute, RealizationError, UnsupportedOp
from realta.graph import Value
from realta.plugins import Device, current_device, device_of, open_device
from realta.runtime import Storage
from realta.tensor.construction import array_of
from realta.tensor.display import html_of, text_of, text_of_unrealized
from realta.tensor.realizing import Realize, realize_in_background
from realta.types import DType, TensorType, as_dtype, bfloat16

__all__ = ["RealizationState", "Tensor", "add_habits", "real_tensor", "wrap"]

_new = object.__new__


@dataclass(frozen=True, slots=True)
class RealizationState:
    """The state of an unrealized tensor.

    Attributes:
        values: the graph value it names.
        ctx: the context that can compute it.
    """

    values: tuple[Value, ...]
    ctx: RecordingContext


class Tensor(TensorHandle):
    """A multi-dimensional array whose realization you control.

    Args:
        data: a number, nested lists of numbers, or an array; copied.
        dtype: element type; by default int64 for Python ints, bool for bools, the default float dtype
            for floats, and an array's own dtype.
        device: where it lives; the default device if left out.

    Raises:
        DTypeError: the data are not numbers, or do not fit the dtype.
        ShapeError: nested lists are ragged.
        BackendNotFound, BackendUnavailable: the device cannot be used.
    """

    __slots__ = ()
    __array_ufunc__ = None
    __array_priority__ = 1000

    def __init__(self, data: Any, *, dtype: Any = None, device: Any = None) -> None:
        wanted = None if dtype is None else as_dtype(dtype)
        if isinstance(data, Tensor):
            array: NDArray[Any] = data.cast(wanted).numpy() if wanted else data.numpy()
            device = data.device if device is None else device
        else:
            array = array_of(data, wanted)
        name = current_device() if device is None else device_of(device).name
        storage = open_device(name).upload(array)
        self._type = storage.type
        self._storage = storage
        self._value = None
        self._context = None

    # -- what it is; never realizes ---------------------------------------------------------------

    @property
    def type(self) -> TensorType:
        """Its `TensorType`."""
        return self._type

    @property
    def dtype(self) -> DType:
        """Element type."""
        return self._type.dtype

    @property
    def shape(self) -> tuple[Any, ...]:
        """Extents."""
        return self._type.shape

    @property
    def device(self) -> Device:
        """Where it lives, or will live."""
        return device_of(self._type.device)

    @property
    def rank(self) -> int:
        """Number of axes."""
        return len(self._type.shape)

    ndim = rank

    @property
    def size(self) -> int:
        """Number of elements."""
        return prod(self._type.static_shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._type.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self._type.nbytes

    @property
    def is_real(self) -> bool:
        """Whether it has a buffer; asking does not realize it."""
        return self._settle()

    @property
    def real(self) -> bool:
        """The same as `is_real`, by MAX's name."""
        return self._settle()

    @property
    def state(self) -> RealizationState | None:
        """None for a real tensor, else the graph value it names and its context."""
        if self._settle():
            return None
        return RealizationState((self._value,), self._context)

    @property
    def graph_value(self) -> Value:
        """The value by which the current context reads it."""
        context = current.get()
        if context is not None:
            return context.value_of(self)
        if self._settle():
            raise RealizationError(
                "a real tensor is no graph value outside a realization context",
                fix="read it inside `with graph:` or another context",
            )
        return self._value  # type: ignore[no-any-return]

    @classmethod
    def from_graph_value(cls, value: Value) -> Tensor:
        """The tensor that names a value of the graph being recorded.

        Raises:
            RealizationError: no context is open.
        """
        context = current.get()
        if context is None:
            raise RealizationError(
                "a graph value becomes a tensor only while its graph is being recorded",
                fix="call it inside `with graph:`",
            )
        return wrap(context, value)

    # -- realizing --------------------------------------------------------------------------------

    @property
    def realize(self) -> Realize:
        """Makes it real: ``t.realize()``, ``await t.realize`` or ``await t``."""
        return Realize(self)

    def materialize(self) -> Self:
        """Makes it real and returns it."""
        Realize(self)()
        return self

    def __await__(self) -> Generator[Any, None, Tensor]:
        return realize_in_background(self)

    def _real_storage(self) -> Storage:
        if self._storage is None:
            Realize(self)()
        storage: Storage = self._storage
        storage.wait()
        return storage

    def numpy(self, *, copy: bool = False) -> NDArray[Any]:
        """Its values as a NumPy array.

        Args:
            copy: False gives a read-only view of host memory where there is one; True an own,
                writable array.
        """
        array = self._real_storage().numpy()
        return array.copy() if copy else array

    to_numpy = numpy

    def item(self) -> Any:
        """Its one element as a Python bool, int or float.

        Raises:
            ArgumentError: it has more or fewer elements than one.
        """
        if self._type.is_static and self.size != 1:
            raise ArgumentError(
                f"a tensor of shape {self.shape} has {self.size} elements, not one",
                where=f"item of {self._type}",
                fix="index one element, or use tolist()",
            )
        found = self._real_storage().numpy().reshape(()).item()
        return float(found) if self.dtype.is_float else found

    def tolist(self) -> Any:
        """Its values as nested lists of Python numbers."""
        array = self._real_storage().numpy()
        return (array.astype(np.float32) if array.dtype.kind == "V" else array).tolist()

    # -- Python's and NumPy's protocols -----------------------------------------------------------

    def __len__(self) -> int:
        if not self.shape:
            raise ArgumentError(
                "a 0-d tensor has no length",
                where=f"len of {self._type}",
                fix="use .size or .item()",
            )
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Tensor]:
        if not self.shape:
            raise ArgumentError(
                "a 0-d tensor cannot be iterated", where=f"iter of {self._type}", fix="use .item()"
            )
        self._real_storage()
        return (self[n] for n in range(len(self)))

    def __bool__(self) -> bool:
        if self._type.is_static and self.size != 1:
            raise ArgumentError(
                f"the truth value of a tensor of shape {self.shape} is ambiguous",
                where=f"bool of {self._type}",
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
                f"only a 0-d integer tensor can be an index, not {self._type}", fix="cast it first"
            )
        return int(self.item())

    def __round__(self, digits: int = 0) -> float:
        return round(float(self.item()), digits)

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec else str(self)

    def __hash__(self) -> int:
        return id(self)

    def __contains__(self, item: Any) -> bool:
        return bool((self == item).any().item())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        array = self._real_storage().numpy()
        if dtype is not None and np.dtype(dtype) != array.dtype:
            if copy is False:
                raise ArgumentError(
                    f"{self.dtype} to {dtype} cannot be had without a copy", fix="use copy=None"
                )
            return array.astype(dtype)
        return array.copy() if copy else array

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: Any = None,
        copy: bool | None = None,
    ) -> Any:
        if self.dtype is bfloat16 or (self.dtype.itemsize == 1 and self.dtype.is_float):
            raise UnsupportedOp(
                f"NumPy exports no {self.dtype} through DLPack", fix="cast to float32 first"
            )
        array = self._real_storage().numpy()
        if max_version is None or max_version < (1, 0) or copy:
            # A legacy consumer ignores that the memory is read-only, so it gets its own.
            array = array.copy()
        if max_version is None:
            return array.__dlpack__()
        return array.__dlpack__(max_version=max_version, dl_device=dl_device)

    def __dlpack_device__(self) -> tuple[int, int]:
        return (1, 0)

    def __repr__(self) -> str:
        if not self._settle():
            return text_of_unrealized(self._type, "unrealized")
        if self._storage.error is not None:
            return text_of_unrealized(self._type, "poisoned")
        return text_of(self._real_storage().numpy(), self._type)

    def _repr_html_(self) -> str:
        return html_of(repr(self), self._type)

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

    def __getattr__(self, name: str) -> NoReturn:
        fix = _habits.get(name)
        if fix is not None:
            raise MissingAttribute(f"a tensor has no {name!r}", fix=fix)
        raise AttributeError(f"'Tensor' object has no attribute {name!r}")


_habits: dict[str, str] = {}


def add_habits(habits: Mapping[str, str]) -> None:
    """Names that people bring from other libraries, and what to write instead."""
    _habits.update(habits)


def wrap(context: RecordingContext, value: Value) -> Tensor:
    """A new unrealized tensor that names a value of a context."""
    tensor: Tensor = _new(Tensor)
    context.adopt(tensor, value)
    return tensor


def real_tensor(storage: Storage) -> Tensor:
    """A new real tensor over a storage."""
    tensor: Tensor = _new(Tensor)
    tensor._type = storage.type
    tensor._storage = storage
    tensor._value = None
    tensor._context = None
    return tensor


def _unpickle(data: bytes, dtype: str, shape: tuple[int, ...], device: Device) -> Tensor:
    array = np.frombuffer(data, as_dtype(dtype).numpy).reshape(shape)
    return real_tensor(open_device(device.name).upload(array))
