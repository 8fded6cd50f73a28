"""Session: the opened processor: kernels as functions of this process, on its own memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from realta.backend import (
    CompilationError,
    Handle,
    KernelExecutable,
    KernelSession,
    KernelSignature,
    Limits,
    TensorType,
)
from realta.codegen import CPU_PROFILE, Kernel
from realta.codegen.dialects import C
from realta.runtime import KernelCache, shared_kernel_cache

from realta_llvm.executable import LLVMExecutable
from realta_llvm.launching import Launcher
from realta_llvm.machine import Library, Machine
from realta_llvm.render import Renderer
from realta_llvm.storage import ALIGNMENT, Memory, new_memory

__all__ = ["GENERATOR", "LLVMSession"]

GENERATOR: Final = "1"
"""Version of what this backend makes of kernels: part of the key of every object on disk."""
_LLVM: Final = replace(C, name="llvm", realizations=frozenset({"vector"}))
_WORK: Final = re.compile(r"^; (\w+): (\d+) instructions$", re.MULTILINE)


class _Module(NamedTuple):
    """Loaded kernels and the instructions that each takes."""

    library: Library
    costs: dict[str, int]


class LLVMSession(KernelSession):
    """One processor. Everything is done when its call is back.

    Args:
        machine: compiles and loads.
        width: float32 lanes of a vector.
    """

    can_slice = True
    host_memory = True
    executable: ClassVar[type[KernelExecutable]] = LLVMExecutable

    def __init__(self, machine: Machine, width: int) -> None:
        self.machine = machine
        self.width = width
        self.renderer = Renderer(width)
        super().__init__(
            _LLVM,
            CPU_PROFILE,
            limits=Limits(rank=32, alignment=ALIGNMENT),
            fingerprint=f"{machine.fingerprint} width {width} {GENERATOR}",
        )

    # -- memory -----------------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> Memory:
        """A block aligned to 64 bytes; a large one on huge pages.

        Raises:
            OutOfMemory: the system does not give it.
        """
        return new_memory(nbytes)

    def slice(self, handle: Any, offset: int, nbytes: int) -> Memory:
        """A part of a block."""
        found: Memory = handle.part(offset, nbytes)
        return found

    def write(self, dst: Any, type: TensorType, src: memoryview) -> None:
        if type.nbytes:
            dst.bytes(type.nbytes)[:] = np.frombuffer(src, np.uint8, type.nbytes)

    def read(self, src: Any, type: TensorType, dst: memoryview) -> None:
        if type.nbytes:
            np.frombuffer(dst, np.uint8)[: type.nbytes] = src.bytes(type.nbytes)

    def copy(self, src: Any, dst: Any, type: TensorType) -> None:
        if type.nbytes:
            dst.bytes(type.nbytes)[:] = src.bytes(type.nbytes)

    def view(self, handle: Any, type: TensorType) -> memoryview | None:
        """The tensor's bytes in place."""
        found: memoryview = handle.bytes(type.nbytes).data
        return found

    def adopt(self, array: NDArray[Any]) -> Memory | None:
        """The array itself, if its elements lie in row-major order where elements may lie."""
        if not array.flags.c_contiguous or not array.dtype.isnative or not array.flags.aligned:
            return None
        address = array.__array_interface__["data"][0]
        return Memory(array.reshape(-1).view(np.uint8), address) if array.nbytes else None

    # -- kernels ----------------------------------------------------------------------------------

    def source(self, kernels: Sequence[Kernel]) -> str:
        """The module of some kernels as LLVM IR."""
        return self.renderer.module(kernels)

    def text(self, kernel: Kernel) -> str:
        """One kernel as LLVM IR."""
        return self.renderer.module([kernel])

    def build(self, source: str, kernels: Sequence[KernelSignature]) -> _Module:
        """Compiles a module, or loads what an earlier process made of it.

        Raises:
            CompilationError: LLVM does not take it; with the module.
        """
        objects = shared_kernel_cache()
        key = objects.key("llvm", self.fingerprint, source)
        names = [kernel.name for kernel in kernels]
        library = self._kept(objects, key, names)
        if library is None:
            code = self.machine.compile(source)
            objects.keep(key, code)
            library = self.machine.load(code, names)
        costs = {name: int(count) for name, count in _WORK.findall(source)}
        return _Module(library, costs)

    def _kept(self, objects: KernelCache, key: str, names: Sequence[str]) -> Library | None:
        """What an earlier process made, if it is there and can be loaded."""
        code = objects.find(key)
        if code is None:
            return None
        try:
            return self.machine.load(code, names)
        except CompilationError:
            objects.discard(key)  # a damaged file that kept its digest
            return None

    def prepare(self, module: _Module, kernel: KernelSignature) -> Callable[..., None]:
        """A function of handles: in this thread if it is short, in all if it is long."""
        return Launcher(module.library, kernel, module.costs.get(kernel.name, 0)).call()

    def launch(
        self,
        module: Any,
        kernel: str,
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        args: Sequence[Handle | np.generic[Any]],
        local_bytes: int,
    ) -> None:
        """Runs a kernel once; runs use what `prepare` makes."""
        signature = KernelSignature(kernel, (), grid[0], 1, local_bytes)
        Launcher(module.library, signature, 0, arguments=len(args)).call()(*args)
