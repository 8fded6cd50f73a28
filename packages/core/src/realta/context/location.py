"""Caller location: the user's file and line for each recorded op, at the price of one frame walk."""

from __future__ import annotations

import os
import sys
from types import CodeType
from typing import Final

from realta.graph import Location

__all__ = ["caller", "caller_location"]

_PACKAGE: Final = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
_internal: Final[set[CodeType]] = set()
"""Code objects of this package seen so far; bounded by the size of the package."""


def caller() -> tuple[CodeType, int] | None:
    """The innermost frame outside the package, as ``(code, instruction)``; resolved only when shown."""
    frame = sys._getframe(2)
    while frame is not None:
        code = frame.f_code
        if code not in _internal:
            if not code.co_filename.startswith(_PACKAGE):
                return (code, frame.f_lasti)
            _internal.add(code)
        frame = frame.f_back  # type: ignore[assignment]
    return None


def caller_location() -> Location:
    """Like `caller`, as a Location."""
    found = caller()
    return Location(*found) if found else Location(None, 0, "unknown")
