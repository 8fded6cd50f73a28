"""Moves: which handles a region moved to new versions, so that it can put them back."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

__all__ = ["FirstVersion", "MoveLog"]


class FirstVersion:
    """What a handle named before the first store of a region moved it.

    Attributes:
        reference: the handle, weakly.
        storage: its storage, if it was real.
        value: its value, if it was not.
        context: the context that value belongs to.
    """

    __slots__ = ("context", "reference", "storage", "value")

    def __init__(self, handle: Any) -> None:
        self.reference: weakref.ref[Any] = weakref.ref(handle)
        self.storage: Any = handle._storage
        self.value: Any = handle._value
        self.context: Any = handle._context


class MoveLog:
    """Remembers the version each handle named before a store first moved it."""

    __slots__ = ("_first",)

    def __init__(self) -> None:
        self._first: dict[int, FirstVersion] = {}

    def note(self, handle: Any) -> None:
        """Remembers the version a handle names now, unless an earlier one is known."""
        known = self._first.get(id(handle))
        # The number of a handle that died may be another handle's now.
        if known is None or known.reference() is not handle:
            self._first[id(handle)] = FirstVersion(handle)

    def moved(self) -> Iterator[tuple[Any, FirstVersion]]:
        """The handles alive that were moved, in order, and what each named at first."""
        for first in list(self._first.values()):
            handle = first.reference()
            if handle is not None:
                yield handle, first

    def restore(self) -> None:
        """Puts every handle back and forgets the moves."""
        for handle, first in self.moved():
            if first.storage is None:
                # Its context counts it among its live tensors again.
                first.context.adopt(handle, first.value)
                continue
            handle._type = first.storage.type
            handle._storage, handle._value, handle._context = first.storage, None, None
        self._first.clear()

    def clear(self) -> None:
        """Forgets the moves: the new versions hold."""
        self._first.clear()
