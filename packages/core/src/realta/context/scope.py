"""Scope: which realization context is current, and how contexts nest."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any, Final

from realta.errors import RealizationError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from realta.context.base import RecordingContext

__all__ = [
    "activate",
    "current",
    "current_realization_context",
    "deactivate",
    "realization_context",
]

current: Final[ContextVar[RecordingContext | None]] = ContextVar("realta_context", default=None)
"""The innermost active context of this thread or task."""


def activate(context: RecordingContext) -> Token[RecordingContext | None]:
    """Makes a context the current one."""
    return current.set(context)


def deactivate(context: RecordingContext, token: Token[RecordingContext | None]) -> None:
    """Restores what was current before.

    Raises:
        RealizationError: another context was opened later and is still open, or this is another task.
    """
    active = current.get()
    if active is not context:
        raise RealizationError(
            f"{context.describe()} is left while {active.describe() if active else 'no context'} is current",
            where=f"opened at {context.opened_at}",
            fix="leave contexts in the reverse order of entering; nest `with` blocks",
        )
    try:
        current.reset(token)
    except ValueError:
        raise RealizationError(
            f"{context.describe()} is left in another task than it was entered in",
            where=f"opened at {context.opened_at}",
            fix="enter and leave a context in the same task",
        ) from None


@contextmanager
def realization_context(context: RecordingContext) -> Iterator[RecordingContext]:
    """Makes ``context`` current for the block, without opening or closing it."""
    token = activate(context)
    try:
        yield context
    finally:
        deactivate(context, token)


def current_realization_context(default: Any = ...) -> Any:
    """The current context.

    Args:
        default: what to return where there is none.

    Raises:
        LookupError: there is none and no default is given.
    """
    found = current.get()
    if found is not None:
        return found
    if default is ...:
        raise LookupError("no realization context is active\n  fix: open one, as in `with lazy():`")
    return default
