"""Driver: the CUDA driver as ctypes sees it: whether it is there, and which devices it has.

Asked before any library of NVIDIA's is imported: cuda.core raises in odd places where there is no
driver, and waits for ever at the second kernel. Functions are looked up through
``cuGetProcAddress``, as cuda.bindings does, so that a stand-in for the driver serves both.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any, Final, NamedTuple

from realta.backend import Unavailable

__all__ = ["LEAST_VERSION", "DeviceFacts", "Driver", "load_driver"]

LEAST_VERSION: Final = 13000
"""The driver API that cubins of NVRTC 13 need; any 13.x loads what any other 13.x made."""
_LIBRARY: Final = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
_MAJOR: Final = 75
_MINOR: Final = 76
"""Numbers of the attributes of the compute capability."""
_NO_DEVICE: Final = 100
_CODES: Final = {
    3: "CUDA_ERROR_NOT_INITIALIZED",
    100: "CUDA_ERROR_NO_DEVICE",
    101: "CUDA_ERROR_INVALID_DEVICE",
    802: "CUDA_ERROR_SYSTEM_NOT_READY",
    803: "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
    804: "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
    999: "CUDA_ERROR_UNKNOWN",
}
_FIX_DRIVER: Final = (
    "install NVIDIA's driver for the GPU, version 580 or newer, and check it with nvidia-smi; "
    "without a GPU use realta-opencl or realta-numpy"
)


class DeviceFacts(NamedTuple):
    """What the driver says of a device."""

    number: int
    name: str
    memory_bytes: int
    capability: tuple[int, int]
    uuid: str


class Driver:
    """A driver that answers.

    Args:
        library: the loaded library.
        version: what ``cuDriverGetVersion`` says, as 13000.
    """

    def __init__(self, library: ctypes.CDLL, version: int) -> None:
        self._library = library
        self.version = version

    def devices(self) -> list[DeviceFacts] | Unavailable:
        """Every device that ``CUDA_VISIBLE_DEVICES`` leaves visible."""
        count = ctypes.c_int()
        code = self._call("cuDeviceGetCount", ctypes.byref(count))
        if code or not count.value:
            return _no_device(code or _NO_DEVICE)
        return [self._facts(index) for index in range(count.value)]

    def _facts(self, index: int) -> DeviceFacts:
        device = ctypes.c_int()
        self._call("cuDeviceGet", ctypes.byref(device), ctypes.c_int(index))
        name = ctypes.create_string_buffer(256)
        self._call("cuDeviceGetName", name, ctypes.c_int(len(name)), device)
        memory = ctypes.c_size_t()
        self._call("cuDeviceTotalMem", ctypes.byref(memory), device)
        uuid = ctypes.create_string_buffer(16)
        self._call("cuDeviceGetUuid", uuid, device)
        major, minor = self._attribute(_MAJOR, device), self._attribute(_MINOR, device)
        text = name.value.decode(errors="replace").strip()
        return DeviceFacts(index, text, memory.value, (major, minor), uuid.raw.hex())

    def _attribute(self, number: int, device: ctypes.c_int) -> int:
        value = ctypes.c_int()
        self._call("cuDeviceGetAttribute", ctypes.byref(value), ctypes.c_int(number), device)
        return value.value

    def _call(self, name: str, *arguments: Any) -> int:
        """Calls a function of the driver; its error code, 0 if it went well."""
        found = ctypes.c_void_p()
        status = ctypes.c_int()
        code = self._library.cuGetProcAddress_v2(
            name.encode(), ctypes.byref(found), ctypes.c_int(LEAST_VERSION),
            ctypes.c_uint64(0), ctypes.byref(status),
        )  # fmt: skip
        if code or not found.value:
            return int(code) or 500
        return int(ctypes.CFUNCTYPE(ctypes.c_int)(found.value)(*arguments))


def load_driver() -> Driver | Unavailable:
    """The driver, started, or why it cannot be used."""
    try:
        library = ctypes.CDLL(_LIBRARY)
    except OSError:
        return Unavailable(f"there is no CUDA driver here ({_LIBRARY} is not found)", _FIX_DRIVER)
    version = ctypes.c_int()
    code = int(library.cuDriverGetVersion(ctypes.byref(version)))
    if not code and version.value < LEAST_VERSION:
        return _too_old(version.value)
    code = code or int(library.cuInit(ctypes.c_uint(0)))
    if code:
        return _no_device(code)
    return Driver(library, version.value)


def _too_old(version: int) -> Unavailable:
    found = f"{version // 1000}.{version % 1000 // 10}"
    return Unavailable(
        f"the CUDA driver is for CUDA {found}, and kernels are compiled for CUDA 13", _FIX_DRIVER
    )


def _no_device(code: int) -> Unavailable:
    name = _CODES.get(code, f"error {code}")
    if code == _NO_DEVICE:
        return Unavailable(
            f"the CUDA driver shows no device ({name})",
            "check nvidia-smi and the variable CUDA_VISIBLE_DEVICES; in a container give it the "
            "GPUs (docker run --gpus all)",
        )
    return Unavailable(
        f"the CUDA driver does not start ({name})",
        "check it with nvidia-smi; after an update of the driver the machine must be started anew",
    )
