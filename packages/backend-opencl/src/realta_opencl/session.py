"""Session: an opened OpenCL device: memory, launches in one queue, builds."""

from __future__ import annotations

import atexit
import os
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from realta.backend import (
    BackendUnavailable,
    DeviceFault,
    Handle,
    KernelSession,
    KernelSignature,
    OutOfMemory,
    TensorType,
)
from realta.codegen.dialects.opencl import OPENCL
from realta.runtime import allocate_block, shared_kernel_cache

from realta_opencl import device as facts
from realta_opencl.drivers import load_pyopencl
from realta_opencl.errors import translated
from realta_opencl.memory import ALIGNMENT, Graveyard, Memory, shares_memory
from realta_opencl.program import build_program

__all__ = ["GENERATOR", "OpenCLSession", "open_session"]

GENERATOR: Final = "1"
"""Version of what this backend adds to a source: part of the key of every kernel on disk."""
_STAGED_BYTES: Final = 4096
"""Writes up to this size are given to the queue rather than waited for."""
_MOST_BURIED: Final = 4096
"""Dead handles kept before the queue is waited for only to be rid of them."""


def open_session(device: Any, index: int, *, in_place: bool | None = None) -> OpenCLSession:
    """Opens a device.

    Args:
        device: as its driver shows it.
        index: its number, for errors.
        in_place: whether it works in host memory in place; None: tried, if it is a processor.

    Raises:
        BackendUnavailable: the driver gives no context or no queue.
    """
    cl = load_pyopencl()
    try:
        context = cl.Context([device])
        queue = cl.CommandQueue(context, device)
        if in_place is None:
            block = allocate_block(ALIGNMENT * 64, ALIGNMENT)
            in_place = facts.is_cpu(cl, device) and shares_memory(cl, context, queue, block)
    except cl.Error as error:
        raise BackendUnavailable(
            f"{device.name.strip()} cannot be opened: {error}",
            where=f"opencl:{index}",
            fix="close other programs that use the device, and check its driver with clinfo",
        ) from error
    return OpenCLSession(cl, device, context, queue, in_place=in_place)


class OpenCLSession(KernelSession):
    """One device, one context, one queue in which everything happens in order.

    Args:
        cl: pyopencl.
        device: the device.
        context: its context.
        queue: its queue.
        in_place: whether buffers are host memory that both sides use in place.

    Attributes:
        compiler_options: what sources are built with.
        maps: whether buffers are mapped for the processor: those of a GPU in the same memory.
    """

    def __init__(self, cl: Any, device: Any, context: Any, queue: Any, *, in_place: bool) -> None:
        self.cl = cl
        self.device = device
        self.context = context
        self.queue = queue
        self.host_memory = in_place
        self.graveyard = Graveyard()
        self._given = 0
        self._done = 0
        self._timed: list[tuple[str, Any]] | None = None
        self.compiler_options = facts.options(cl, device, OPENCL.options)
        self._flags = cl.mem_flags.READ_WRITE
        if in_place:
            self._flags |= cl.mem_flags.USE_HOST_PTR
        self.maps = not in_place and bool(device.host_unified_memory)
        if self.maps:
            # Memory that both sides can use is given by the driver alone, and is mapped.
            self._flags |= cl.mem_flags.ALLOC_HOST_PTR
        super().__init__(
            OPENCL,
            facts.device_profile(cl, device),
            limits=facts.device_limits(device),
            fingerprint=facts.fingerprint(cl, device),
            storage=facts.storage(device),
            numerics=facts.device_numerics(cl, device),
            features=frozenset({"async"}),
        )
        _sessions.add(self)

    # -- memory -----------------------------------------------------------------------------------

    can_slice = True

    def allocate(self, nbytes: int) -> Memory:
        """A buffer; in host memory where the device works there.

        Raises:
            OutOfMemory: the device or the system does not give it.
        """
        size = max(nbytes, ALIGNMENT)
        if not self.host_memory:
            return Memory(self._buffer(size=size), None, self.graveyard)
        return self._in_place(allocate_block(size, ALIGNMENT))

    def _in_place(self, array: NDArray[np.uint8]) -> Memory:
        return Memory(self._buffer(hostbuf=array), array, self.graveyard)

    def _buffer(self, **of: Any) -> Any:
        most = self.limits.buffer_bytes
        size = of.get("size") or of["hostbuf"].nbytes
        if most is not None and size > most:
            raise OutOfMemory(
                f"a buffer of {size} bytes is larger than the device's largest, {most} bytes",
                fix="compute in smaller parts, or use a smaller dtype",
            )
        try:
            return self.cl.Buffer(self.context, self._flags, **of)
        except self.cl.Error as error:
            raise translated(error, f"a buffer of {size} bytes cannot be had") from error

    def adopt(self, array: NDArray[Any]) -> Memory | None:
        """A handle for an array that nobody will change, if the device can use it in place.

        NumPy aligns memory to 16 bytes; what a device uses must be aligned to whole vectors, and
        pyopencl takes no memory that NumPy calls read-only (a file's bytes). Of a small array a
        copy is made, which costs less than a block of the pool that may be in use.
        """
        if not self.host_memory or not array.flags.c_contiguous or not array.dtype.isnative:
            return None
        if array.nbytes == 0:
            return None
        flat = array.reshape(-1).view(np.uint8)
        if flat.__array_interface__["data"][0] % ALIGNMENT or not flat.flags.writeable:
            if array.nbytes > _STAGED_BYTES:
                return None
            flat, given = allocate_block(max(array.nbytes, ALIGNMENT), ALIGNMENT), flat
            flat[: given.size] = given
        return self._in_place(flat)

    def slice(self, handle: Any, offset: int, nbytes: int) -> Memory:
        """A part of a buffer, which begins where the limits' alignment allows."""
        size = max(nbytes, 1)
        if handle.array is not None:
            return self._in_place(handle.array[offset : offset + size])
        return Memory(handle.buffer.get_sub_region(offset, size), None, self.graveyard)

    def write(self, dst: Any, type: TensorType, src: memoryview) -> None:
        nbytes = type.nbytes
        if not nbytes:
            return
        given = np.frombuffer(src, np.uint8, nbytes)
        if dst.array is not None and (nbytes > _STAGED_BYTES or self._idle):
            self.wait(None)
            dst.array[:nbytes] = given
            return
        with self.lock:
            if self.maps and nbytes > _STAGED_BYTES:
                with self.mapped(dst, nbytes, self.cl.map_flags.WRITE_INVALIDATE_REGION) as target:
                    target[:] = given
                return
            self._enqueue_write(dst, given)

    @contextmanager
    def mapped(self, handle: Any, nbytes: int, access: int) -> Iterator[NDArray[np.uint8]]:
        """The first bytes of a buffer where they are, once all work before is done.

        Raises:
            DeviceFault: the driver does not map them.
        """
        try:
            found, _event = self.cl.enqueue_map_buffer(
                self.queue, handle.buffer, access, 0, (nbytes,), np.uint8, is_blocking=True
            )
        except self.cl.Error as error:
            raise translated(error, f"{nbytes} bytes cannot be mapped") from error
        try:
            yield found
        finally:
            found.base.release(self.queue)
            self._given += 1

    def _enqueue_write(self, dst: Any, given: NDArray[np.uint8]) -> None:
        wait = given.size > _STAGED_BYTES
        staged = given if wait else given.copy()
        try:
            event = self.cl.enqueue_copy(self.queue, dst.buffer, staged, is_blocking=wait)
        except self.cl.Error as error:
            raise translated(error, f"{given.size} bytes cannot be written") from error
        if not wait:
            self._given += 1
            self.graveyard.bury(event, staged)

    def read(self, src: Any, type: TensorType, dst: memoryview) -> None:
        nbytes = type.nbytes
        if not nbytes:
            return
        target = np.frombuffer(dst, np.uint8)[:nbytes]
        if src.array is not None:
            self.wait(None)
            target[:] = src.array[:nbytes]
            return
        if self.maps:
            with self.lock, self.mapped(src, nbytes, self.cl.map_flags.READ) as found:
                target[:] = found
            return
        try:
            self.cl.enqueue_copy(self.queue, target, src.buffer, is_blocking=True)
        except self.cl.Error as error:
            raise translated(error, f"{nbytes} bytes cannot be read") from error

    def copy(self, src: Any, dst: Any, type: TensorType) -> None:
        if not type.nbytes:
            return
        with self.lock:
            try:
                self.cl.enqueue_copy(self.queue, dst.buffer, src.buffer, byte_count=type.nbytes)
            except self.cl.Error as error:
                raise translated(error, f"{type} cannot be copied") from error
            self._given += 1

    def view(self, handle: Any, type: TensorType) -> memoryview | None:
        """The tensor's bytes in place, where the device works in host memory."""
        array = handle.array
        return None if array is None else array[: type.nbytes].data

    # -- kernels ----------------------------------------------------------------------------------

    def build(self, source: str, kernels: Sequence[KernelSignature]) -> Any:
        """Builds a source, or loads what an earlier process built of it.

        Raises:
            CompilationError: with the log, the source and its file.
        """
        return build_program(
            self.cl, self.context, self.device, source, self.compiler_options,
            shared_kernel_cache(), (GENERATOR, self.fingerprint),
        )  # fmt: skip

    def prepare(self, module: Any, kernel: KernelSignature) -> Callable[..., None]:
        """One kernel object; its arguments are set only when they are others than before."""
        cl, name = self.cl, kernel.name
        try:
            ready = cl.Kernel(module, name)
        except cl.Error as error:
            raise translated(error, f"the kernel {name} cannot be made") from error
        local = (kernel.items,)
        size = (kernel.groups * kernel.items,)
        enqueue, set_args = cl.enqueue_nd_range_kernel, ready.set_args
        bound: list[int] = []

        def call(*handles: Memory) -> None:
            nonlocal bound
            keys = [handle.key for handle in handles]
            try:
                if keys != bound:
                    bound = []
                    set_args(*[handle.buffer for handle in handles])
                    bound = keys
                event = enqueue(self.queue, ready, size, local)
            except cl.Error as error:
                raise translated(error, f"{name} could not be launched") from error
            if self._timed is not None:
                self._timed.append((name, event))

        return call

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
        signature = KernelSignature(kernel, (), grid[0], group[0], local_bytes)
        self.prepare(module, signature)(*args)

    def flush(self) -> None:
        """Lets the device begin, and is rid of what is dead where nobody waits for anything."""
        self._given += 1
        self.queue.flush()
        if len(self.graveyard.items) > _MOST_BURIED:
            self.wait(None)

    def wait(self, handle: Handle | None = None) -> None:
        """Waits for all that was given to the device by now.

        Raises:
            DeviceFault: some of it failed.
        """
        if self._idle and not self.graveyard.items:
            return
        self._finish()

    @property
    def _idle(self) -> bool:
        """Whether all that was given is known to be done."""
        return self._done == self._given

    def _finish(self) -> None:
        # What is given or dies while this waits is for the next one to see to.
        given, dead = self._given, self.graveyard.take()
        try:
            self.queue.finish()
        except self.cl.Error as error:
            raise translated(error, "work given to the device failed") from error
        self._done = given
        del dead

    # -- times ------------------------------------------------------------------------------------

    def start_timing(self) -> None:
        """Notes the time that each kernel takes on the device, from now on."""
        with self.lock:
            self._finish()
            timing = self.cl.command_queue_properties.PROFILING_ENABLE
            self.queue = self.cl.CommandQueue(self.context, self.device, timing)
            self._timed = []

    def stop_timing(self) -> list[tuple[str, float]]:
        """The kernels that ran since `start_timing`, in order, with their seconds."""
        with self.lock:
            self._finish()
            timed, self._timed = self._timed or [], None
            self.queue = self.cl.CommandQueue(self.context, self.device)
        return [(name, (e.profile.end - e.profile.start) * 1e-9) for name, e in timed]

    def close(self) -> None:
        """Waits for what is running and frees what is kept."""
        try:
            self._finish()
        finally:
            super().close()
            self.graveyard.take()


_sessions: Final[weakref.WeakSet[OpenCLSession]] = weakref.WeakSet()
_process: Final = os.getpid()


@atexit.register
def _wait_for_all() -> None:
    """Lets work in flight end before the interpreter takes the memory apart that it works in."""
    if os.getpid() != _process:
        return  # a forked child: the driver's threads are not here, so waiting would never end
    for session in list(_sessions):
        with suppress(DeviceFault, OutOfMemory):
            session._finish()
