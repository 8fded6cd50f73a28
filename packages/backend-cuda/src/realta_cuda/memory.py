"""Memory: handles of device memory, and the pinned memory that copies go through."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from cuda.core import Buffer, LegacyPinnedMemoryResource
from numpy.typing import NDArray

__all__ = ["Memory", "Staging"]

_SLOT_BYTES: Final = 1 << 20
_SLOTS: Final = 4


class Memory:
    """A handle: device memory by its address.

    Args:
        buffer: cuda.core's buffer, which frees the memory in the order of its stream.

    Attributes:
        pointer: its address, as kernels take it.
    """

    __slots__ = ("buffer", "pointer")

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        self.pointer = int(buffer.handle)

    def part(self, offset: int, nbytes: int) -> Buffer:
        """A buffer for some of its bytes; frees nothing."""
        if not offset and nbytes == self.buffer.size:
            return self.buffer
        return Buffer.from_handle(self.pointer + offset, nbytes, owner=self.buffer)


class _Slot:
    """A piece of pinned memory and the event after which it can be used again."""

    __slots__ = ("buffer", "bytes", "event")

    def __init__(self, buffer: Buffer) -> None:
        self.buffer = buffer
        kind = ctypes.c_uint8 * buffer.size
        self.bytes: NDArray[np.uint8] = np.frombuffer(
            kind.from_address(int(buffer.handle)), np.uint8
        )
        self.event: Any = None

    def part(self, nbytes: int) -> Buffer:
        """Its first bytes as a buffer."""
        return Buffer.from_handle(int(self.buffer.handle), nbytes, owner=self.buffer)

    def ready(self) -> None:
        """Waits until no copy uses it any more."""
        if self.event is not None:
            self.event.sync()


class Staging:
    """A ring of pinned memory.

    A copy between pageable memory and a device is neither reliably asynchronous nor reliably
    synchronous; between pinned memory and a device it is asynchronous. So bytes go through pinned
    pieces: while one travels, the next is filled or emptied.

    Args:
        give: gives a copy from one buffer to another to the device, and returns an event after it.
    """

    def __init__(self, give: Callable[[Buffer, Buffer], Any]) -> None:
        self._give = give
        self._lock = threading.Lock()
        self._slots: list[_Slot] = []
        self._next = 0

    def write(self, memory: Memory, given: NDArray[np.uint8]) -> None:
        """Copies bytes to the device; they may be changed when this returns."""
        with self._lock:
            for start in range(0, given.size, _SLOT_BYTES):
                piece = given[start : start + _SLOT_BYTES]
                slot = self._take()
                slot.bytes[: piece.size] = piece
                slot.event = self._give(slot.part(piece.size), memory.part(start, piece.size))

    def read(self, memory: Memory, target: NDArray[np.uint8]) -> None:
        """Copies bytes from the device; they are there when this returns."""
        waiting: list[tuple[_Slot, NDArray[np.uint8]]] = []
        with self._lock:
            for start in range(0, target.size, _SLOT_BYTES):
                if len(waiting) == _SLOTS:
                    _arrive(*waiting.pop(0))
                piece = target[start : start + _SLOT_BYTES]
                slot = self._take()
                slot.event = self._give(memory.part(start, piece.size), slot.part(piece.size))
                waiting.append((slot, piece))
            for slot, piece in waiting:
                _arrive(slot, piece)

    def _take(self) -> _Slot:
        if len(self._slots) < _SLOTS:
            self._slots.append(_Slot(LegacyPinnedMemoryResource().allocate(_SLOT_BYTES)))
        slot = self._slots[self._next % len(self._slots)]
        self._next = (self._next + 1) % _SLOTS
        slot.ready()
        return slot

    def close(self) -> None:
        """Gives the pinned memory back."""
        with self._lock:
            while self._slots:
                slot = self._slots.pop()
                slot.ready()
                slot.buffer.close()


def _arrive(slot: _Slot, piece: NDArray[np.uint8]) -> None:
    slot.ready()
    piece[:] = slot.bytes[: piece.size]
