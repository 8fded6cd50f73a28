"""Moves: which handles a region moved to new versions, so that it can put them back."""

from __future__ import annotations

import weakref
from typing import Any

__all__ = ["MoveLog"]


class MoveLog:
    """Remembers the version each handle named before a store moved it."""

    __slots__ = ("_moves",)

    def __init__(self) -> None:
        self._moves: list[tuple[weakref.ref[Any], Any, Any, Any]] = []

    def note(self, handle: Any) -> None:
        """Remembers the version a handle names now."""
        self._moves.append((weakref.ref(handle), handle._storage, handle._value, handle._context))

    def first_versions(self) -> dict[int, tuple[Any, Any, Any, Any]]:
        """By id of the handle: the handle, and the storage, value and context it named at first."""
        found: dict[int, tuple[Any, Any, Any, Any]] = {}
        for reference, storage, value, context in self._moves:
            handle = reference()
            if handle is not None:
                found.setdefault(id(handle), (handle, storage, value, context))
        return found

    def restore(self) -> None:
        """Puts every handle back and forgets the moves."""
        for handle, storage, value, context in self.first_versions().values():
            handle._storage, handle._value, handle._context = storage, value, context
            handle._type = storage.type if storage is not None else value.type
        self._moves.clear()

    def clear(self) -> None:
        """Forgets the moves: the new versions hold."""
        self._moves.clear()
