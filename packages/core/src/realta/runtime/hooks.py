"""Wrappers around compile and execute: what a profiler or a plugin hangs into the runtime.

Each is called as ``wrapper(event, call)`` and returns what ``call()`` returns. With none installed
a run pays one truth test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from realta.graph import Graph
from realta.runtime.contract import KernelReport, Options
from realta.runtime.wrappers import (
    Wrapper,
    announce_change,
    compile_wrappers,
    execute_wrappers,
)

if TYPE_CHECKING:
    from realta.passes import Pass

__all__ = [
    "CompileEvent", "ExecuteEvent", "Wrapper", "add_compile_wrapper", "add_execute_wrapper",
    "compile_wrappers", "execute_wrappers", "remove_wrapper", "wrapped",
]  # fmt: skip


class CompileEvent(NamedTuple):
    """A graph that is about to be compiled."""

    device: str
    graph: Graph
    options: Options


class ExecuteEvent(NamedTuple):
    """A program that is about to run."""

    device: str
    name: str
    kernels: tuple[KernelReport, ...]
    bytes_in: int
    bytes_out: int


extra_passes: Final[list[Pass]] = []
"""Passes of plugins, run on a graph before it is brought into normal form."""


def add_compile_wrapper(wrapper: Wrapper) -> None:
    """Installs a wrapper around every compilation."""
    compile_wrappers.append(wrapper)


def add_execute_wrapper(wrapper: Wrapper) -> None:
    """Installs a wrapper around every run of a program."""
    execute_wrappers.append(wrapper)
    announce_change()


def remove_wrapper(wrapper: Wrapper) -> None:
    """Removes a wrapper from wherever it was installed."""
    for installed in (compile_wrappers, execute_wrappers):
        if wrapper in installed:
            installed.remove(wrapper)


def wrapped(wrappers: list[Wrapper], event: Any, call: Callable[[], Any]) -> Any:
    """Runs ``call`` inside every wrapper, the one installed last outermost."""
    for wrapper in tuple(wrappers):
        call = _bind(wrapper, event, call)
    return call()


def _bind(wrapper: Wrapper, event: Any, call: Callable[[], Any]) -> Callable[[], Any]:
    return lambda: wrapper(event, call)
