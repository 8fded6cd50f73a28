"""The stand-in driver in this process: loading it, steering it, asking it.

It has the name ``libcuda.so.1``. Once it is loaded, whoever loads a library of that name gets it:
cuda.bindings, cuda.core and NVRTC do not know that there is no GPU.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path
from typing import Final

from realta_cuda_emulator.building import HOW, driver_library
from realta_cuda_emulator.errors import EmulatorError
from realta_cuda_emulator.settings import PREFIX, configuration, forced, order_number, record_folder

__all__ = ["configure", "install", "installed", "message", "real_driver", "reset", "statistics"]

_NAME: Final = "libcuda.so.1"
_NODES: Final = ("/dev/nvidiactl", "/proc/driver/nvidia/version", "/dev/dxg")
_loaded: Final[dict[str, ctypes.CDLL]] = {}

_STATISTICS: Final = (
    "launches", "graph_launches", "copies", "synchronizations", "allocations", "live_bytes",
    "peak_bytes",
)  # fmt: skip


def install() -> None:
    """Lets cuda.bindings and cuda.core use the stand-in, as the environment says (`settings`).

    It is called before anything loads a driver; a second time it does nothing.

    Raises:
        EmulatorError: the stand-in is not built (the error says how), there is a real driver and
            ``REALTA_CUDA_EMULATE`` is not ``force``, or a driver is loaded already.
    """
    if _loaded:
        return
    library = driver_library()
    if not library.exists():
        raise EmulatorError("the emulator of CUDA is not built", where=str(library.parent), fix=HOW)
    _refuse_real_driver()
    found = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    found.realta_emulator_configure.argtypes = (ctypes.c_char_p, ctypes.c_longlong)
    found.realta_emulator_statistic.argtypes = (ctypes.c_char_p,)
    found.realta_emulator_statistic.restype = ctypes.c_longlong
    found.realta_emulator_message.restype = ctypes.c_char_p
    wanted = configuration()
    _loaded[_NAME] = found
    for name, value in wanted.items():
        found.realta_emulator_configure(name.encode(), value)
    if record_folder():
        Path(record_folder()).mkdir(parents=True, exist_ok=True)
        found.realta_emulator_record(record_folder().encode())


def installed() -> bool:
    """Whether the stand-in is this process's driver."""
    return bool(_loaded)


def configure(
    *,
    order: str | int | None = None,
    streams: str | None = None,
    fail_launch: int | None = None,
    memory_limit: int | None = None,
) -> None:
    """Changes how the stand-in behaves from now on.

    Args:
        order: ``forward``, ``reversed`` or a seed.
        streams: ``eager``, ``lazy`` or ``skip``; what is waiting is done first.
        fail_launch: the launch that fails: 1 is the next one; 0 is none.
        memory_limit: bytes that can be allocated in all.

    Raises:
        EmulatorError: the stand-in is not installed, or a value means nothing.
    """
    if streams is not None and streams not in ("eager", "lazy", "skip"):
        raise EmulatorError(
            f"streams are eager, lazy or skip, got {streams!r}", where="configure()",
            fix="choose one of these",
        )  # fmt: skip
    wanted = {
        "order": None if order is None else order_number(order),
        "lazy": None if streams is None else int(streams == "lazy"),
        "skip": None if streams is None else int(streams == "skip"),
        "fail_launch": fail_launch,
        "memory_limit": memory_limit,
    }
    for name, value in wanted.items():
        if value is not None:
            _library().realta_emulator_configure(name.encode(), value)


def reset() -> None:
    """Forgets an error that ended the context, injected failures, and work that nobody waited for.

    A real driver keeps such an error until the process ends.
    """
    _library().realta_emulator_reset()


def message() -> str:
    """What the emulator says about the last error; empty if there was none."""
    found: bytes = _library().realta_emulator_message()
    return found.decode(errors="replace")


def statistics() -> dict[str, int]:
    """How many launches, graph launches, copies, waits and allocations there were, and bytes."""
    library = _library()
    return {name: library.realta_emulator_statistic(name.encode()) for name in _STATISTICS}


def _library() -> ctypes.CDLL:
    if not _loaded:
        raise EmulatorError(
            "the stand-in driver is not installed", where="this process",
            fix="call realta_cuda_emulator.install() before anything uses CUDA",
        )  # fmt: skip
    return _loaded[_NAME]


def _refuse_real_driver() -> None:
    no_load = os.RTLD_NOW | os.RTLD_NOLOAD
    try:
        ctypes.CDLL(_NAME, mode=no_load)
    except OSError:
        pass
    else:
        raise EmulatorError(
            "a CUDA driver is loaded already", where=_NAME,
            fix="call realta_cuda_emulator.install() first, in a new process",
        )  # fmt: skip
    real = "" if forced() else real_driver()
    if real:
        raise EmulatorError(
            "there is a real CUDA driver, which the emulator would hide", where=real,
            fix=f"unset {PREFIX} to use it, or set {PREFIX}=force to hide it",
        )  # fmt: skip


def real_driver() -> str:
    """The path that shows that there is a driver here; empty if there is none."""
    folders = [Path(name) for name in os.environ.get("LD_LIBRARY_PATH", "").split(":") if name]
    for path in (*map(Path, _NODES), *(folder / _NAME for folder in folders)):
        if path.exists():
            return str(path)
    return _registered_library()


def _registered_library() -> str:
    """Where the system's loader would find a driver library; empty if nowhere."""
    for program in ("/sbin/ldconfig", "/usr/sbin/ldconfig", "ldconfig"):
        try:
            found = subprocess.run([program, "-p"], capture_output=True, text=True, check=False)
        except OSError:
            continue
        for line in found.stdout.splitlines():
            if line.strip().startswith(_NAME + " "):
                return line.rpartition("=>")[2].strip()
        return ""
    return ""
