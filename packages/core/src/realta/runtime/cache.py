"""ExecutableCache: the programs of one device, bounded, the least recently used go first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from realta.runtime.program import Program

__all__ = ["CacheStats", "ExecutableCache"]

DEFAULT_ENTRIES: Final = 1024


class CacheStats(NamedTuple):
    """Counts of an executable cache.

    Args:
        entries: programs held.
        limit: the most it holds.
        hits: look-ups that found one.
        misses: look-ups that compiled.
        evictions: programs dropped for newer ones.
    """

    entries: int
    limit: int
    hits: int
    misses: int
    evictions: int


class ExecutableCache:
    """Programs by structure of their graph; several threads that miss the same one compile it once.

    Args:
        limit: the most programs to hold.
    """

    def __init__(self, limit: int = DEFAULT_ENTRIES) -> None:
        self.limit = limit
        self.generation = 0
        """Counts how often it was cleared."""
        self._lock = threading.Lock()
        self._programs: OrderedDict[Hashable, Program] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._hits = 0
        self._misses = 0
        self._evictions = 0

    def find(self, key: Hashable) -> Program | None:
        """The program of that key, or None; counts as a use."""
        with self._lock:
            found = self._programs.get(key)
            if found is not None:
                self._hits += 1
                self._programs.move_to_end(key)
            return found

    def get_or_make(self, key: Hashable, make: Callable[[], Program]) -> Program:
        """The program of that key, made by ``make`` if there is none; errors are not kept."""
        found = self.find(key)
        if found is not None:
            return found
        with self._lock:
            making = self._making.setdefault(key, threading.Lock())
        with making:
            # Whoever waited here finds what the first one made.
            found = self.find(key)
            if found is not None:
                return found
            try:
                program = make()
                self._keep(key, program)
            finally:
                with self._lock:
                    self._making.pop(key, None)
        return program

    def _keep(self, key: Hashable, program: Program) -> None:
        with self._lock:
            self._misses += 1
            self._programs[key] = program
            while len(self._programs) > self.limit:
                self._programs.popitem(last=False)
                self._evictions += 1

    def clear(self) -> None:
        """Forgets every program; those in use finish undisturbed."""
        with self._lock:
            self._programs.clear()
            self.generation += 1

    def stats(self) -> CacheStats:
        """Counts as of now."""
        with self._lock:
            return CacheStats(
                len(self._programs), self.limit, self._hits, self._misses, self._evictions
            )
