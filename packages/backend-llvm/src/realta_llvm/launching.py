"""Launching: kernels as functions of addresses, in this thread if short, in all if long."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any, Final

from realta.backend import KernelSignature
from realta.runtime import workers

from realta_llvm.machine import Library
from realta_llvm.storage import Memory

__all__ = ["Launcher"]

_SPLIT_FROM: Final = 150_000
"""Nanoseconds of work from which waking other threads is worth it."""
_UNLOCKED_FROM: Final = 20_000
"""Nanoseconds of work from which other Python threads may run meanwhile."""
_BYTES_PER_NS: Final = 12
_INSTRUCTIONS_PER_NS: Final = 4


class Launcher:
    """One loaded kernel.

    Args:
        library: where it is.
        kernel: its signature.
        cost: instructions that all its groups take.
        arguments: number of its buffers, if the signature does not list them.

    Attributes:
        function: the kernel as a function of addresses.
        ranged: whether it takes a range of groups behind them.
        nanoseconds: what it takes in one thread, roughly.
    """

    def __init__(
        self, library: Library, kernel: KernelSignature, cost: int, arguments: int | None = None
    ) -> None:
        self.groups = kernel.groups
        self.ranged = kernel.groups > 1
        nbytes = sum(buffer.size * buffer.dtype.itemsize for buffer in kernel.buffers)
        self.nanoseconds = max(nbytes // _BYTES_PER_NS, cost // _INSTRUCTIONS_PER_NS)
        count = len(kernel.buffers) if arguments is None else arguments
        made = _prototype(count, self.ranged, self.nanoseconds >= _UNLOCKED_FROM)
        function = made(library.address(kernel.name))
        # Whoever has the function can call it, also when the executable is long gone.
        function.library = library
        self.function: Callable[..., None] = function

    def call(self) -> Callable[..., None]:
        """The kernel as a function of handles."""
        if not self.ranged:
            return self._once
        return self._shared if self.nanoseconds >= _SPLIT_FROM else self._inline

    def _once(self, *handles: Memory) -> None:
        self.function(*[handle.address for handle in handles])

    def _inline(self, *handles: Memory) -> None:
        self.function(*[handle.address for handle in handles], 0, self.groups)

    def _shared(self, *handles: Memory) -> None:
        pool, groups, function = workers(), self.groups, self.function
        shares = min(pool.count, groups)
        addresses = [handle.address for handle in handles]

        def share(number: int) -> None:
            first, last = groups * number // shares, groups * (number + 1) // shares
            function(*addresses, first, last)

        pool.run(share, shares)


@cache
def _prototype(pointers: int, ranged: bool, unlocked: bool) -> Any:
    """The C type of a kernel."""
    kind = ctypes.CFUNCTYPE if unlocked else ctypes.PYFUNCTYPE
    return kind(None, *[ctypes.c_void_p] * pointers, *[ctypes.c_int64] * (2 * ranged))
