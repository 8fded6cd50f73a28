"""Program: built sources, from the disk where an earlier process built the same."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from realta.backend import CompilationError
from realta.runtime import KernelCache

__all__ = ["build_program"]

_COMPILER: Final = "opencl"


def build_program(
    cl: Any,
    context: Any,
    device: Any,
    source: str,
    options: Sequence[str],
    cache: KernelCache,
    identity: Sequence[str],
) -> Any:
    """The built program of a source.

    pyopencl's own cache is passed over: it cannot be switched off for one program, and it writes
    where the user has not asked for it.

    Args:
        cl: pyopencl.
        context: the device's context.
        device: the device.
        source: OpenCL C.
        options: compiler options.
        cache: binaries on disk.
        identity: what a binary depends on beside source and options: generator, device, driver.

    Raises:
        CompilationError: it does not build; with the driver's log, the source, and its file.
    """
    flags = " ".join(options).encode()
    key = cache.key(_COMPILER, *identity, flags, source)
    binary = cache.find(key)
    if binary is not None:
        try:
            program = cl._cl._Program(context, [device], [binary])
            program._build(b"", [device])
        except cl.Error:
            # Another driver under the same name, or a damaged file that kept its digest.
            cache.discard(key)
        else:
            return program
    program = cl._cl._Program(context, source)
    try:
        program._build(flags, [device])
    except cl.Error as error:
        raise _build_error(cl, program, device, source, error) from error
    binaries = program.get_info(cl.program_info.BINARIES) if cache.enabled else [b""]
    if binaries and binaries[0]:
        cache.keep(key, binaries[0])
    return program


def _build_error(cl: Any, program: Any, device: Any, source: str, error: Any) -> CompilationError:
    try:
        log = str(program.get_build_info(device, cl.program_build_info.LOG)).strip()
    except cl.Error:
        log = ""
    return CompilationError(
        f"the OpenCL compiler of {device.name.strip()} does not take a generated source ({error})",
        where=_written(source),
        fix="this is a fault of the kernel generator or of the driver; report it with that file",
        log=log,
        source=source,
    )


def _written(source: str) -> str:
    """The file that a source was written to for whoever looks into it."""
    try:
        number, path = tempfile.mkstemp(prefix="realta-", suffix=".cl")
        os.close(number)
        Path(path).write_text(source)
    except OSError:
        return "the source below, which could not be written to a file"
    return path
