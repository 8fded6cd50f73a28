"""The kernel interpreter as a device: graphs are lowered as for any, and their kernels interpreted.

A result that is wrong here is wrong in the lowering; one that is right here and wrong on a device
is wrong in the dialect, the driver or the runtime. The device is ``interp:0``; it is slow, finds
races and accesses out of range, and is never chosen for ``cpu``.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta.backend.kernel_session import KernelSession
from realta.codegen import CPU_PROFILE, GPU_PROFILE, DeviceProfile, Kernel, interpret, print_kernel
from realta.codegen.dialects.c import C
from realta.codegen.rendering import KernelSignature
from realta.errors import ArgumentError, DeviceFault, ExecutionError, OutOfMemory
from realta.fusion.limits import Limits
from realta.hooks import hookimpl
from realta.runtime.contract import SPEC, Backend, DeviceInfo, Handle, Session
from realta.types import TensorType

__all__ = ["Interp", "InterpSession", "plugin"]

_PROFILES: Final = {"cpu": CPU_PROFILE, "gpu": GPU_PROFILE}
_VARIABLE: Final = "REALTA_INTERP_PROFILE"
_NO_LIMITS: Final = Limits(rank=32)


class InterpSession(KernelSession):
    """Kernels on arrays of host memory. Everything is done when its call is back.

    Args:
        profile: whose schedules are interpreted. Contractions are kernels too.
        limits: of the device that is imagined.
    """

    can_slice = True

    def __init__(self, profile: DeviceProfile, limits: Limits = _NO_LIMITS) -> None:
        super().__init__(C, profile, limits=limits, fingerprint=f"interpreter-{profile.name}")

    def allocate(self, nbytes: int) -> Handle:
        """An array of bytes.

        Raises:
            OutOfMemory: the system does not give it.
        """
        try:
            return np.empty(nbytes, np.uint8)
        except (MemoryError, ValueError) as error:
            raise OutOfMemory(f"the system gives no {nbytes} bytes", fix="free tensors") from error

    def slice(self, handle: Any, offset: int, nbytes: int) -> Handle:
        """A part of an array."""
        return handle[offset : offset + nbytes]

    def write(self, dst: Any, type: TensorType, src: memoryview) -> None:
        dst[: type.nbytes] = np.frombuffer(src, np.uint8, type.nbytes)

    def read(self, src: Any, type: TensorType, dst: memoryview) -> None:
        np.frombuffer(dst, np.uint8)[: type.nbytes] = src[: type.nbytes]

    def copy(self, src: Any, dst: Any, type: TensorType) -> None:
        dst[: type.nbytes] = src[: type.nbytes]

    def view(self, handle: Any, type: TensorType) -> memoryview | None:
        """The tensor's bytes in place."""
        memory: memoryview = handle[: type.nbytes].data
        return memory

    def module(
        self, kernels: Sequence[Kernel], signatures: Sequence[KernelSignature]
    ) -> dict[str, Kernel]:
        """The kernels by name: there is nothing to build."""
        return {kernel.name: kernel for kernel in kernels}

    def text(self, kernel: Kernel) -> str:
        """The kernel IR."""
        return print_kernel(kernel)

    def prepare(self, module: dict[str, Kernel], kernel: KernelSignature) -> Callable[..., None]:
        """What interprets a kernel."""
        program = module[kernel.name]

        def call(*handles: NDArray[np.uint8]) -> None:
            arrays = [
                handle[: buffer.size * buffer.dtype.itemsize].view(buffer.dtype.numpy)
                for handle, buffer in zip(handles, program.buffers, strict=True)
            ]
            try:
                interpret(program, arrays)
            except ExecutionError as error:
                raise DeviceFault(error.what, where=error.where, fix=error.fix) from error

        return call


class Interp:
    """The backend ``interp``; its one device is ``interp:0``."""

    name = "interp"
    spec = SPEC

    def probe(self) -> Sequence[DeviceInfo]:
        """Its one device."""
        return (DeviceInfo(0, "the kernel interpreter", kind="simulator"),)

    def open(self, device: DeviceInfo) -> Session:
        """Opens it with the profile that ``REALTA_INTERP_PROFILE`` names, ``cpu`` if it is not set.

        Raises:
            ArgumentError: it names none.
        """
        given = os.environ.get(_VARIABLE, "").strip() or "cpu"
        if given not in _PROFILES:
            raise ArgumentError(
                f"there is no profile {given!r}",
                where=f"environment variable {_VARIABLE}",
                fix=f"use {' or '.join(_PROFILES)}",
            )
        return InterpSession(_PROFILES[given])


class _Plugin:
    """What the entry point names."""

    @hookimpl
    def realta_backends(self) -> list[Backend]:
        """The kernel interpreter."""
        return [Interp()]


plugin: Final = _Plugin()
