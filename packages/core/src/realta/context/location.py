"""Caller location: the user's file and line for each recorded op, for one walk over frames."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any, Final

from realta.graph import Location

__all__ = [
    "caller", "caller_location", "caller_place", "is_user_code", "location_of", "standing_at",
]  # fmt: skip

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_SKIPPED: Final = (_PACKAGE, contextlib.contextmanager.__code__.co_filename)
"""Files that no user's line is in: this package, and what stands between it and a `with`."""
_internal: Final[set[CodeType]] = set()
"""Code objects of those files seen so far; bounded by their size."""
_elsewhere: Final[ContextVar[Location | None]] = ContextVar("realta_location", default=None)


def caller() -> tuple[CodeType, int] | None:
    """The innermost frame outside the package, as ``(code, instruction)``; resolved when shown."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code not in _internal:
            if not code.co_filename.startswith(_SKIPPED):
                return (code, frame.f_lasti)
            _internal.add(code)
        frame = frame.f_back
    return None


def is_user_code(code: CodeType, last: list[CodeType | None]) -> bool:
    """Whether a code object is no part of the package; notes it in ``last`` if so."""
    if code in _internal or code.co_filename.startswith(_SKIPPED):
        return False
    last[0] = code
    return True


def caller_location() -> Location:
    """Like `caller`, as a Location; the one of `standing_at` where there is one."""
    return location_of(_elsewhere.get() or caller())


def caller_place() -> Any:
    """Like `caller_location`, but not looked up yet; see `location_of`."""
    return _elsewhere.get() or caller()


def location_of(place: Any) -> Location:
    """The Location of what `caller_place` gave."""
    if isinstance(place, Location):
        return place
    return Location(*place) if place else Location(None, 0, "unknown")


@contextlib.contextmanager
def standing_at(location: Location) -> Iterator[None]:
    """Lets `caller_location` give this place: for work that another thread asked for."""
    token = _elsewhere.set(location)
    try:
        yield
    finally:
        _elsewhere.reset(token)
