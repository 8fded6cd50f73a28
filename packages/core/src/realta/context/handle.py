"""TensorHandle: what contexts know about a tensor: its type and the version it names."""

from __future__ import annotations

from typing import Any, Final

from realta import runtime
from realta.locks import Lock
from realta.runtime import Storage
from realta.types import TensorType

__all__ = ["TensorHandle", "new_handle", "rebind", "use_handle_type"]


class TensorHandle:
    """A tensor as contexts see it.

    Attributes:
        _type: type of the tensor.
        _held: of a real tensor its storage, or the bare handle of a small result that the session
            made itself (a storage would cost as much as a small op); else None.
        _value: the value of an unrealized tensor, else None.
        _context: the context that can realize it, else None.
    """

    __slots__ = ("__weakref__", "_context", "_held", "_type", "_value")

    _type: TensorType
    _held: Any
    _value: Any
    _context: Any

    @property
    def _storage(self) -> Any:
        """The storage of a real tensor, else None."""
        held = self._held
        return held if held is None or held.__class__ is Storage else _storage_of(self)

    @_storage.setter
    def _storage(self, storage: Any) -> None:
        self._held = storage

    def _settle(self) -> bool:
        """Takes over the storage of a value that became real meanwhile; whether it is real now."""
        if self._held is not None:
            return True
        value = self._value
        if value is None:  # another thread is just doing the same
            return self._held is not None
        payload = value.payload
        if not isinstance(payload, Storage):
            return False
        self._held = payload
        self._value = None
        self._context = None
        return True


_wrapping: Final = Lock()


def _storage_of(handle: TensorHandle) -> Any:
    """Puts a storage around a bare handle; one for all threads, since holders are counted."""
    with _wrapping:
        held = handle._held
        if held is not None and held.__class__ is not Storage:
            type_ = handle._type
            held = handle._held = Storage(runtime.resolve_device(type_.device), held, type_)
        return held


_types: Final[list[type[TensorHandle]]] = [TensorHandle]


def use_handle_type(kind: type[TensorHandle]) -> None:
    """Says what contexts make where they make a tensor; the tensor layer above calls this."""
    _types[:] = [kind]


def new_handle() -> Any:
    """A tensor without a version, to be adopted."""
    return object.__new__(_types[0])


def rebind(handle: Any, storage: Storage) -> None:
    """Moves a handle to a version that is real."""
    handle._type = storage.type
    handle._held, handle._value, handle._context = storage, None, None
