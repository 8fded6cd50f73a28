"""Executor: where units are performed: in this process, or in workers (see `pool`)."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from typing import Protocol

from realta_conformance.device import Description, Device
from realta_conformance.units import Result, Unit, perform

__all__ = ["Executor", "InProcess", "Queue"]


class Executor(Protocol):
    """Takes units, gives results in whatever order they come."""

    @property
    def description(self) -> Description:
        """The device that units run on."""

    def submit(self, order: int, unit: Unit) -> None:
        """Queues a unit; those of a lower order go first, and those of one order as they came."""

    def cancel(self, level: str) -> None:
        """Drops what is queued of a level."""

    def results(self) -> Iterator[tuple[Unit, Result]]:
        """Performs what is queued, and what is submitted meanwhile, until nothing is left."""


class Queue:
    """Units by order."""

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Unit]] = []
        self._count = 0

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, order: int, unit: Unit) -> None:
        """Queues a unit."""
        heapq.heappush(self._heap, (order, self._count, unit))
        self._count += 1

    def pop(self) -> tuple[int, Unit]:
        """The next unit with its order."""
        order, _, unit = heapq.heappop(self._heap)
        return order, unit

    def drop(self, wanted: Callable[[Unit], bool]) -> None:
        """Drops the units for which it is true."""
        self._heap = [entry for entry in self._heap if not wanted(entry[2])]
        heapq.heapify(self._heap)


class InProcess:
    """Performs units here, one after the other; a crash of the device is a crash of this process.

    Args:
        device: the device.
    """

    def __init__(self, device: Device) -> None:
        self.device = device
        self._queue = Queue()

    @property
    def description(self) -> Description:
        return self.device.description

    def submit(self, order: int, unit: Unit) -> None:
        self._queue.push(order, unit)

    def cancel(self, level: str) -> None:
        self._queue.drop(lambda unit: unit.level == level)

    def results(self) -> Iterator[tuple[Unit, Result]]:
        while self._queue:
            _, unit = self._queue.pop()
            yield unit, perform(self.device, unit)
