"""Emulation: a stand-in for the driver where there is no GPU, if one is asked for and built.

The stand-in comes from a distribution of its own, `realta-cuda-emulator`, which is built from this
project's sources and published nowhere.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from types import ModuleType
from typing import Any, Final

from realta.backend import ArgumentError, Unavailable

__all__ = ["VARIABLE", "emulator", "wanted"]

VARIABLE: Final = "REALTA_CUDA_EMULATE"
_MODULE: Final = "realta_cuda_emulator"
_HOW: Final = (
    "in a checkout of realta run `nox -s cuda_emulator`, which needs g++, or unset "
    f"{VARIABLE} to use a GPU"
)
_started: dict[str, ModuleType] = {}


def wanted() -> bool:
    """Whether ``REALTA_CUDA_EMULATE`` asks for the stand-in.

    Raises:
        ArgumentError: it is neither empty, 0, 1 nor force.
    """
    return _given() in ("1", "force")


def _given() -> str:
    given = os.environ.get(VARIABLE, "").strip().lower()
    if given not in ("", "0", "1", "force"):
        raise ArgumentError(
            f"{VARIABLE} is 0, 1 or force, got {given!r}",
            where=f"environment variable {VARIABLE}",
            fix="unset it to use a GPU, or set it to 1 for the stand-in",
        )
    return given


def emulator(real: bool) -> Any:
    """The emulator's module with the stand-in in place, or an `Unavailable`.

    Args:
        real: whether a real driver is present, which is never replaced unless forced.
    """
    if _MODULE in _started:
        return _started[_MODULE]
    if real and _given() != "force":
        return Unavailable(
            f"{VARIABLE}=1 asks for emulation, but this machine has a CUDA driver",
            f"unset it to use the GPU, or set {VARIABLE}=force",
        )
    if importlib.util.find_spec(_MODULE) is None:
        return Unavailable(
            f"{VARIABLE}=1 asks for emulation, but realta-cuda-emulator is not installed", _HOW
        )
    try:
        module = importlib.import_module(_MODULE)
        module.install()
    except Exception as error:
        return Unavailable(
            f"the emulator of CUDA cannot be started: {type(error).__name__}: {error}", _HOW
        )
    _started[_MODULE] = module
    return module
