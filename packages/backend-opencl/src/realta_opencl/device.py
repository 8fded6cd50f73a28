"""Device facts: limits, dtypes, numerics, profile and fingerprint, from what a driver tells."""

from __future__ import annotations

import hashlib
import os
import platform
from pathlib import Path
from typing import Any, Final

from realta.backend import ArgumentError, DType, Limits, Numerics
from realta.codegen import CPU_PROFILE, GPU_PROFILE, DeviceProfile
from realta.types import DTYPES, float32, float64

__all__ = ["device_limits", "device_numerics", "device_profile", "fingerprint", "is_cpu", "storage"]

_PROFILE: Final = "REALTA_OPENCL_PROFILE"
_RANK: Final = 32
_GROUPS_PER_UNIT: Final = 32
"""Groups of a GPU that run at once, for each of its compute units."""


def is_cpu(cl: Any, device: Any) -> bool:
    """Whether it is the processor of this machine."""
    return bool(device.type & cl.device_type.CPU)


def device_limits(device: Any) -> Limits:
    """What the driver says that kernels and buffers may not exceed."""
    return Limits(
        buffer_bytes=int(device.max_mem_alloc_size),
        rank=_RANK,
        alignment=max(int(device.mem_base_addr_align) // 8, 64),
        parameter_bytes=int(device.max_parameter_size),
        local_bytes=int(device.local_mem_size),
        group_size=int(device.max_work_group_size),
    )


def has_float64(device: Any) -> bool:
    """Whether it computes in double precision."""
    return bool(device.double_fp_config) and "cl_khr_fp64" in device.extensions


def storage(device: Any) -> frozenset[DType]:
    """The dtypes it holds; float16 and narrower floats are converted by the kernels themselves."""
    return frozenset(DTYPES) - (frozenset() if has_float64(device) else frozenset({float64}))


def device_numerics(cl: Any, device: Any) -> Numerics:
    """Its promises about bits.

    A driver that does not round division and square root correctly is held to what OpenCL asks for;
    processors do round them, whatever their driver says.
    """
    config = int(device.single_fp_config)
    keeps = config & int(cl.device_fp_config.DENORM)
    exact = is_cpu(cl, device) or config & int(cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT)
    return Numerics(
        subnormals="keep" if keeps else "flush",
        ulp={} if exact else {("div", float32): 2.5, ("sqrt", float32): 3.0},
    )


def options(cl: Any, device: Any, wanted: tuple[str, ...]) -> tuple[str, ...]:
    """The dialect's compiler options that this device has."""
    config = int(device.single_fp_config)
    if not config & int(cl.device_fp_config.CORRECTLY_ROUNDED_DIVIDE_SQRT):
        wanted = tuple(flag for flag in wanted if "divide-sqrt" not in flag)
    # Drivers print warnings where the user sees them; those of generated code are ours to see.
    return (*wanted, "-w")


def device_profile(cl: Any, device: Any) -> DeviceProfile:
    """The profile that fits it, or the one that ``REALTA_OPENCL_PROFILE`` names.

    Raises:
        ArgumentError: the variable names none.
    """
    units = max(1, int(device.max_compute_units))
    profiles = {
        "cpu": CPU_PROFILE.replace(workers=units),
        "gpu": GPU_PROFILE.replace(workers=units * _GROUPS_PER_UNIT),
    }
    given = os.environ.get(_PROFILE, "").strip() or ("cpu" if is_cpu(cl, device) else "gpu")
    if given not in profiles:
        raise ArgumentError(
            f"there is no profile {given!r}",
            where=f"environment variable {_PROFILE}",
            fix=f"use {' or '.join(profiles)}, or unset it",
        )
    return profiles[given]


def fingerprint(cl: Any, device: Any) -> str:
    """Tells the device and its driver from all others: part of the key of every kernel on disk."""
    told = [
        device.platform.name, device.platform.version, device.vendor, device.name, device.version,
        device.driver_version, device.max_compute_units, device.extensions,
    ]  # fmt: skip
    if is_cpu(cl, device):
        # Drivers give processors of one make the same name, whatever instructions they have.
        told += [platform.machine(), _instructions()]
    digest = hashlib.sha256("\n".join([str(part) for part in told]).encode()).hexdigest()
    return f"opencl-{device.name.strip()}-{device.driver_version.strip()}-{digest[:16]}"


def _instructions() -> str:
    """The processor's model and instruction sets, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        return platform.processor()
    wanted = ("model name", "flags", "Features", "CPU part")
    return "\n".join(
        dict.fromkeys([line for line in lines if line.split("\t")[0].strip() in wanted])
    )
