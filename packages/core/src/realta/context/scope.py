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


class _Entry:
    """One activation; they form a list from the innermost outwards, one list a thread or task."""

    __slots__ = ("context", "outer", "token")

    def __init__(
        self,
        context: RecordingContext,
        token: Token[RecordingContext | None],
        outer: _Entry | None,
    ) -> None:
        self.context = context
        self.token = token
        self.outer = outer


_innermost: Final[ContextVar[_Entry | None]] = ContextVar("realta_entries", default=None)


def activate(context: RecordingContext) -> None:
    """Makes a context the current one."""
    token = current.set(context)
    _innermost.set(_Entry(context, token, _innermost.get()))


def deactivate(context: RecordingContext) -> RealizationError | None:
    """Restores what was current before.

    Returns:
        The error to raise where another context was opened later and is still open: this one is
        left all the same, so that what was opened later can be left in its turn.

    Raises:
        RealizationError: it was not entered here, but in another thread or task; nothing changes.
    """
    entry = _innermost.get()
    if entry is None or entry.context is not context:
        return _left_too_early(context, entry)
    try:
        current.reset(entry.token)
    except ValueError:
        raise _misplaced(context) from None
    outer = entry.outer
    # What the token remembers may have been left out of order meanwhile.
    current.set(outer.context if outer is not None else None)
    _innermost.set(outer)
    return None


def _left_too_early(context: RecordingContext, entry: _Entry | None) -> RealizationError:
    active = entry.context if entry is not None else None
    between: list[_Entry] = []
    while entry is not None and entry.context is not context:
        between.append(entry)
        entry = entry.outer
    if entry is None:
        raise _misplaced(context)
    kept = entry.outer
    for above in reversed(between):
        kept = _Entry(above.context, above.token, kept)
    _innermost.set(kept)
    return RealizationError(
        f"{context.describe()} is left while {active.describe() if active else 'none'} is current",
        where=f"opened at {context.opened_at}",
        fix="leave contexts in the reverse order of entering; nest `with` blocks",
    )


def _misplaced(context: RecordingContext) -> RealizationError:
    return RealizationError(
        f"{context.describe()} is left in a thread or task that did not enter it",
        where=f"opened at {context.opened_at}",
        fix="enter and leave a context in the same thread and task",
    )


@contextmanager
def realization_context(context: RecordingContext) -> Iterator[RecordingContext]:
    """Makes ``context`` current for the block, without opening or closing it."""
    activate(context)
    try:
        yield context
    finally:
        problem = deactivate(context)
        if problem is not None:
            raise problem


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
