"""Runs the CUDA backend without a GPU: a stand-in for the driver, and g++ in place of NVRTC.

Two functions take the place of what a machine with a GPU has:

`install()`
    makes cuda.bindings, cuda.core and NVRTC of this process use a stand-in for ``libcuda.so.1``.
    It returns nothing, does nothing when called again, and raises `EmulatorError` where the
    stand-in is not built, telling how to build it. ``python -m realta_cuda_emulator build`` builds.
`compile(source, options) -> bytes`
    takes the place of NVRTC: CUDA C++ becomes an image which the stand-in loads with
    ``cuda.core.ObjectCode.from_cubin``. A kernel that g++ refuses raises `KernelCompilationError`,
    whose ``log`` has all that g++ says.

What kernels do wrong ends the context, as on a GPU: the driver's functions return an error from
then on, and `message()` (also on standard error) says which thread of which block did what on
which line. `reset()` forgets the error. `realta_cuda_emulator.settings` lists the variables of the
environment that choose the order of threads, lazy streams and checks of every access; `configure`
changes some of them later and makes launches or allocations fail.
"""

from __future__ import annotations

from realta_cuda_emulator.compiling import compile_image as compile
from realta_cuda_emulator.errors import EmulatorError, KernelCompilationError
from realta_cuda_emulator.standin import (
    configure,
    install,
    installed,
    message,
    reset,
    statistics,
)

__all__ = [
    "EmulatorError",
    "KernelCompilationError",
    "compile",
    "configure",
    "install",
    "installed",
    "message",
    "reset",
    "statistics",
]
