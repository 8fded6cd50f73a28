"""Session: an opened CUDA device: one stream, memory from the driver's pool, launches."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from cuda.core import Buffer, Device, LaunchConfig, ObjectCode, StreamOptions, launch
from realta.backend import (
    BackendUnavailable,
    DeviceInfo,
    Handle,
    KernelExecutable,
    KernelSession,
    KernelSignature,
    TensorType,
)
from realta.codegen.dialects.cuda import CUDA
from realta.runtime import shared_kernel_cache

from realta_cuda import device as facts
from realta_cuda import emulation
from realta_cuda.compiler import build_image, compiler_version
from realta_cuda.errors import fault, is_out_of_memory, out_of_memory
from realta_cuda.executable import CudaExecutable
from realta_cuda.memory import Memory, Staging

__all__ = ["GENERATOR", "CudaSession", "open_session"]

GENERATOR: Final = "1"
"""Version of what this backend adds to a source: part of the key of every kernel on disk."""
_REMEMBERED: Final = 64
"""Runs whose kernels are named when the device fails and nobody knows at which."""


def open_session(info: DeviceInfo) -> CudaSession:
    """Opens a device.

    Raises:
        BackendUnavailable: the driver gives no context or no stream.
    """
    try:
        device = Device(info.index)
        device.set_current()
        stream = device.create_stream(options=StreamOptions(nonblocking=True))
    except Exception as error:
        raise BackendUnavailable(
            f"the CUDA device {info.index} cannot be opened: {error}",
            where=f"cuda:{info.index}",
            fix="close other programs that use the device, and check it with nvidia-smi",
        ) from error
    return CudaSession(device, stream, info.memory_bytes or 0)


class CudaSession(KernelSession):
    """One device, one stream in which everything happens in order.

    Args:
        device: cuda.core's device, current in this thread.
        stream: the stream.
        total_bytes: memory of the device, for errors.

    Attributes:
        target: where launches go: the stream, or a CUDA graph that is being captured.
        running: kernels of the runs that were given and not yet waited for.
        captures: whether runs may be captured.
    """

    can_slice: ClassVar[bool] = True
    executable: ClassVar[type[KernelExecutable]] = CudaExecutable

    def __init__(self, device: Device, stream: Any, total_bytes: int) -> None:
        self.device = device
        self.stream = stream
        self.target = stream
        self.total_bytes = total_bytes
        self.running: deque[tuple[str, ...]] = deque(maxlen=_REMEMBERED)
        self.blocking = facts.blocking()
        self.captures = not self.blocking
        self.arch = facts.architecture(device)
        self._compile = _emulated if emulation.wanted() else _compiled
        compiler = "emulator" if emulation.wanted() else f"nvrtc-{compiler_version()}"
        self._threads = threading.local()
        self._staging = Staging(self._give)
        super().__init__(
            CUDA,
            facts.device_profile(int(device.properties.multiprocessor_count)),
            limits=facts.device_limits(
                int(device.properties.max_shared_memory_per_block),
                int(device.properties.max_threads_per_block),
            ),
            fingerprint=facts.fingerprint(device, compiler),
            numerics=facts.NUMERICS,
            features=frozenset({"async"}),
        )

    def enter(self) -> None:
        """Makes the device current in this thread, as the driver wants it."""
        try:
            _ = self._threads.entered
        except AttributeError:
            self.device.set_current()
            self._threads.entered = True

    # -- memory -----------------------------------------------------------------------------------

    def allocate(self, nbytes: int) -> Memory:
        """Memory from the driver's pool, in the order of the stream.

        Raises:
            OutOfMemory: the driver does not give it.
            DeviceFault: the device has failed.
        """
        self.enter()
        try:
            return Memory(self.device.allocate(max(nbytes, 1), stream=self.stream))
        except Exception as error:
            if is_out_of_memory(error):
                raise self._out_of_memory(nbytes) from error
            raise fault(
                error, f"a buffer of {nbytes} bytes cannot be had", self._names()
            ) from error

    def _out_of_memory(self, nbytes: int) -> Exception:
        held = self.device.memory_resource.attributes
        return out_of_memory(
            nbytes, int(held.used_mem_current), int(held.reserved_mem_current), self.total_bytes
        )

    def free(self, handle: Any) -> None:
        """Gives memory back in the order of the stream."""
        self.enter()
        handle.buffer.close(self.stream)

    def slice(self, handle: Any, offset: int, nbytes: int) -> Memory:
        """A part of a buffer, which begins where the limits' alignment allows."""
        return Memory(handle.part(offset, max(nbytes, 1)))

    def write(self, dst: Any, type: TensorType, src: memoryview) -> None:
        if type.nbytes:
            self.enter()
            self._staging.write(dst, np.frombuffer(src, np.uint8, type.nbytes))

    def read(self, src: Any, type: TensorType, dst: memoryview) -> None:
        if type.nbytes:
            self.enter()
            self._staging.read(src, np.frombuffer(dst, np.uint8)[: type.nbytes])

    def _give(self, source: Buffer, target: Buffer) -> Any:
        """A copy in the stream, and an event after it."""
        try:
            with self.lock:
                source.copy_to(target, stream=self.stream)
                return self.stream.record()
        except Exception as error:
            raise fault(error, f"{source.size} bytes cannot be copied", self._names()) from error

    def copy(self, src: Any, dst: Any, type: TensorType) -> None:
        if not type.nbytes:
            return
        self.enter()
        try:
            with self.lock:
                source, target = src.part(0, type.nbytes), dst.part(0, type.nbytes)
                source.copy_to(target, stream=self.target)
        except Exception as error:
            raise fault(error, f"{type} cannot be copied", self._names()) from error

    # -- kernels ----------------------------------------------------------------------------------

    def build(self, source: str, kernels: Sequence[KernelSignature]) -> ObjectCode:
        """Compiles a source, or loads what an earlier process compiled.

        Raises:
            CompilationError: with the log, the source and its file.
        """
        self.enter()
        image = self._compile(source, self.arch, CUDA.options)
        return ObjectCode.from_cubin(image)

    def prepare(self, module: ObjectCode, kernel: KernelSignature) -> Callable[..., None]:
        """One kernel with its launch configuration."""
        self.enter()
        name = kernel.name
        try:
            ready = module.get_kernel(name)
            config = LaunchConfig(grid=kernel.groups, block=kernel.items)
        except Exception as error:
            raise fault(error, f"the kernel {name} cannot be loaded", self._names()) from error

        def call(*handles: Memory) -> None:
            try:
                launch(self.target, config, ready, *[handle.pointer for handle in handles])
            except Exception as error:
                raise fault(error, f"{name} could not be launched", self._names()) from error

        if not self.blocking:
            return call

        def waited(*handles: Memory) -> None:
            call(*handles)
            try:
                self.stream.sync()
            except Exception as error:
                raise fault(error, f"{name} failed") from error

        return waited

    def launch(
        self,
        module: Any,
        kernel: str,
        grid: tuple[int, int, int],
        group: tuple[int, int, int],
        args: Sequence[Handle | np.generic[Any]],
        local_bytes: int,
    ) -> None:
        """Launches a kernel once; runs use what `prepare` makes."""
        self.prepare(module, KernelSignature(kernel, (), grid[0], group[0], local_bytes))(*args)

    def wait(self, handle: Handle | None = None) -> None:
        """Waits for all that was given to the device by now.

        Raises:
            DeviceFault: some of it failed.
        """
        self.enter()
        given = len(self.running)
        try:
            self.stream.sync()
        except Exception as error:
            raise fault(error, "the device failed", self._names()) from error
        for _ in range(min(given, len(self.running))):
            self.running.popleft()

    def _names(self) -> list[str]:
        return [name for names in list(self.running) for name in names]

    def close(self) -> None:
        """Waits for what is running and frees what is kept."""
        try:
            self.wait()
        finally:
            super().close()
            self._staging.close()


def _compiled(source: str, arch: str, options: Sequence[str]) -> bytes:
    return build_image(
        source, arch, options, shared_kernel_cache(), (GENERATOR, compiler_version())
    )


def _emulated(source: str, arch: str, options: Sequence[str]) -> bytes:
    # The emulator keeps what it compiled itself: g++ and its own runtime decide what that is.
    image: bytes = emulation.emulator(real=True).compile(source, options)
    return image
