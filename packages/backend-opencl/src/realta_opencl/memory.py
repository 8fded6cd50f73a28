"""Memory: handles of buffers, and what is kept until the device can no longer be using it."""

from __future__ import annotations

import itertools
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALIGNMENT", "Graveyard", "Memory", "shares_memory"]

ALIGNMENT: Final = 128
"""Bytes to which host memory is aligned that a device uses in place: the widest vector there is."""
_keys: Final = itertools.count()


class Graveyard:
    """What nobody refers to any more but work in flight may still use: buffers and host arrays.

    Drivers are not all careful about memory that is given back while a kernel that uses it is
    waiting to run, and the memory of an array is not theirs to be careful about.
    """

    __slots__ = ("items",)

    def __init__(self) -> None:
        self.items: list[Any] = []

    def bury(self, *things: Any) -> None:
        """Keeps things until all work that was given to the device by now is done."""
        self.items.append(things)

    def take(self) -> list[Any]:
        """What is kept; to be dropped when the work given by now is done."""
        items, self.items = self.items, []
        return items


class Memory:
    """A handle: a buffer, and the host memory it is in if that can be used in place.

    Args:
        buffer: the driver's buffer.
        array: its bytes in host memory, or None.
        graveyard: where both go with the handle.

    Attributes:
        key: tells it from every other handle there ever was.
    """

    __slots__ = ("array", "buffer", "graveyard", "key")

    def __init__(self, buffer: Any, array: NDArray[np.uint8] | None, graveyard: Graveyard) -> None:
        self.buffer = buffer
        self.array = array
        self.graveyard = graveyard
        self.key = next(_keys)

    def __del__(self) -> None:
        self.graveyard.bury(self.buffer, self.array)


def shares_memory(cl: Any, context: Any, queue: Any, array: NDArray[np.uint8]) -> bool:
    """Whether a device works in host memory in place, so that no bytes need to be copied.

    Tried rather than asked: what is written on either side must be seen on the other as soon as the
    queue is done.

    Args:
        cl: pyopencl.
        context: the device's context.
        queue: its queue.
        array: some aligned memory of an even number of bytes.
    """
    flags = cl.mem_flags.READ_WRITE | cl.mem_flags.USE_HOST_PTR
    half = array.size // 2
    array[:] = 1
    buffer = cl.Buffer(context, flags, hostbuf=array)
    cl.enqueue_fill_buffer(queue, buffer, np.uint8(2), 0, half)
    queue.finish()
    if not (array[:half] == 2).all() or not (array[half:] == 1).all():
        return False
    array[:half] = 3
    other = cl.Buffer(context, cl.mem_flags.READ_WRITE, half)
    copied = np.zeros(half, np.uint8)
    cl.enqueue_copy(queue, other, buffer, byte_count=half)
    cl.enqueue_copy(queue, copied, other)
    return bool((copied == 3).all())
