"""Compiler: CUDA C++ to device code: NVRTC for a GPU, the emulator's for the stand-in."""

from __future__ import annotations

import importlib.metadata
import io
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from cuda.core import Program, ProgramOptions
from realta.backend import CompilationError
from realta.runtime import KernelCache

__all__ = ["Compiled", "build_image", "compile_cubin", "compiler_version"]

_FIELDS: Final[dict[str, tuple[str, bool]]] = {
    "--fmad=false": ("fma", False),
    "--ftz=false": ("ftz", False),
    "--prec-div=true": ("prec_div", True),
    "--prec-sqrt=true": ("prec_sqrt", True),
}
"""How cuda.core calls the dialect's options."""
_PTXAS: Final = ("-v", "--warn-on-spills", "--warn-on-local-memory-usage")
"""What makes ptxas tell what a kernel needs."""


class Compiled(NamedTuple):
    """What the compiler made.

    Args:
        cubin: code for one architecture.
        log: what ptxas said about registers, shared memory and spills; empty unless asked for.
    """

    cubin: bytes
    log: str


def compiler_version() -> str:
    """The version of NVRTC, as its distribution says, without loading it."""
    try:
        return importlib.metadata.version("nvidia-cuda-nvrtc")
    except importlib.metadata.PackageNotFoundError:
        return "unknown"


def compile_cubin(
    source: str, arch: str, options: Sequence[str], *, verbose: bool = False
) -> Compiled:
    """Compiles a source for one architecture; needs no driver.

    No header is read: all that a source needs is in its preamble.

    Args:
        source: CUDA C++.
        arch: as ``sm_90``.
        options: the dialect's.
        verbose: whether the log is wanted; then no cache of the compiler's is used.

    Raises:
        CompilationError: it does not compile; with the log, the source and its file.
    """
    fields: dict[str, Any] = dict(_FIELDS[option] for option in options)
    if verbose:
        fields |= {"ptxas_options": list(_PTXAS), "no_cache": True}
    log = io.StringIO()
    try:
        program = Program(source, "c++", ProgramOptions(arch=arch, std="c++17", **fields))
        try:
            code = program.compile("cubin", logs=log).code
        finally:
            # An error's traceback must not keep it: the garbage collector cannot take it apart.
            del program
    except Exception as error:
        raise _build_error(source, arch, str(error), log.getvalue()) from error
    return Compiled(bytes(code), log.getvalue())


def build_image(
    source: str, arch: str, options: Sequence[str], cache: KernelCache, identity: Sequence[str]
) -> bytes:
    """The cubin of a source, from the disk if an earlier process compiled the same.

    Args:
        source: CUDA C++.
        arch: as ``sm_90``.
        options: the dialect's.
        cache: cubins on disk.
        identity: what a cubin depends on beside: generator and compiler.

    Raises:
        CompilationError: it does not compile.
    """
    key = cache.key("cuda", arch, *identity, *options, source)
    found = cache.find(key)
    if found is None:
        found = compile_cubin(source, arch, options).cubin
        cache.keep(key, found)
    return found


def _build_error(source: str, arch: str, message: str, log: str) -> CompilationError:
    first = message.strip().splitlines()[0] if message.strip() else "no message"
    return CompilationError(
        f"NVRTC {compiler_version()} does not take a generated source for {arch} ({first})",
        where=_written(source),
        fix="this is a fault of the kernel generator or of NVRTC; report it with that file",
        log="\n".join(part for part in (message.strip(), log.strip()) if part),
        source=source,
    )


def _written(source: str) -> str:
    """The file that a source was written to for whoever looks into it."""
    try:
        number, path = tempfile.mkstemp(prefix="realta-", suffix=".cu")
        os.close(number)
        Path(path).write_text(source)
    except OSError:
        return "the source below, which could not be written to a file"
    return path
