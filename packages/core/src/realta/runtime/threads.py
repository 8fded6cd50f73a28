"""Thread count: how many threads host backends may use."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Final

from realta.errors import ArgumentError

__all__ = ["num_threads", "on_thread_count", "set_num_threads"]

_VARIABLE: Final = "REALTA_NUM_THREADS"
_CGROUP: Final = "/sys/fs/cgroup/cpu.max"
_chosen: Final[dict[str, int]] = {}
_listeners: Final[list[Callable[[int], None]]] = []


def set_num_threads(count: int) -> None:
    """Sets how many threads host kernels may use, in the whole process.

    Raises:
        ArgumentError: it is not an integer >= 1.
    """
    _chosen["count"] = _checked(count, "set_num_threads")
    for listener in _listeners:
        listener(_chosen["count"])


def num_threads() -> int:
    """What was set, else ``REALTA_NUM_THREADS``, else the processors this process may use.

    Raises:
        ArgumentError: the variable is not an integer >= 1.
    """
    found = _chosen.get("count")
    if found is None:
        given = os.environ.get(_VARIABLE, "").strip()
        found = (
            _checked(int(given) if given.isdigit() else given, _VARIABLE) if given else _usable()
        )
        _chosen["count"] = found
    return found


def on_thread_count(listener: Callable[[int], None]) -> None:
    """Calls ``listener`` with each newly set count."""
    _listeners.append(listener)


def _checked(count: object, where: str) -> int:
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ArgumentError(
            f"a number of threads is an int >= 1, got {count!r}",
            where=where,
            fix="give 1 or more, or leave the choice to the default",
        )
    return count


def _usable() -> int:
    """Processors that the scheduler and the control group allow."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    try:
        with open(_CGROUP, encoding="ascii") as file:
            quota, period = file.read().split()[:2]
        if quota != "max":
            allowed = min(allowed, max(1, int(quota) // int(period)))
    except (OSError, ValueError):
        pass  # no control group, or one of another version: the affinity stands
    return max(1, allowed)
