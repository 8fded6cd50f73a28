"""EmulatorError: what stands in the way of emulation, and how to mend it."""

from __future__ import annotations

from realta.errors import RealtaError

__all__ = ["EmulatorError", "KernelCompilationError"]


class EmulatorError(RealtaError, RuntimeError):
    """The emulator is not built, cannot be built, or must not be used here."""


class KernelCompilationError(EmulatorError):
    """The compiler refused a kernel.

    Args:
        what: what it says first.
        log: all that it says.
        where: the line of the source.
        fix: how to mend it.
    """

    def __init__(self, what: str, *, log: str, where: str = "", fix: str = "") -> None:
        super().__init__(what, where=where, fix=fix)
        self.log = log
