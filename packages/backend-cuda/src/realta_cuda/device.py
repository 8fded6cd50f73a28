"""Device facts: limits, numerics, profile and fingerprint of a CUDA device."""

from __future__ import annotations

import hashlib
import os
from typing import Any, Final

from realta.backend import ArgumentError, Limits, Numerics
from realta.codegen import GPU_PROFILE, DeviceProfile

__all__ = ["NUMERICS", "architecture", "blocking", "device_limits", "device_profile", "fingerprint"]

_RANK: Final = 32
_ALIGNMENT: Final = 256
"""Bytes to which the driver's pool aligns, and to which parts of the arena are cut."""
_PARAMETER_BYTES: Final = 4096
_STATIC_SHARED_BYTES: Final = 48 << 10
"""Shared memory that a kernel may declare; more must be asked for at launch."""
_GROUPS_PER_UNIT: Final = 8
_VECTOR_BYTES: Final = 16
"""The widest load and store. Every handle begins at a multiple of `_ALIGNMENT`."""
_BLOCKING: Final = "REALTA_CUDA_BLOCKING"

NUMERICS: Final = Numerics()
"""CUDA keeps subnormals, rounds division and square root correctly, and its functions are within
the bounds of spec 5a: the compiler's options say so, and the documentation gives the bounds."""


def architecture(device: Any) -> str:
    """The real architecture that kernels are compiled for, as ``sm_90``."""
    capability = device.compute_capability
    return f"sm_{capability.major}{capability.minor}"


def device_limits(shared_bytes: int = _STATIC_SHARED_BYTES, group_size: int = 1024) -> Limits:
    """What kernels and buffers may not exceed.

    Args:
        shared_bytes: shared memory of a block.
        group_size: threads of a block.
    """
    return Limits(
        rank=_RANK,
        alignment=_ALIGNMENT,
        parameter_bytes=_PARAMETER_BYTES,
        local_bytes=min(shared_bytes, _STATIC_SHARED_BYTES),
        group_size=group_size,
    )


def device_profile(units: int) -> DeviceProfile:
    """The schedules' profile: that of GPUs, for so many multiprocessors."""
    workers = max(1, units) * _GROUPS_PER_UNIT
    return GPU_PROFILE.replace(workers=workers, vector_bytes=_VECTOR_BYTES)


def fingerprint(device: Any, compiler: str) -> str:
    """Tells the device and what compiles for it from all others: part of each kernel's key."""
    told = [device.name, architecture(device), compiler]
    digest = hashlib.sha256("\n".join(str(part) for part in told).encode()).hexdigest()
    return f"cuda-{device.name.strip()}-{architecture(device)}-{digest[:16]}"


def blocking() -> bool:
    """Whether each launch is waited for, so that a failure names its kernel.

    Raises:
        ArgumentError: ``REALTA_CUDA_BLOCKING`` is neither 0 nor 1.
    """
    given = os.environ.get(_BLOCKING, "").strip()
    if given not in ("", "0", "1"):
        raise ArgumentError(
            f"{_BLOCKING} is 0 or 1, got {given!r}",
            where=f"environment variable {_BLOCKING}",
            fix="unset it, or set it to 1 to wait for each kernel",
        )
    return given == "1"
