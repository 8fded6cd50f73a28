"""Deferred: elements that are moved to places of their own when somebody first needs them there.

On a host, what a movement shows is known at once and where its elements lie is nobody's concern
until they are computed with, so the copy waits; often it is never asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from realta.locks import Lock
from realta.runtime.launch import Launch

if TYPE_CHECKING:
    from realta.errors import RealtaError
    from realta.runtime.storage import Storage

__all__ = ["Deferred", "filled"]

_publishing: Final = Lock()


class Deferred(Launch):
    """Stands for the launch of storages that are not filled yet; nothing of it can have failed.

    Until it is filled, a storage has what it is made of where its handle will be.

    Args:
        move: ``move(source)`` gives the handle and its block, None for a handle that has none.
    """

    __slots__ = ("move",)

    error: RealtaError | None = None
    statuses = ()
    parents = ()
    depth = 1
    locate = None

    def __init__(self, move: Callable[[Any], tuple[Any, Any]]) -> None:
        self.move = move

    def settle(self) -> None:
        """Nothing is unknown about it."""
        return

    def fill(self, storage: Storage) -> None:
        """Moves the elements, unless another thread was faster.

        Raises:
            OutOfMemory, ExecutionError: they cannot be moved; it may be tried again.
        """
        with _publishing:
            if storage.launch is not self:
                return
            source = storage.handle
        handle, block = self.move(source)
        with _publishing:
            if storage.launch is self:
                storage.handle = handle
                storage.block = block
                storage.launch = None


def filled(storage: Storage) -> Any:
    """The handle of a storage that was only deferred; None where a launch is unfinished."""
    if storage.launch.__class__ is not Deferred:
        return None if storage.launch is not None else storage.handle
    storage.wait()
    return storage.handle
