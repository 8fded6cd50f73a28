"""TensorHandle: what contexts know about a tensor: its type and the version it names."""

from __future__ import annotations

from typing import Any, Final

from realta.runtime import Storage
from realta.types import TensorType

__all__ = ["TensorHandle", "new_handle", "rebind", "use_handle_type"]


class TensorHandle:
    """A tensor as contexts see it.

    Attributes:
        _type: type of the tensor.
        _storage: the storage of a real tensor, else None.
        _value: the value of an unrealized tensor, else None.
        _context: the context that can realize it, else None.
    """

    __slots__ = ("__weakref__", "_context", "_storage", "_type", "_value")

    _type: TensorType
    _storage: Any
    _value: Any
    _context: Any

    def _settle(self) -> bool:
        """Takes over the storage of a value that became real meanwhile; whether it is real now."""
        if self._storage is not None:
            return True
        value = self._value
        if value is None:  # another thread is just doing the same
            return self._storage is not None
        payload = value.payload
        if not isinstance(payload, Storage):
            return False
        self._storage = payload
        self._value = None
        self._context = None
        return True


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
    handle._storage, handle._value, handle._context = storage, None, None
