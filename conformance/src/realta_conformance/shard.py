"""Shard: a part of a run, so that several machines share one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from realta.errors import ArgumentError

__all__ = ["WHOLE", "Shard", "parse_shard"]


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several parts of every level.

    Args:
        index: its number, from 1.
        count: how many parts there are.
    """

    index: int
    count: int

    @property
    def whole(self) -> bool:
        """Whether it is all there is."""
        return self.count == 1

    def takes(self, number: int) -> bool:
        """Whether the unit of that number, from 0, is part of it."""
        return number % self.count == self.index - 1

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


WHOLE: Final = Shard(1, 1)


def parse_shard(text: str) -> Shard:
    """The shard that a text like ``2/3`` names.

    Raises:
        ArgumentError: it names none.
    """
    first, _, second = text.partition("/")
    if not (first.isdigit() and second.isdigit() and 1 <= int(first) <= int(second)):
        raise ArgumentError(f"{text!r} is no shard", fix="write 2/3 for the second of three")
    return Shard(int(first), int(second))
