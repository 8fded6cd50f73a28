"""Realizing: `Realize`, what `t.realize` is: a call, and something to await."""

from __future__ import annotations

import os
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from realta.context import caller_location, standing_at
from realta.locks import Lock

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from realta.graph import Location
    from realta.tensor.base import TensorBase

__all__ = ["Realize", "realize_in_background"]

T = TypeVar("T", bound="TensorBase")

_WORKERS: Final = 4
_lock: Final = Lock()
_pools: Final[list[ThreadPoolExecutor]] = []


def _pool() -> ThreadPoolExecutor:
    with _lock:
        if not _pools:
            # concurrent.futures and asyncio cost more to import than the rest of the library.
            from concurrent.futures import ThreadPoolExecutor

            _pools.append(ThreadPoolExecutor(_WORKERS, thread_name_prefix="realta-await"))
        return _pools[0]


# The threads of a pool do not survive a fork.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pools.clear)


def realize_in_background(tensor: T) -> Generator[Any, None, T]:
    """Realizes on a pool thread while the event loop goes on.

    Concurrent awaits of one context do the work once, since realizing takes the context's lock.
    Cancelling the await abandons the wait, not the work.

    Raises:
        RealizationError, ExecutionError: as `Realize` does; the place is that of the ``await``.
    """
    if tensor._settle() and tensor._storage.launch is None:
        return tensor
    import asyncio

    place = caller_location()
    work = asyncio.get_running_loop().run_in_executor(_pool(), _realize_for, tensor, place)
    yield from asyncio.shield(work).__await__()
    return tensor


def _realize_for(tensor: TensorBase, place: Location) -> None:
    with standing_at(place):
        Realize(tensor)()


class Realize(Generic[T]):
    """``t.realize``: call it (``t.realize()``) or await it (``await t.realize``)."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: T) -> None:
        self._tensor = tensor

    def __call__(self) -> T:
        """Makes the tensor real and waits for it; returns the tensor.

        Raises:
            RealizationError: it cannot become real here.
            ExecutionError: the work that makes it failed.
        """
        tensor = self._tensor
        if not tensor._settle():
            context = tensor._context
            if context is not None:  # None: another thread has just made it real
                context.demand((tensor,))
            tensor._settle()
        tensor._storage.wait()
        return tensor

    def __await__(self) -> Generator[Any, None, T]:
        return realize_in_background(self._tensor)

    def __repr__(self) -> str:
        return "<realize: call it, as in t.realize(), or await it>"
