"""Kernel memory: where what lives inside one run is kept, and what lends memory to all runs."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from realta.backend.kernel_session import KernelSession
    from realta.runtime.contract import Handle

__all__ = ["Span", "Workspace", "share_cells"]


class Span(NamedTuple):
    """How long a value inside a run is needed.

    Args:
        nbytes: its size.
        first: number of the step that writes it.
        last: number of the last step that touches it.
    """

    nbytes: int
    first: int
    last: int


def share_cells(spans: Sequence[Span]) -> tuple[list[int], list[int]]:
    """Gives values cells of memory; values that are never needed at once may share one.

    A value takes the smallest free cell that is large enough, else the largest free one, which
    grows, else a new one.

    Args:
        spans: the values, in any order.

    Returns:
        For each value the number of its cell, and for each cell its size. The largest come first.
    """
    order = sorted(range(len(spans)), key=lambda n: (spans[n].first, -spans[n].nbytes))
    ending: dict[int, list[int]] = {}
    free: list[tuple[int, int]] = []
    cells = [0] * len(spans)
    sizes: list[int] = []
    step = 0
    for number in order:
        span = spans[number]
        while step < span.first:
            for cell in ending.pop(step, ()):
                insort(free, (sizes[cell], cell))
            step += 1
        cells[number] = cell = _take(free, sizes, span.nbytes)
        ending.setdefault(span.last, []).append(cell)
    return _largest_first(cells, sizes)


def _take(free: list[tuple[int, int]], sizes: list[int], nbytes: int) -> int:
    if not free:
        sizes.append(nbytes)
        return len(sizes) - 1
    place = min(bisect_left(free, (nbytes, 0)), len(free) - 1)
    cell = free.pop(place)[1]
    sizes[cell] = max(sizes[cell], nbytes)
    return cell


def _largest_first(cells: list[int], sizes: list[int]) -> tuple[list[int], list[int]]:
    # Executables share the memory of their cells by rank, so ranks should go by size.
    order = sorted(range(len(sizes)), key=lambda n: -sizes[n])
    rank = {cell: n for n, cell in enumerate(order)}
    return [rank[cell] for cell in cells], [sizes[cell] for cell in order]


class Workspace:
    """The memory of everything that lives inside runs of one session.

    Runs follow each other in the order of their launches, so all executables may use the same
    memory: one arena that is cut into cells where the session can `slice` it, a buffer for each
    cell elsewhere. It grows to what the largest executable needs. Used with the session's lock
    held.

    Args:
        session: who allocates.

    Attributes:
        bound: by identity of an executable, the handles of its cells.
    """

    def __init__(self, session: KernelSession) -> None:
        self._session = session
        self._alignment = session.limits.alignment
        self._buffers: list[tuple[Handle, int]] = []
        self.bound: dict[int, list[Handle]] = {}

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(nbytes for _, nbytes in self._buffers)

    def bind(self, owner: int, sizes: Sequence[int]) -> list[Handle]:
        """The handles of an executable's cells, kept until the memory grows.

        Args:
            owner: identity of the executable.
            sizes: bytes of its cells, the largest first.

        Raises:
            OutOfMemory: it does not fit; the memory is as before.
        """
        if self._session.can_slice:
            handles = self._slices(sizes)
        else:
            for rank, nbytes in enumerate(sizes):
                self._grow(rank, nbytes)
            handles = [handle for handle, _ in self._buffers[: len(sizes)]]
        self.bound[owner] = handles
        return handles

    def _slices(self, sizes: Sequence[int]) -> list[Handle]:
        starts, end = [], 0
        for nbytes in sizes:
            starts.append(end)
            end += -(-nbytes // self._alignment) * self._alignment
        if not end:
            return []
        self._grow(0, end)
        arena = self._buffers[0][0]
        cut = self._session.slice
        return [cut(arena, start, nbytes) for start, nbytes in zip(starts, sizes, strict=True)]

    def _grow(self, rank: int, nbytes: int) -> None:
        held = self._buffers[rank][1] if rank < len(self._buffers) else 0
        if nbytes <= held:
            return
        grown = (self._session.allocate(nbytes), nbytes)
        if rank < len(self._buffers):
            self._session.free(self._buffers[rank][0])
            self._buffers[rank] = grown
        else:
            self._buffers.append(grown)
        # What was bound so far refers to memory that is given up.
        self.bound.clear()

    def forget(self, owner: int) -> None:
        """Lets the handles of an executable go; called from finalizers."""
        self.bound.pop(owner, None)

    def clear(self) -> None:
        """Gives all memory back."""
        self.bound.clear()
        while self._buffers:
            self._session.free(self._buffers.pop()[0])
