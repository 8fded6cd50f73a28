"""Discovery: the CUDA devices that kernels can be compiled for, or why there are none."""

from __future__ import annotations

import importlib.util
import re
from typing import Final

from realta.backend import DeviceInfo, Unavailable

from realta_cuda import emulation
from realta_cuda.driver import DeviceFacts, Driver, load_driver

__all__ = ["LEAST_CAPABILITY", "find_devices"]

LEAST_CAPABILITY: Final = (7, 5)
"""The oldest devices that NVRTC 13 compiles for."""
_NEEDED: Final = (("cuda.core", "cuda-core"), ("cuda.bindings", "cuda-bindings"))
_WORDS: Final = re.compile(r"[a-z0-9]+")


def find_devices() -> list[DeviceInfo] | Unavailable:
    """Every device, in the driver's order."""
    driver = _driver()
    if isinstance(driver, Unavailable):
        return driver
    missing = _missing()
    if missing:
        return Unavailable(
            f"{' and '.join(missing)} cannot be imported", "pip install --upgrade realta-cuda"
        )
    devices = driver.devices()
    if isinstance(devices, Unavailable):
        return devices
    usable = [device for device in devices if device.capability >= LEAST_CAPABILITY]
    if not usable:
        names = ", ".join(f"{d.name} (sm_{d.capability[0]}{d.capability[1]})" for d in devices)
        return Unavailable(
            f"NVRTC 13 compiles for sm_75 and newer, and there is only {names}",
            "use this device through OpenCL: pip install realta-opencl",
        )
    return [_info(device, emulated=emulation.wanted()) for device in usable]


def _driver() -> Driver | Unavailable:
    driver = load_driver()
    if not emulation.wanted():
        return driver
    started = emulation.emulator(isinstance(driver, Driver))
    return started if isinstance(started, Unavailable) else load_driver()


def _missing() -> list[str]:
    """Distributions that are not there; the first part of the name is a namespace."""
    found = []
    for module, distribution in _NEEDED:
        try:
            spec = importlib.util.find_spec(module)
        except ImportError:
            spec = None
        if spec is None:
            found.append(distribution)
    return found


def _info(device: DeviceFacts, *, emulated: bool) -> DeviceInfo:
    words = [word for word in _WORDS.findall(device.name.lower()) if not word.isdecimal()]
    major, minor = device.capability
    return DeviceInfo(
        device.number,
        f"{device.name} (sm_{major}{minor})",
        uid=f"gpu-{device.uuid}",
        aliases=tuple(dict.fromkeys([f"sm_{major}{minor}", *words])),
        kind="simulator" if emulated else "accelerator",
        memory_bytes=device.memory_bytes,
    )
