"""Errors: what the CUDA driver reports, as core's errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from realta.backend import DeviceFault, OutOfMemory

__all__ = ["POISONING", "fault", "is_out_of_memory", "out_of_memory"]

POISONING: Final = (
    "ILLEGAL_ADDRESS", "LAUNCH_FAILED", "LAUNCH_TIMEOUT", "MISALIGNED_ADDRESS", "ASSERT",
    "HARDWARE_STACK_ERROR", "ILLEGAL_INSTRUCTION", "INVALID_ADDRESS_SPACE", "INVALID_PC",
    "ECC_UNCORRECTABLE", "NVLINK_UNCORRECTABLE", "CONTEXT_IS_DESTROYED", "INVALID_CONTEXT",
    "CONTAINED", "TENSOR_MEMORY_LEAK", "EXTERNAL_DEVICE", "MPS_",
)  # fmt: skip
"""Parts of the names of errors after which a context answers every call with the same error."""
_MOST_NAMED: Final = 6


def is_out_of_memory(error: Exception) -> bool:
    """Whether a driver's error says that there is no memory."""
    return "OUT_OF_MEMORY" in str(error)


def out_of_memory(nbytes: int, used: int, reserved: int, total: int) -> OutOfMemory:
    """The device does not give memory.

    Args:
        nbytes: what was asked for.
        used: bytes of this process's pool that are in use.
        reserved: bytes that the pool has taken from the device.
        total: bytes of the device.
    """
    return OutOfMemory(
        f"a buffer of {nbytes} bytes cannot be had: the driver's pool has {used} bytes in use and "
        f"holds {reserved} of the device's {total} bytes",
        fix="free tensors, compute in smaller parts, use a smaller dtype, or close other programs "
        "that use the GPU (nvidia-smi lists them)",
    )


def fault(error: Exception, what: str, running: Sequence[str] = ()) -> DeviceFault:
    """The error to raise for one of the driver's.

    Args:
        error: what cuda.core raised.
        what: what was being done, as "exp_0 could not be launched".
        running: kernels that were given to the device and may be what failed, the latest last.
    """
    detail = str(error).strip()
    timeout = "LAUNCH_TIMEOUT" in detail
    fatal = any(name in detail for name in POISONING)
    if running:
        names = list(dict.fromkeys(running))
        shown = ", ".join(names[-_MOST_NAMED:])
        more = f" and {len(names) - _MOST_NAMED} before" if len(names) > _MOST_NAMED else ""
        what = f"{what} after {shown}{more}"
    fix = "tensors this launch was to fill stay unusable; other work is unaffected"
    if fatal:
        fix = (
            "the device's context cannot be used any more: restart the process; with "
            "REALTA_CUDA_BLOCKING=1 the next failure names its kernel and its line"
        )
    return DeviceFault(
        f"{what}: {detail}",
        fix=fix,
        kind="timeout" if timeout else "lost" if fatal else "launch",
        detail=detail,
        fatal=fatal,
    )
