"""Plain functions: what may be decorated with a context: neither async functions nor generators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from realta.errors import ArgumentError

__all__ = ["require_plain_function"]

_SUSPENDING: Final = 0x20 | 0x80 | 0x200
"""CO_GENERATOR, CO_COROUTINE and CO_ASYNC_GENERATOR of a code object's flags."""


def require_plain_function(function: Callable[..., Any], decorator: str) -> None:
    """Refuses what would leave the decorator's block before its body has run.

    Raises:
        ArgumentError: it cannot be called, or it is an async function or a generator.
    """
    if not callable(function):
        raise ArgumentError(
            f"{decorator} decorates functions, not {type(function).__name__}",
            fix=f"write @{decorator} above a def",
        )
    code = getattr(function, "__code__", None)
    if code is not None and code.co_flags & _SUSPENDING:
        raise ArgumentError(
            f"{function.__qualname__} is async or a generator, so its body is not one block",
            where=f"{code.co_filename}:{code.co_firstlineno}",
            fix=f"decorate an ordinary function that it calls with @{decorator}",
        )
