"""Compiling: CUDA C++ to an image that the stand-in driver loads.

An image is a shared object of the host. Realta's kernel cache keeps images under a digest of the
source, the options, the header and the compiler. Options of NVRTC about code for
GPUs (``--gpu-architecture`` and others) are taken and mean nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from realta.runtime import shared_kernel_cache

from realta_cuda_emulator.errors import EmulatorError, KernelCompilationError
from realta_cuda_emulator.settings import checked, record_folder
from realta_cuda_emulator.toolchain import (
    NATIVE,
    architecture,
    clean_environment,
    compiler,
    digest,
    folder,
    identity,
    run,
    store,
)

__all__ = ["compile_image", "kernel_names", "source_key"]

_KERNEL: Final = re.compile(
    r"__global__\s+void\s+(?:__launch_bounds__\s*\(([^)]*)\)\s*)?(\w+)\s*\("
)
_BOUNDS_FIRST: Final = re.compile(
    r"__launch_bounds__\s*\(([^)]*)\)\s*(?:__global__\s+)?void\s+(\w+)\s*\("
)
_DYNAMIC: Final = re.compile(
    r"extern\s+__shared__\s+((?:__align__\s*\(\d+\)\s*)?)([\w ]+?)\s+(\w+)\s*\[\s*\]\s*;"
)
_FLAGS: Final = (
    "-std=gnu++17", "-O1", "-g1", "-fPIC", "-shared", "-ffp-contract=off", "-fno-math-errno",
    "-fno-trapping-math", "-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing",
    "-fno-gnu-unique", "-fno-asynchronous-unwind-tables", "-fno-stack-protector",
    "-fvisibility=hidden", "-nostdlib", "-nostdinc", "-w",
)  # fmt: skip
# Always: what a vector needs and where an array ends; both cost next to nothing.
_SOUND: Final = ("-fsanitize=alignment,bounds",)
# Each access becomes a call into checks.cpp.
_CHECKED: Final = ("-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=0")
# What sanitizers of the host's compiler are given; they run out of process, see sanitizers.py.
_SANITIZED: Final = {
    "address": (
        "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all",
        "-fsanitize-sections=emu_shared",
    ),
    "thread": ("-fsanitize=thread", "--param=tsan-instrument-func-entry-exit=1"),
}  # fmt: skip
_MOST_THREADS: Final = 1024


def compile_image(source: str, options: Sequence[str] = (), sanitizer: str = "") -> bytes:
    """Compiles CUDA C++.

    Args:
        source: a translation unit, as NVRTC gets it; kernels are ``extern "C"``.
        options: those for NVRTC; ``-D`` and ``-I`` are kept.
        sanitizer: ``address`` or ``thread`` for an image that a runner loads; empty for one that
            the stand-in driver loads.

    Raises:
        KernelCompilationError: the source is wrong.
        EmulatorError: there is no g++, or the source has no kernel.
    """
    unit = _translation_unit(source, checked=checked() and not sanitizer)
    kept = tuple(sorted(option for option in options if option.startswith(("-D", "-I"))))
    flags = (*_FLAGS, *architecture(), *_instrumentation(sanitizer), *kept)
    if record_folder() and not sanitizer:
        store(Path(record_folder()) / f"{source_key(source)}.cu", source.encode())
    cache = shared_kernel_cache()
    key = cache.key("cuda-emulator", unit, _header(), identity(), *flags)
    image = cache.find(key)
    if image is None:
        image = _compiled(unit, flags)
        cache.keep(key, image)
    return image


def source_key(source: str) -> str:
    """What launches of a source's kernels are recorded under."""
    return digest(source)


def kernel_names(source: str) -> dict[str, int]:
    """The kernels of a source, with the most threads of a block that each is compiled for."""
    found: dict[str, int] = {}
    for pattern in (_KERNEL, _BOUNDS_FIRST):
        for match in pattern.finditer(source):
            bounds = (match[1] or "").split(",")[0].strip()
            found.setdefault(match[2], int(bounds) if bounds.isdigit() else _MOST_THREADS)
    return found


def _instrumentation(sanitizer: str) -> tuple[str, ...]:
    if sanitizer:
        return _SANITIZED[sanitizer]
    return (*_SOUND, *_CHECKED) if checked() else _SOUND


@lru_cache(maxsize=1)
def _header() -> bytes:
    return (NATIVE / "kernel.h").read_bytes()


def _translation_unit(source: str, *, checked: bool) -> str:
    names = kernel_names(source)
    if not names:
        raise EmulatorError(
            "the source has no kernel",
            where=f"CUDA C++ of {len(source.splitlines())} lines",
            fix='kernels are written as extern "C" __global__ void name(...)',
        )
    # Memory whose size the launch says is no array that C++ has.
    body = _DYNAMIC.sub(r"\2 *\3 = (\2 *)emu_dynamic_shared();", source)
    entries = [f"EMU_KERNEL({name}, {most})" for name, most in names.items()]
    return "\n".join(
        (
            '#include "kernel.h"',
            '#line 1 "kernel.cu"',
            body,
            *entries,
            f'EMU_IMAGE({int(checked)}, "{source_key(source)}")',
            "",
        )
    )


def _compiled(unit: str, flags: Sequence[str]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="realta-cuda-") as scratch:
        made = os.path.join(scratch, "kernel.so")
        command = [compiler(), *flags, "-I", str(_headers(tuple(flags)))]
        command += ["-x", "c++", "-o", made, "-"]
        found = subprocess.run(
            command, input=unit, capture_output=True, text=True, check=False,
            env=clean_environment(),
        )  # fmt: skip
        if found.returncode:
            raise _refused(found.stderr)
        return Path(made).read_bytes()


@lru_cache(maxsize=16)
def _headers(flags: tuple[str, ...]) -> Path:
    """A folder with the header, compiled before for these flags where that is possible."""
    place = folder() / f"header-{digest(identity(), _header(), *flags)}"
    compiled = place / "kernel.h.gch"
    if compiled.exists():
        return place
    try:
        store(place / "kernel.h", _header())
        with tempfile.TemporaryDirectory(prefix="realta-cuda-") as scratch:
            made = Path(scratch) / compiled.name
            header = str(place / "kernel.h")
            command = [compiler(), *flags, "-x", "c++-header", header, "-o", str(made)]
            run(command, "the header of kernels cannot be compiled")
            store(compiled, made.read_bytes())
    except (EmulatorError, OSError):
        return NATIVE
    return place


def _refused(log: str) -> KernelCompilationError:
    first = re.search(r"^(kernel\.cu:\d+:\d+): (?:fatal )?error: (.*)$", log, re.MULTILINE)
    if first is None:
        return KernelCompilationError(f"g++ fails:\n{log.strip()}", log=log)
    return KernelCompilationError(
        f"g++ refuses the kernel: {first[2]}", log=log, where=first[1],
        fix="read the attribute `log` of this error for all that it says",
    )  # fmt: skip
