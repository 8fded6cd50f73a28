"""Host BLAS: one thread for our own calls, and what it was before afterwards.

How many threads BLAS uses changes bits of its results, so tiles are ours and each runs on one. The
controller is imported and made at the first contraction: finding the loaded libraries takes
milliseconds, and a process that multiplies no matrices need not pay them.
"""

from __future__ import annotations

import importlib
import os
import threading
from types import TracebackType
from typing import Any

__all__ = ["OneThread", "one_thread"]


class OneThread:
    """A context in which BLAS has one thread; nests, and several threads may enter it at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users = 0
        self._libraries: list[Any] | None = None
        self._before: list[int] = []

    def __enter__(self) -> None:
        with self._lock:
            if self._libraries is None:
                self._libraries = _blas_libraries()
            if self._users == 0:
                self._before = [library.get_num_threads() for library in self._libraries]
                for library, count in zip(self._libraries, self._before, strict=True):
                    if count != 1:
                        library.set_num_threads(1)
            self._users += 1

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0 and self._libraries is not None:
                for library, count in zip(self._libraries, self._before, strict=True):
                    if count != 1:
                        library.set_num_threads(count)

    def after_fork(self) -> None:
        """In a forked child: the thread that was to restore the number does not exist here."""
        self._lock = threading.Lock()
        users, self._users = self._users, 0
        if users and self._libraries is not None:
            for library, count in zip(self._libraries, self._before, strict=True):
                library.set_num_threads(count)


def _blas_libraries() -> list[Any]:
    # Imported by name so that nothing of it is paid before the first contraction.
    threadpoolctl = importlib.import_module("threadpoolctl")
    found = threadpoolctl.ThreadpoolController().select(user_api="blas")
    return list(found.lib_controllers)


one_thread = OneThread()
"""The process's context: ``with one_thread: numpy.matmul(...)``."""

if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=one_thread.after_fork)
