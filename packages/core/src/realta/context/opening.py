"""Opening: how a context is entered and left, in which thread, and how errors name it."""

from __future__ import annotations

from types import TracebackType
from typing import ClassVar, Self

from realta.context.location import caller_location, caller_place, location_of
from realta.context.scope import activate, deactivate
from realta.errors import RealizationError
from realta.graph import Location
from realta.locks import get_ident

__all__ = ["Opening"]


class Opening:
    """The part of a context that ``with`` uses.

    Args:
        name: shown in errors and in `explain`; the kind of context if empty.

    """

    kind: ClassVar[str] = "context"

    def __init__(self, name: str = "") -> None:
        self.name = name or self.kind
        self._place = caller_place()
        self._depth = 0
        self._owner: int | None = None

    @property
    def opened_at(self) -> Location:
        """The line that made it, or that entered it last."""
        return location_of(self._place)

    @property
    def is_open(self) -> bool:
        """Whether a ``with`` block of it is running."""
        return self._depth > 0

    def describe(self) -> str:
        """How errors name it: ``the lazy context 'encoder'``."""
        label = "" if self.name == self.kind else f" {self.name!r}"
        return f"the {self.kind} context{label}"

    def __enter__(self) -> Self:
        thread = get_ident()
        if self._depth and self._owner != thread:
            raise RealizationError(
                f"{self.describe()} is open in another thread",
                where=f"{caller_location()}, opened at {self.opened_at}",
                fix="open a context of its own in each thread",
            )
        self._check_entry()
        if not self._depth:
            self._owner = thread
            self._place = caller_place()
        self._depth += 1
        activate(self)  # type: ignore[arg-type]
        return self

    def begin(self) -> None:
        """Enters a context that was just made, at the place where that was."""
        self._owner = get_ident()
        self._depth = 1
        activate(self)  # type: ignore[arg-type]

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        problem = deactivate(self)  # type: ignore[arg-type]
        self._depth -= 1
        if not self._depth:
            self._owner = None
            self._leave(error or problem)
        if problem is not None:
            raise problem

    def _check_entry(self) -> None:
        """Refuses an entry that makes no sense for this kind of context."""

    def _leave(self, error: BaseException | None) -> None:
        """Called when the outermost block is left, after the context stopped being current."""
