"""Errors: what a driver reports, as core's errors."""

from __future__ import annotations

from typing import Any, Final

from realta.backend import DeviceFault, OutOfMemory

__all__ = ["translated"]

_NO_MEMORY: Final = frozenset(
    {"MEM_OBJECT_ALLOCATION_FAILURE", "OUT_OF_RESOURCES", "OUT_OF_HOST_MEMORY",
     "INVALID_BUFFER_SIZE"}
)  # fmt: skip
_LOST: Final = frozenset(
    {"DEVICE_NOT_AVAILABLE", "INVALID_DEVICE", "INVALID_CONTEXT", "INVALID_COMMAND_QUEUE",
     "EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", "INVALID_EVENT"}
)  # fmt: skip


def translated(error: Any, what: str) -> DeviceFault | OutOfMemory:
    """The error to raise for one of pyopencl's.

    Args:
        error: a ``pyopencl.Error``.
        what: what was being done, as "exp_add could not be launched".
    """
    name = _name(error)
    if name in _NO_MEMORY:
        return OutOfMemory(
            f"{what}: the device has no memory for it ({name})",
            fix="free tensors, compute in smaller parts, or use a smaller dtype",
        )
    lost = name in _LOST
    return DeviceFault(
        f"{what}: {error}",
        fix="the device is opened anew at the next use"
        if lost
        else "tensors this launch was to fill stay unusable; other work is unaffected",
        kind="lost" if lost else "launch",
        detail=str(error),
        fatal=lost,
    )


def _name(error: Any) -> str:
    """The driver's code by its name in the specification, as ``INVALID_KERNEL``."""
    code = getattr(error, "code", None)
    for text in (str(error).rpartition(" - ")[2] if code is None else str(error),):
        for name in (*_NO_MEMORY, *_LOST):
            if name in text:
                return name
    return ""
