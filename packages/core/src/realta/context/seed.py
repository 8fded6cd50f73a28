"""Random state: a key and a counter; each draw takes the next counter when it is recorded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.context.location import caller_location
from realta.errors import ArgumentError
from realta.locks import Lock

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["RandomState", "global_state"]

_WORD: Final = 0xFFFFFFFF


class RandomState:
    """A Philox stream: ``key`` chooses it, ``counter`` numbers its draws (spec 6).

    Args:
        key: 0 <= key < 2**64.

    Raises:
        ArgumentError: the key is not such an integer.
    """

    __slots__ = ("_lock", "counter", "key")

    def __init__(self, key: int = 0) -> None:
        self._lock = Lock()
        self.key: int = 0
        self.counter: int = 0
        self.reset(key)

    def reset(self, key: int) -> None:
        """Sets the key and begins again at draw 0."""
        given: Any = key
        whole = isinstance(given, int | np.integer) and not isinstance(given, bool)
        if not whole or not 0 <= given < 2**64:
            raise ArgumentError(
                f"a random key is an integer from 0 to 2**64 - 1, got {key!r}",
                where=str(caller_location()),
                fix="pass such an integer, for example set_seed(0)",
            )
        with self._lock:
            self.key = int(key)
            self.counter = 0

    def take(self, count: int = 1) -> int:
        """Takes the next ``count`` counters; returns the first. Atomic."""
        with self._lock:
            first = self.counter
            self.counter = (first + count) % 2**64
            return first

    def words(self, counter: int) -> NDArray[Any]:
        """The uint32[4] operand of ``philox_bits`` for a draw: counter low, high, key low, high."""
        return np.array(
            [counter & _WORD, counter >> 32, self.key & _WORD, self.key >> 32], dtype=np.uint32
        )

    def draw(self) -> NDArray[Any]:
        """The state of the next draw, whose counter is taken. Atomic."""
        with self._lock:
            counter = self.counter
            self.counter = (counter + 1) % 2**64
            return self.words(counter)

    def snapshot(self) -> NDArray[Any]:
        """Key and counter as uint64[2]."""
        with self._lock:
            return np.array([self.key, self.counter], dtype=np.uint64)

    def __reduce__(self) -> tuple[Any, ...]:
        # There is one global stream in each process, and what draws from it goes on doing so.
        if self is global_state:
            return (_global, ())
        return (_restored, (self.key, self.counter))


def _global() -> RandomState:
    return global_state


def _restored(key: int, counter: int) -> RandomState:
    state = RandomState(key)
    state.counter = counter
    return state


global_state: Final = RandomState(0)
"""The stream that functions without an explicit generator draw from."""
