"""AbandonedRegion: what tensors of a region belong to after an exception left it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from realta.context.location import caller_location
from realta.errors import RealizationError
from realta.graph import Location, Value

__all__ = ["AbandonedRegion"]


class AbandonedRegion:
    """Stands for a region whose work never ran: every use of its tensors raises.

    Args:
        described: how errors name the region.
        opened_at: where it was opened.
        cause: the exception that left it.
    """

    __slots__ = ("cause", "described", "opened_at")

    def __init__(self, described: str, opened_at: Location, cause: BaseException) -> None:
        self.described = described
        self.opened_at = opened_at
        self.cause = cause

    def describe(self) -> str:
        """How errors name it."""
        return f"{self.described}, abandoned"

    def demand(self, handles: Sequence[Any] = ()) -> NoReturn:
        """Raises: the work was never run.

        Raises:
            RealizationError: always, chained to the exception that left the region.
        """
        cause = f"{type(self.cause).__name__}: {self.cause}".splitlines()[0]
        raise RealizationError(
            f"this tensor was recorded in {self.described}, which an exception left before it ran "
            f"({cause})",
            where=f"used at {caller_location()}, region opened at {self.opened_at}",
            fix="compute it again; tensors made before the region are unchanged",
        ) from self.cause

    def demand_from(self, inner: Any, handle: Any) -> NoReturn:
        """Raises like `demand`."""
        self.demand((handle,))

    def adopt(self, handle: Any, value: Value) -> NoReturn:
        """Raises like `demand`: such a tensor cannot be copied either."""
        self.demand((handle,))
