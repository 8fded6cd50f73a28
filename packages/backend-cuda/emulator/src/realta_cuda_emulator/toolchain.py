"""Toolchain: the C++ compiler of the host, and where what it makes is kept.

Libraries are in ``realta/cuda-emulator`` where this system keeps users' caches, in a folder whose
name is a digest of all that they are made from. Images of kernels are in Realta's kernel cache.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from realta_cuda_emulator.errors import EmulatorError

__all__ = ["NATIVE", "architecture", "compiler", "digest", "folder", "identity", "run", "store"]

NATIVE: Final = Path(__file__).resolve().parent / "native"
"""The C++ sources of the emulator."""
_COMPILERS: Final = ("g++", "g++-14", "g++-13", "g++-12")
_HOW: Final = "install g++ 12 or newer (Debian and Ubuntu: apt-get install g++)"
# What the compiler must not inherit: a sanitizer that is preloaded slows it down four times.
_FOREIGN: Final = ("LD_PRELOAD", "ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS")


@lru_cache(maxsize=1)
def compiler() -> str:
    """The path of the compiler.

    Raises:
        EmulatorError: there is none, or this is no 64-bit Linux.
    """
    if platform.system() != "Linux" or platform.machine() not in ("x86_64", "aarch64"):
        raise EmulatorError(
            f"CUDA is emulated on 64-bit Linux only, this is {platform.system()} on "
            f"{platform.machine()}",
            fix="use a Linux machine, or a device that needs no emulation",
        )
    for name in _COMPILERS:
        found = shutil.which(name)
        if found:
            return found
    raise EmulatorError(
        "the emulator of CUDA needs g++, which is not there", where="PATH", fix=_HOW
    )


@lru_cache(maxsize=1)
def identity() -> str:
    """The compiler and its version, as part of what things are made from."""
    return f"{compiler()} {run([compiler(), '-dumpfullversion'], 'its version').strip()}"


@lru_cache(maxsize=1)
def architecture() -> tuple[str, ...]:
    """Options that let kernels use what this processor has (``fma`` is one instruction then)."""
    if platform.machine() != "x86_64":
        return ()
    try:
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").partition("flags")[2]
    except OSError:
        return ()
    present = set(flags.partition("\n")[0].split())
    return ("-march=x86-64-v3",) if {"avx2", "bmi2", "fma", "movbe"} <= present else ()


def run(command: Sequence[str], doing: str) -> str:
    """The output of a command of the toolchain.

    Raises:
        EmulatorError: it fails; with all that it says.
    """
    found = subprocess.run(
        command, capture_output=True, text=True, check=False, env=clean_environment()
    )
    if found.returncode:
        said = (found.stderr or found.stdout).strip()
        raise EmulatorError(f"g++ fails: {doing}:\n{said}", where=" ".join(command), fix=_HOW)
    return found.stdout


def clean_environment() -> dict[str, str]:
    """The variables that the compiler gets."""
    kept = {name: value for name, value in os.environ.items() if name not in _FOREIGN}
    return {**kept, "LC_ALL": "C"}  # messages in plain letters


def digest(*parts: str | bytes) -> str:
    """A name for what is made from these parts."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(len(data).to_bytes(8, "little"))
        found.update(data)
    return found.hexdigest()[:32]


def folder() -> Path:
    """Where libraries are kept; it may not be there yet."""
    caches = os.environ.get("XDG_CACHE_HOME", "").strip() or "~/.cache"
    return Path(caches).expanduser() / "realta" / "cuda-emulator"


def store(path: Path, data: bytes) -> None:
    """Writes a file that others find whole or not at all; a folder that is not there is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(0o755)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
