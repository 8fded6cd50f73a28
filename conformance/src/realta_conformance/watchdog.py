"""Watchdog: how long a device may stay in one call before its process is given up.

There is no deadline on compiling, nor on the suite's own work; only a call that runs kernels or
moves bytes can hang. A worker writes what it is doing into memory that its parent shares, so that
being watched costs it nothing.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from typing import Final

__all__ = ["DEFAULT_SECONDS", "Watchdog"]

DEFAULT_SECONDS: Final = 300.0
_PHASES: Final = ("", "compile", "write", "read", "run", "core")
_WITHOUT_DEADLINE: Final = frozenset({"", "compile"})
_SINCE: Final = struct.Struct("<d")
_SIZE: Final = _SINCE.size + 1


class Watchdog:
    """The phase that a process is in and since when, in shared memory.

    Args:
        seconds: how long one phase may last; 0 for ever.
        fd: file descriptor of the memory; new memory if left out.
    """

    def __init__(self, seconds: float = DEFAULT_SECONDS, fd: int = -1) -> None:
        self.seconds = seconds
        self.fd = fd
        if fd < 0:
            self.fd = os.memfd_create("realta-watchdog")
            os.ftruncate(self.fd, _SIZE)
        self._memory = mmap.mmap(self.fd, _SIZE)

    def mark(self, phase: str) -> None:
        """Enters a phase; an empty text where no call is in progress."""
        # The time first: whoever reads in between takes the old phase for a new one, which is safe.
        _SINCE.pack_into(self._memory, 0, time.monotonic())
        self._memory[_SINCE.size] = _PHASES.index(phase)

    @property
    def phase(self) -> str:
        """The phase that the process is in."""
        return _PHASES[self._memory[_SINCE.size]]

    def left(self) -> float:
        """Seconds until the phase is overdue, if it is one that can be."""
        if self.phase in _WITHOUT_DEADLINE:
            return self.seconds
        (since,) = _SINCE.unpack_from(self._memory, 0)
        return float(max(0.0, since + self.seconds - time.monotonic()))

    @property
    def overdue(self) -> bool:
        """Whether the phase lasts too long."""
        return self.seconds > 0 and self.left() == 0

    def close(self) -> None:
        """Gives the memory back."""
        self._memory.close()
        os.close(self.fd)
