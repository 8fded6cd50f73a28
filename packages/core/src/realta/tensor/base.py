"""TensorBase: what a tensor is, and how its values are had."""

from __future__ import annotations

from collections.abc import Generator
from math import prod
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from realta.context import RecordingContext, TensorHandle, caller_location, current
from realta.errors import ArgumentError, RealizationError
from realta.graph import Value
from realta.plugins import Device, device_of
from realta.records import Record
from realta.runtime import Storage
from realta.tensor.realizing import Realize, realize_in_background
from realta.types import DType, TensorType

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RealizationState", "TensorBase"]


class RealizationState(Record):
    """The state of an unrealized tensor.

    Attributes:
        values: the graph value it names.
        ctx: the context that can compute it.
    """

    __slots__ = ("values", "ctx")  # noqa: RUF023  as arguments

    values: tuple[Value, ...]
    ctx: RecordingContext

    def __init__(self, values: tuple[Value, ...], ctx: RecordingContext) -> None:
        self._set(values, ctx)


class TensorBase(TensorHandle):
    """Type, state and values of a tensor."""

    __slots__ = ()

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
        """Number of elements.

        Raises:
            ShapeError: its shape is symbolic.
        """
        return prod(self._type.static_shape)

    def num_elements(self) -> int:
        """The same as `size`, by MAX's name."""
        return self.size

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self._type.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all elements.

        Raises:
            ShapeError: its shape is symbolic.
        """
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
        """The value by which the current context reads it.

        Raises:
            RealizationError: it is real and no context is open.
        """
        context = current.get()
        if context is not None:
            return context.value_of(self)
        if self._settle():
            raise RealizationError(
                "a real tensor is no graph value outside a realization context",
                where=str(caller_location()),
                fix="read it inside `with graph:` or another context",
            )
        return self._value  # type: ignore[no-any-return]

    @classmethod
    def from_graph_value(cls, value: Value) -> Self:
        """The tensor that names a value of the graph being recorded.

        Raises:
            RealizationError: no context is open.
        """
        context = current.get()
        if context is None:
            raise RealizationError(
                "a graph value becomes a tensor only while its graph is being recorded",
                where=str(caller_location()),
                fix="call it inside `with graph:`",
            )
        return context.create_unrealized(value)  # type: ignore[no-any-return]

    # -- realizing --------------------------------------------------------------------------------

    @property
    def realize(self) -> Realize[Self]:
        """Makes it real: ``t.realize()``, ``await t.realize`` or ``await t``."""
        return Realize(self)

    def materialize(self) -> Self:
        """Makes it real and returns it."""
        return Realize(self)()

    def __await__(self) -> Generator[Any, None, Self]:
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
                where=f"item of {self._type} at {caller_location()}",
                fix="index one element, or use tolist()",
            )
        found = self._real_storage().numpy().reshape(()).item()
        return float(found) if self.dtype.is_float else found

    def tolist(self) -> Any:
        """Its values as nested lists of Python numbers; one number for a 0-d tensor."""
        array = self._real_storage().numpy()
        # NumPy gives elements of the types that it does not know as objects of those types.
        return (array if array.dtype.kind in "biuf" else array.astype(np.float32)).tolist()
