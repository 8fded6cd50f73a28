"""Naming: what errors call the body of a function that is public under another name."""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

__all__ = ["called"]

P = ParamSpec("P")
R = TypeVar("R")


def called(name: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """A decorator that gives a body the name of its public function."""

    def rename(body: Callable[P, R]) -> Callable[P, R]:
        body.__name__ = body.__qualname__ = name
        return body

    return rename
