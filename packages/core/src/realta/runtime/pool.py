"""Pool: the buffers of one device, kept by size class and used again."""

from __future__ import annotations

import gc
import os
import threading
import weakref
from collections import deque
from typing import Final, NamedTuple

from realta.errors import OutOfMemory
from realta.runtime.contract import Handle, Session
from realta.runtime.units import format_bytes

__all__ = ["Block", "MemoryStats", "Pool", "size_class"]

_GRANULE: Final = 64
_TRACKED: Final = 1 << 20
"""Blocks from this size on are remembered with their tensor type, for the out-of-memory message."""


def size_class(nbytes: int) -> int:
    """The size allocated for a request: eight steps per power of two, at most 12.5% waste.

    Below 512 bytes the steps are 64 bytes.
    """
    if nbytes <= 8 * _GRANULE:
        return (nbytes + _GRANULE - 1) // _GRANULE * _GRANULE
    shift = (nbytes - 1).bit_length() - 4
    return ((nbytes + (1 << shift) - 1) >> shift) << shift


class Block:
    """One buffer in use; gives itself back to its pool when the last reference goes."""

    __slots__ = ("handle", "nbytes", "pool")

    def __init__(self, handle: Handle, nbytes: int, pool: Pool) -> None:
        self.handle = handle
        self.nbytes = nbytes
        self.pool = pool

    def __del__(self) -> None:
        self.pool.give_back(self.handle, self.nbytes)


class MemoryStats(NamedTuple):
    """Memory of one device in bytes.

    Args:
        live: in use by tensors.
        pooled: kept for reuse.
        peak: the most that was live at once since the last reset.
        limit: the most that live and pooled may add up to; None without a limit.
        blocks: buffers in use.
        allocations: buffers asked of the device so far.
        reuses: requests answered from the pool so far.
    """

    live: int
    pooled: int
    peak: int
    limit: int | None
    blocks: int
    allocations: int
    reuses: int


class Pool:
    """Buffers of one session.

    Thread-safe with one lock. Giving a buffer back only appends to a queue, so that a finalizer may
    do it at any moment, also while this thread holds the lock.

    Args:
        session: who allocates and frees.
        name: device name for messages.
        limit: the most bytes to hold, live and pooled together; None for none.
    """

    def __init__(self, session: Session, name: str, limit: int | None = None) -> None:
        self.session = session
        self.name = name
        self.limit = limit
        # A session whose handles own no fixed buffer (op by op) has nothing worth keeping.
        self._keeps = bool(getattr(session, "pooled", True))
        self._lock = threading.RLock()
        self._returned: deque[tuple[Handle, int]] = deque()
        self._free: dict[int, list[Handle]] = {}
        self._labels: dict[int, tuple[int, object]] = {}
        self._live = 0
        self._pooled = 0
        self._peak = 0
        self._blocks = 0
        self._allocations = 0
        self._reuses = 0
        self._closed = False
        _pools.add(self)

    def acquire(self, nbytes: int, label: object = "") -> Block:
        """A buffer of at least ``nbytes``; its contents are arbitrary.

        Args:
            nbytes: bytes wanted; 0 is legal.
            label: what it is for (a tensor type), for the out-of-memory message.

        Raises:
            OutOfMemory: it does not fit, after the pool was trimmed and garbage collected once.
        """
        size = size_class(nbytes)
        with self._lock:
            block = self._reuse(size, label)
            if block is not None:
                return block
            fits = self._reserve(size)
        if not fits:
            # Without the lock: collecting runs finalizers of others.
            gc.collect()
            with self._lock:
                block = self._reuse(size, label)
                if block is not None:
                    return block
                fits = self._reserve(size)
        if not fits:
            raise self.out_of_memory(nbytes, label)
        return self._allocate(size, nbytes, label)

    def give_back(self, handle: Handle, nbytes: int) -> None:
        """Takes a buffer back. Called from finalizers: never raises, never blocks."""
        if not self._keeps:
            _free_quietly(self.session, handle)
        self._returned.append((handle if self._keeps else None, nbytes))

    def trim(self) -> int:
        """Frees every buffer kept for reuse; returns how many bytes those were."""
        with self._lock:
            self._take_back()
            return self._trim()

    def stats(self) -> MemoryStats:
        """Sizes and counts as of now."""
        with self._lock:
            self._take_back()
            return MemoryStats(
                self._live, self._pooled, self._peak, self.limit,
                self._blocks, self._allocations, self._reuses,
            )  # fmt: skip

    def reset_peak(self) -> None:
        """Starts counting the peak anew from what is live now."""
        with self._lock:
            self._take_back()
            self._peak = self._live

    def out_of_memory(self, nbytes: int, label: object = "", *, unfilled: int = 0) -> OutOfMemory:
        """The error for a request that does not fit, with all the numbers.

        Args:
            nbytes: bytes wanted.
            label: what for.
            unfilled: bytes counted as live that the session had not got yet.
        """
        now = self.stats()
        limit = "none" if now.limit is None else format_bytes(now.limit)
        fix = "free tensors, compute in smaller parts, or raise REALTA_MEMORY_LIMIT"
        largest = self._largest()
        if largest:
            fix += f"; largest live: {largest}"
        return OutOfMemory(
            f"out of memory on {self.name}: requested {format_bytes(nbytes)}, "
            f"live {format_bytes(now.live - unfilled)}, pooled {format_bytes(now.pooled)}, "
            f"limit {limit}",
            where=f"allocating {label}" if label else "",
            fix=fix,
        )

    def close(self) -> None:
        """Frees what is pooled and forgets what comes back later: the session frees that itself."""
        with self._lock:
            self._take_back()
            self._trim()
            self._closed = True

    # -- with the lock held -----------------------------------------------------------------------

    def _reuse(self, size: int, label: object) -> Block | None:
        self._take_back()
        kept = self._free.get(size)
        if not kept:
            return None
        handle = kept.pop()
        self._pooled -= size
        self._reuses += 1
        self._count(size)
        self._remember(handle, size, label)
        return Block(handle, size, self)

    def _take_back(self) -> None:
        returned = self._returned
        while returned:
            handle, size = returned.popleft()
            self._live -= size
            self._blocks -= 1
            if size >= _TRACKED:
                self._labels.pop(id(handle), None)
            if self._keeps and not self._closed:
                self._pooled += size
                self._free.setdefault(size, []).append(handle)

    def _count(self, size: int) -> None:
        self._live += size
        self._blocks += 1
        if self._live > self._peak:
            self._peak = self._live

    def _remember(self, handle: Handle, size: int, label: object) -> None:
        if size >= _TRACKED and self._keeps:
            self._labels[id(handle)] = (size, label)

    def _reserve(self, size: int) -> bool:
        """Counts a block as live if it fits, freeing pooled ones where needed."""
        limit = self.limit
        if limit is not None:
            if self._live + size > limit:
                return False
            if self._live + self._pooled + size > limit:
                self._trim()
        self._count(size)
        return True

    def _unreserve(self, size: int) -> None:
        self._live -= size
        self._blocks -= 1

    def _trim(self) -> int:
        freed = self._pooled
        for handles in self._free.values():
            for handle in handles:
                _free_quietly(self.session, handle)
        self._free.clear()
        self._pooled = 0
        return freed

    # -- without it -------------------------------------------------------------------------------

    def _allocate(self, size: int, nbytes: int, label: object) -> Block:
        """Asks the session, once more after a trim; the bytes are already counted as live."""
        try:
            try:
                handle = self.session.allocate(size)
            except MemoryError:
                gc.collect()
                self.trim()
                handle = self.session.allocate(size)
        except MemoryError as error:
            with self._lock:
                self._unreserve(size)
            raise self.out_of_memory(nbytes, label) from error
        except BaseException:
            with self._lock:
                self._unreserve(size)
            raise
        with self._lock:
            self._allocations += 1
            self._remember(handle, size, label)
        return Block(handle, size, self)

    def _largest(self) -> str:
        with self._lock:
            found: dict[tuple[int, str], int] = {}
            for size, label in self._labels.values():
                key = (size, str(label) or "a buffer")
                found[key] = found.get(key, 0) + 1
        shown = sorted(found.items(), key=lambda item: (-item[0][0], item[0][1]))[:3]
        return ", ".join(
            f"{count} x {label} ({format_bytes(size)})" for (size, label), count in shown
        )


def _free_quietly(session: Session, handle: Handle) -> None:
    # A session may not raise here; one that does must not break a finalizer or an allocation.
    try:
        session.free(handle)
    except Exception:
        return


_pools: Final[weakref.WeakSet[Pool]] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    # Another thread may have held a lock at the fork; host memory itself was copied and stays good.
    for pool in list(_pools):
        pool._lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
