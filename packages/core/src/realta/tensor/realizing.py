"""Realizing: `Realize`, what `t.realize` is: a call, and something to await."""

from __future__ import annotations

import threading
from collections.abc import Generator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from concurrent.futures import ThreadPoolExecutor

    from realta.tensor.tensor import Tensor

__all__ = ["Realize", "realize_in_background"]

_WORKERS: Final = 4
_lock: Final = threading.Lock()
_pools: Final[list[ThreadPoolExecutor]] = []


def _pool() -> ThreadPoolExecutor:
    with _lock:
        if not _pools:
            # concurrent.futures and asyncio cost more to import than the rest of the library.
            from concurrent.futures import ThreadPoolExecutor

            _pools.append(ThreadPoolExecutor(_WORKERS, thread_name_prefix="realta-await"))
        return _pools[0]


def realize_in_background(tensor: Tensor) -> Generator[Any, None, Tensor]:
    """Realizes on a pool thread while the event loop goes on.

    Concurrent awaits of one context do the work once, since realizing takes the context's lock.
    Cancelling the await abandons the wait, not the work.
    """
    if tensor.is_real:
        tensor.realize()
        return tensor
    import asyncio

    loop = asyncio.get_running_loop()
    yield from asyncio.shield(loop.run_in_executor(_pool(), tensor.realize)).__await__()
    return tensor


class Realize:
    """``t.realize``: call it (``t.realize()``) or await it (``await t.realize``)."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor

    def __call__(self) -> Tensor:
        """Makes the tensor real and waits for it; returns the tensor.

        Raises:
            RealizationError: it cannot become real here.
            ExecutionError: the work that makes it failed.
        """
        tensor = self._tensor
        if not tensor._settle():
            tensor._context.demand((tensor,))
            tensor._settle()
        tensor._storage.wait()
        return tensor

    def __await__(self) -> Generator[Any, None, Tensor]:
        return realize_in_background(self._tensor)

    def __repr__(self) -> str:
        return "<realize: call it, as in t.realize(), or await it>"
