"""Storage: one immutable version of a tensor in a device's memory."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.errors import RealizationError, RealtaError
from realta.runtime.deferred import Deferred
from realta.runtime.host import empty_array, writable_bytes
from realta.runtime.launch import Launch, raise_again
from realta.types import TensorType

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from realta.runtime.contract import Handle
    from realta.runtime.device import OpenDevice
    from realta.runtime.pool import Block

__all__ = ["Storage", "poisoned_storage", "references", "uniquely_held"]


class Storage:
    """One tensor in memory. Never changes once its launch is complete; shared freely.

    Attributes:
        device: the open device it lives on; None for one that was poisoned before it had a buffer.
        handle: the session's handle; None once donated or if it is poisoned.
        type: its type, with the device's name.
        block: the pooled buffer behind the handle; None for one that the session made itself.
        launch: what is not yet known about the run that fills it; None if it is complete and good.
            A `Deferred` one has yet to begin: `wait` and `check` run it.
        array: what `shown` gave.
    """

    __slots__ = ("__weakref__", "array", "block", "device", "handle", "launch", "type")

    device: OpenDevice
    handle: Handle
    type: TensorType
    block: Block | None
    launch: Launch | None
    array: NDArray[Any] | None

    def __init__(
        self,
        device: OpenDevice,
        handle: Handle,
        type: TensorType,
        block: Block | None = None,
        launch: Launch | None = None,
    ) -> None:
        self.device = device
        self.handle = handle
        self.type = type
        self.block = block
        self.launch = launch
        self.array = None

    @property
    def nbytes(self) -> int:
        """Bytes of its buffer, padding of the size class included."""
        return self.type.nbytes if self.block is None else self.block.nbytes

    @property
    def error(self) -> RealtaError | None:
        """Why it is unusable, as far as is known; None if nothing is."""
        return None if self.launch is None else self.launch.error

    def wait(self) -> None:
        """Returns when it is complete.

        Raises:
            ExecutionError: the launch that was to fill it failed; the same error at every wait.
            IndexBoundsError: an op of that launch read or wrote outside its axis.
            RealizationError: it was donated.
        """
        launch = self.launch
        if launch is None:
            return
        if launch.__class__ is Deferred:
            launch.fill(self)
            return
        error = launch.settle()
        if error is None and self.device.is_async:
            try:
                self.device.session.wait(self.handle)
            except Exception as fault:
                error = launch.fail(fault)
                raise raise_again(error) from error.__cause__
        if error is not None:
            raise raise_again(error) from error.__cause__
        self.launch = None

    def check(self) -> None:
        """Raises what is known to be wrong with it, without waiting; has a handle after it.

        Raises:
            RealtaError: as `wait` does.
        """
        if self.launch.__class__ is Deferred:
            self.wait()
        error = self.error
        if error is not None:
            raise raise_again(error) from error.__cause__

    def numpy(self) -> NDArray[Any]:
        """The values as a read-only array; in host memory a view that keeps this storage alive.

        Raises:
            ExecutionError, IndexBoundsError, RealizationError: see `wait`.
        """
        self.wait()
        if self.type.size == 0:
            return _sealed(empty_array(self.type))
        memory = self.device.session.view(self.handle, self.type)
        if memory is None:
            return _sealed(self.copy_to_host())
        owner = _Export(self, memory)
        flat = np.asarray(owner).view(self.type.dtype.numpy)
        return _sealed(flat.reshape(self.type.static_shape))

    def shown(self) -> NDArray[Any] | None:
        """Host memory as it is, for who holds this storage: the array does not keep it alive.

        Returns:
            None where it is not in host memory, or not known to be complete and good.
        """
        if self.launch is not None:
            if self.launch.__class__ is not Deferred:
                return None
            self.wait()
        if self.array is None:
            memory = self.device.session.view(self.handle, self.type)
            if memory is not None and self.type.size:
                flat = np.frombuffer(memory, np.uint8, count=self.type.nbytes)
                self.array = flat.view(self.type.dtype.numpy).reshape(self.type.static_shape)
        return self.array

    def copy_to_host(self) -> NDArray[Any]:
        """The values as a new writable array.

        Raises:
            ExecutionError, IndexBoundsError, RealizationError: see `wait`.
        """
        self.wait()
        array = empty_array(self.type)
        if array.size:
            self.device.session.read(self.handle, self.type, writable_bytes(array))
        return array

    def donate(self) -> Storage:
        """Moves the buffer to a new storage; this one raises from now on."""
        moved = Storage(self.device, self.handle, self.type, self.block, self.launch)
        self.retire()
        return moved

    def retire(self) -> None:
        """Gives the buffer up; using this storage raises from now on."""
        self.handle = None
        self.block = None
        self.array = None
        self.launch = _DONATED

    def __repr__(self) -> str:
        state = "" if self.launch is None else ", poisoned" if self.error else ", in flight"
        return f"Storage({self.type}{state})"


class _Export:
    """The memory of a storage as NumPy takes it; the array keeps this, and this keeps the storage.

    A memoryview alone would keep the buffer but not the storage, whose buffer would be used again.
    """

    __slots__ = ("__array_interface__", "memory", "storage")

    def __init__(self, storage: Storage, memory: memoryview) -> None:
        self.storage = storage
        self.memory = memory
        flat = np.frombuffer(memory, np.uint8, count=storage.type.nbytes)
        self.__array_interface__ = {
            "version": 3,
            "shape": flat.shape,
            "typestr": "|u1",
            "data": (flat.__array_interface__["data"][0], True),
        }


def _sealed(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array


def poisoned_storage(
    type: TensorType, error: RealtaError, device: OpenDevice | None = None
) -> Storage:
    """A storage without a buffer that raises ``error`` at every use."""
    return Storage(device, None, type, None, Launch.failed(error))  # type: ignore[arg-type]


def references(storage: Storage) -> int:
    """How many references to a storage exist besides the call itself.

    The one place that reads reference counts. Whoever calls knows which references it holds itself
    (a local variable, a value's payload, a list), and whatever is beyond those is somebody else:
    another tensor, a pending graph, a NumPy view.
    """
    return sys.getrefcount(storage) - _CALL


def uniquely_held(storage: Storage, known: int = 1) -> bool:
    """Whether nobody but the caller holds a storage, so that its buffer may be used again.

    Args:
        storage: asked about.
        known: how many references the caller knows of.
    """
    return sys.getrefcount(storage) - _CALL <= known


def _count(storage: Any) -> int:
    return sys.getrefcount(storage)


def _measure() -> int:
    # What a call adds differs between interpreter versions: the list has the only other reference.
    holder = [object()]
    return _count(holder[0]) - 1


_CALL: Final = _measure()
_DONATED: Final = Launch.failed(
    RealizationError(
        "this tensor was donated to a call, so its memory belongs to that call's results",
        fix="pass a copy, or leave it out of donate=",
    )
)
