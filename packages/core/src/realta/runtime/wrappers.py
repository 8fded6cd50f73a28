"""Wrappers that are installed around compile and execute; see `realta.runtime.hooks`.

Apart from it, since the hot paths of eager ops must know whether anybody watches, and importing the
library must not import the contract.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

__all__ = [
    "Wrapper",
    "announce_change",
    "compile_wrappers",
    "execute_wrappers",
    "on_wrapper_change",
]

Wrapper = Callable[[Any, Callable[[], Any]], Any]
compile_wrappers: Final[list[Wrapper]] = []
execute_wrappers: Final[list[Wrapper]] = []
_listeners: Final[list[Callable[[], None]]] = []


def on_wrapper_change(listener: Callable[[], None]) -> None:
    """Has a function called after somebody began to watch what runs: a wrapper, a count."""
    _listeners.append(listener)


def announce_change() -> None:
    """Calls what `on_wrapper_change` was given."""
    for listener in _listeners:
        listener()
