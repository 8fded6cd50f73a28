"""OpenDevice: one device in use: its session, its pool, its programs and its counters."""

from __future__ import annotations

import os
import weakref
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.errors import DeviceError, RealtaError
from realta.runtime.cache import ExecutableCache
from realta.runtime.contract import Backend, Capabilities, DeviceInfo, Session
from realta.runtime.hooks import extra_passes
from realta.runtime.host import as_bytes
from realta.runtime.pool import MemoryStats, Pool
from realta.runtime.resolver import resolve
from realta.runtime.storage import Storage
from realta.runtime.units import SMALL_BYTES, parse_bytes
from realta.runtime.wrappers import announce_change
from realta.types import TensorType, as_dtype, tensor_type

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from realta.passes import Pass

__all__ = [
    "OpenDevice", "add_pass", "memory_limit", "memory_stats", "open_devices", "resolve_device",
    "synchronize",
]  # fmt: skip

_SHARE: Final = 0.9
"""Part of a device's memory that the pool may take; the rest is for the driver and others."""


class OpenDevice:
    """A device with its session open.

    Args:
        name: canonical name, as ``numpy:0``.
        info: what the backend's probe said about it.
        backend: the backend.
        session: the open session.

    Attributes:
        pool: its buffers.
        programs: its compiled programs.
        is_async: whether launches may return before they are done.
        donates: whether executables can write an output over a donated input.
        counting: whether bare eager calls are counted too; see `launches`.
        launched: what `launches` gives.
        fallbacks: runs of ops that another device did for it, by op name.
        lost: why the session can no longer be used, or None.
    """

    __slots__ = (
        "__weakref__", "_wrap", "backend", "counting", "donates", "fallbacks", "info", "is_async",
        "launched", "lost", "name", "pool", "programs", "session",
    )  # fmt: skip

    def __init__(self, name: str, info: DeviceInfo, backend: Backend, session: Session) -> None:
        self.name: str = name
        self.info: DeviceInfo = info
        self.backend: Backend = backend
        self.session: Session = session
        self.pool: Pool = Pool(session, name, memory_limit(info))
        self.programs: ExecutableCache = ExecutableCache()
        self._wrap = getattr(session, "adopt", None)
        features = session.capabilities.features
        self.is_async: bool = "async" in features
        self.donates: bool = "donation" in features
        self.counting: bool = False
        self.launched: int = 0
        self.fallbacks: Counter[str] = Counter()
        self.lost: RealtaError | None = None
        _open[name] = weakref.ref(self)

    @property
    def capabilities(self) -> Capabilities:
        """What its session can do."""
        return self.session.capabilities

    @property
    def launches(self) -> int:
        """Kernels launched so far, work declared to run on the host not counted.

        Bare eager calls count from when somebody first asks: counting costs as much as a context
        look-up, and what is asked for is how many launches something took.
        """
        if not self.counting:
            self.counting = True
            announce_change()
        return self.launched

    @property
    def is_host(self) -> bool:
        """Whether its memory is host memory."""
        return self.info.kind == "host"

    def empty(self, type: TensorType) -> Storage:
        """A new storage with arbitrary contents.

        Raises:
            OutOfMemory: it does not fit.
        """
        own = self._own(type)
        block = self.pool.acquire(self.session.buffer_bytes(own), own)
        return Storage(self, block.handle, own, block)

    def upload(self, array: NDArray[Any], type: TensorType | None = None) -> Storage:
        """A new storage with a copy of an array's values.

        Args:
            array: values of a storage dtype, in any layout.
            type: its tensor type if known; dtype and shape must be the array's.

        Raises:
            DTypeError: the array's dtype is not an element type.
            OutOfMemory: it does not fit.
        """
        if type is None:
            type = tensor_type(as_dtype(array.dtype), array.shape, self.name)
        if self._wrap is not None and array.nbytes <= SMALL_BYTES:
            # A copy of its own costs less than a pooled block, and ops take it as it is.
            handle = self._wrap(np.array(array, type.dtype.numpy, order="C"))
            if handle is not None:
                return Storage(self, handle, self._own(type))
        storage = self.empty(type)
        if array.size:
            self.session.write(storage.handle, storage.type, as_bytes(array))
        return storage

    def adopt(self, array: NDArray[Any]) -> Storage:
        """A storage for an array that nobody will change; shares its memory if the session can."""
        handle = None if self._wrap is None else self._wrap(array)
        if handle is None:
            return self.upload(array)
        return Storage(self, handle, tensor_type(as_dtype(array.dtype), array.shape, self.name))

    def copy(self, storage: Storage) -> Storage:
        """A new storage with the values of another one, from this device or another.

        Raises:
            OutOfMemory: it does not fit.
            ExecutionError, IndexBoundsError: the source is poisoned.
        """
        source = storage.device
        if source is not self:
            return self._fetch(storage)
        storage.check()
        copied = self.empty(storage.type)
        self.session.copy(storage.handle, copied.handle, storage.type)
        copied.launch = storage.launch
        return copied

    def _fetch(self, storage: Storage) -> Storage:
        storage.wait()
        moved = self.empty(storage.type)
        if storage.type.size:
            memory = storage.device.session.view(storage.handle, storage.type)
            if memory is None:
                memory = as_bytes(storage.copy_to_host())
            self.session.write(moved.handle, moved.type, memory)
        return moved

    def _own(self, type: TensorType) -> TensorType:
        return type if type.device == self.name else type.with_device(self.name)

    def synchronize(self) -> None:
        """Waits for everything that was launched.

        Raises:
            DeviceFault: a launch failed.
        """
        self.session.wait(None)

    def close(self) -> None:
        """Frees what it holds; storages on it must not be used any more."""
        self.programs.clear()
        self.pool.close()
        self.session.close()
        registered = _open.get(self.name)
        if registered is not None and registered() is self:
            _open.pop(self.name, None)

    def __repr__(self) -> str:
        return f"OpenDevice({self.name!r}, {self.info.name!r})"


def memory_limit(info: DeviceInfo) -> int | None:
    """The most bytes of a pool: ``REALTA_MEMORY_LIMIT``, else 0.9 of the memory, if known.

    Raises:
        ArgumentError: the variable is not a size.
    """
    given = os.environ.get("REALTA_MEMORY_LIMIT", "").strip()
    if given:
        return parse_bytes(given, "environment variable REALTA_MEMORY_LIMIT")
    return None if info.memory_bytes is None else int(info.memory_bytes * _SHARE)


# Single dictionary operations are atomic, so no lock can be held by another thread at a fork.
_open: Final[dict[str, weakref.ref[OpenDevice]]] = {}


def resolve_device(name: str) -> OpenDevice:
    """The open device of that name.

    Raises:
        BackendNotFound, BackendUnavailable, DeviceError: there is none, or it cannot be opened.
    """
    registered = _open.get(name)
    found = None if registered is None else registered()
    if found is not None and found.lost is None:
        return found
    return resolve(name)


def open_devices() -> list[OpenDevice]:
    """Every device that is open, by name."""
    found = [device for device in (reference() for reference in list(_open.values())) if device]
    return sorted(found, key=lambda device: device.name)


def memory_stats(device: str | None = None) -> dict[str, MemoryStats]:
    """Memory in use by open devices.

    Args:
        device: canonical name of one device; all open ones if left out.
    """
    return {d.name: d.pool.stats() for d in open_devices() if device is None or d.name == device}


def synchronize() -> None:
    """Waits for everything launched on every open device.

    Raises:
        DeviceFault: a launch failed.
    """
    for device in open_devices():
        device.synchronize()


def add_pass(step: Pass) -> None:
    """Adds a pass to every compilation from now on; programs compiled so far are forgotten."""
    extra_passes.append(step)
    for device in open_devices():
        device.programs.clear()


def _after_fork_in_child() -> None:
    # A driver's state does not survive a fork; host memory does.
    for device in open_devices():
        if not device.is_host:
            device.lost = DeviceError(
                f"{device.name} was in use when this process was forked, so it is unusable here",
                fix='start worker processes with multiprocessing.get_context("spawn")',
            )


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
