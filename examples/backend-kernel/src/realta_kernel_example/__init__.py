"""A backend of the kernel tier: realta writes the kernels, the system's C compiler builds them.

A session says how memory is held, how a source is built and how a kernel is launched. Planning,
fusion, lowering, the sources and the runs are inherited from `KernelSession`.
"""

import ctypes
import platform
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from realta.backend import (
    SPEC,
    CompilationError,
    DeviceInfo,
    KernelSession,
    KernelSignature,
    TensorType,
    Unavailable,
    hookimpl,
)
from realta.codegen import LOOP_PROFILE
from realta.codegen.dialects import C
from realta.runtime import allocate_block

COMPILERS = ("cc", "gcc", "clang")


def compiler() -> str | None:
    """The system's C compiler."""
    return next((path for name in COMPILERS if (path := shutil.which(name))), None)


class CSession(KernelSession):
    """Kernels as functions of shared libraries; memory is the host's."""

    can_slice = True

    def __init__(self, command: str) -> None:
        super().__init__(C, LOOP_PROFILE, fingerprint=f"{command} {platform.machine()}")
        self.command = command

    # A handle is an array of bytes.

    def allocate(self, nbytes: int) -> Any:
        return allocate_block(nbytes)

    def slice(self, handle: Any, offset: int, nbytes: int) -> Any:
        return handle[offset : offset + nbytes]

    def write(self, dst: Any, type: TensorType, src: memoryview) -> None:
        dst[: type.nbytes] = np.frombuffer(src, np.uint8, type.nbytes)

    def read(self, src: Any, type: TensorType, dst: memoryview) -> None:
        np.frombuffer(dst, np.uint8)[: type.nbytes] = src[: type.nbytes]

    def copy(self, src: Any, dst: Any, type: TensorType) -> None:
        dst[: type.nbytes] = src[: type.nbytes]

    def view(self, handle: Any, type: TensorType) -> memoryview | None:
        found: memoryview = handle[: type.nbytes].data
        return found

    def build(self, source: str, kernels: Sequence[KernelSignature]) -> Any:
        """A shared library, and how many groups each of its kernels has."""
        with tempfile.TemporaryDirectory() as folder:
            text, library = Path(folder, "kernels.c"), Path(folder, "kernels.so")
            text.write_text(source)
            done = subprocess.run(
                [self.command, "-O2", *C.options, "-shared", "-fPIC", text, "-o", library, "-lm"],
                capture_output=True,
                text=True,
            )
            if done.returncode:
                raise CompilationError(
                    f"{self.command} does not compile the kernels",
                    log=done.stderr,
                    source=source,
                    fix="install a C compiler that knows C11",
                )
            return ctypes.CDLL(str(library))

    def launch(
        self, module: Any, kernel: str, grid: Any, group: Any, args: Any, local_bytes: int
    ) -> None:
        pointers = [ctypes.c_void_p(handle.ctypes.data) for handle in args]
        first, last = ctypes.c_int64(0), ctypes.c_int64(grid[0])
        getattr(module, kernel)(*pointers, first, last)


class KernelExample:
    """The backend."""

    name = "kernel_example"
    spec = SPEC

    def probe(self) -> Sequence[DeviceInfo] | Unavailable:
        """One device where there is a compiler."""
        if compiler() is None:
            return Unavailable("there is no C compiler", f"install one of {', '.join(COMPILERS)}")
        return (DeviceInfo(0, "generated C", kind="host"),)

    def open(self, device: DeviceInfo) -> CSession:
        """A session with the compiler that the probe found."""
        return CSession(compiler() or COMPILERS[0])


realta_backends = hookimpl(lambda: [KernelExample()])
