"""Launch: what is not yet known about a run: whether it failed, and its bounds statuses.

A storage with ``launch is None`` is complete and good. Sessions run what they are given in the
order in which core calls them (launches, writes, copies, frees), and waiting for a buffer raises
the fault of the launch that was to fill it or of one that launch read from. Bounds statuses are
core's: a launch whose inputs come from launches with unread statuses keeps those as parents.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from realta.errors import RealtaError
from realta.locks import Lock

__all__ = ["Launch", "Status", "raise_again"]

Status = Callable[[], RealtaError | None]
"""Reads one bounds status, waiting for it: the error, or None if every index was inside."""
_MOST_UNREAD: Final = 256
"""Runs in a row whose statuses may stay unread; beyond, the oldest are read first."""


def raise_again(error: RealtaError) -> RealtaError:
    """A copy of a kept error: the kept one must not collect tracebacks, which hold frames alive."""
    fresh = type(error).__new__(type(error))
    fresh.args = error.args
    fresh.__dict__.update(error.__dict__)
    fresh.__cause__ = error.__cause__
    fresh.__suppress_context__ = True
    return fresh


class Launch:
    """The outcome of one run, shared by its outputs.

    Args:
        statuses: bounds statuses to read at the next wait.
        parents: launches of the inputs whose outcome is not known yet.
        locate: adds the op and its line to a fault that a session reports later.
    """

    __slots__ = ("depth", "error", "locate", "lock", "parents", "statuses")

    def __init__(
        self,
        statuses: Sequence[Status] = (),
        parents: Sequence[Launch] = (),
        locate: Callable[[Exception], RealtaError] | None = None,
    ) -> None:
        self.error: RealtaError | None = None
        self.statuses = statuses
        self.parents = parents
        self.locate = locate
        self.lock = Lock()
        self.depth: int = 1 + max((p.depth for p in parents), default=0)
        if self.depth > _MOST_UNREAD:
            for parent in parents:
                parent.settle()
            self._forget_parents()

    @classmethod
    def failed(cls, error: RealtaError) -> Launch:
        """A launch that is known to have failed."""
        launch = cls()
        launch.error = raise_again(error)
        return launch

    @property
    def known(self) -> bool:
        """Whether its outcome is known, apart from faults that a session has yet to report."""
        return self.error is not None or not (self.statuses or self.parents)

    def settle(self) -> RealtaError | None:
        """Reads what is unread, ancestors first, without recursion; the error, or None."""
        stack = [self]
        while stack:
            launch = stack[-1]
            waiting = [p for p in launch.parents if not p.known]
            if waiting and launch.error is None:
                stack.extend(waiting)
                continue
            stack.pop()
            launch._settle_self()
        return self.error

    def _settle_self(self) -> None:
        with self.lock:
            if self.error is None:
                self.error = next((p.error for p in self.parents if p.error is not None), None)
            if self.error is None:
                for read in self.statuses:
                    self.error = read()
                    if self.error is not None:
                        break
            self.statuses = ()
            self._forget_parents()

    def _forget_parents(self) -> None:
        self.parents = ()
        self.depth = 1

    def fail(self, error: Exception) -> RealtaError:
        """Notes a fault that a session reported while waiting; returns it with its place."""
        located = error if isinstance(error, RealtaError) else None
        if self.locate is not None:
            located = self.locate(error)
        if located is None:
            raise error
        self.error = located.with_traceback(None)
        return located
