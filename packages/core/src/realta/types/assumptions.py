"""Assumptions: what symbolic extents are taken to be while something is worked out for many.

Where an answer depends on what the names are bound to, code that decides by extents gets the answer
for the extents at hand, and the question is noted. What was worked out then holds for all extents
that answer every noted question alike: they are the guards under which it may be used again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

__all__ = ["Assumptions", "assuming", "current_assumptions"]

_local = threading.local()


class Assumptions:
    """Extents for the names of dimensions, and the questions that were answered by them.

    Args:
        names: what the names are bound to.

    Attributes:
        guards: a condition in Python for each question, in the order in which they came up.
    """

    __slots__ = ("guards", "names")

    def __init__(self, names: Mapping[str, int]) -> None:
        self.names = dict(names)
        self.guards: dict[str, None] = {}

    def answer(self, left: str, sign: str, right: str, found: bool) -> bool:
        """Notes a question and its answer; returns that."""
        condition = f"{left} {sign} {right}"
        self.guards[condition if found else f"not {condition}"] = None
        return found

    def test(self) -> Callable[..., bool]:
        """A function of the names' values, in the order of `names`: whether all guards hold."""
        return compiled_function(self.names, " and ".join(self.guards) or "True")


def compiled_function(names: Mapping[str, Any], expression: str) -> Callable[..., Any]:
    """An expression over the names of dimensions as a function of their values, in that order."""
    text = f"lambda {', '.join(names)}: {expression}"
    return eval(text, {"min": min, "max": max})  # type: ignore[no-any-return]


@contextmanager
def assuming(names: Mapping[str, int]) -> Iterator[Assumptions]:
    """Answers questions about extents in this thread by these numbers; the innermost one counts."""
    outer = getattr(_local, "current", None)
    made = _local.current = Assumptions(names)
    try:
        yield made
    finally:
        _local.current = outer


def current_assumptions() -> Assumptions | None:
    """The assumptions of this thread, None outside of `assuming`."""
    return getattr(_local, "current", None)
