"""RealizationContext: what a realization context offers, as a protocol."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Protocol, Self, runtime_checkable

from realta.graph import Graph, Input, Value

__all__ = ["RealizationContext"]


@runtime_checkable
class RealizationContext(Protocol):
    """Decides when its tensors become real; eager, lazy and graph contexts are such."""

    @property
    def graph(self) -> Graph:
        """What is recorded and not yet real."""

    def realize_all(self) -> None:
        """Makes every live tensor of it real.

        Raises:
            RealizationError: tensors cannot become real here.
        """

    def add_source(self, handle: Any, /) -> Input:
        """The parameter by which its graph reads a real tensor; the tensor stays real."""

    def add_mutable_source(self, handle: Any, /) -> Input:
        """The same for a tensor that is stored to."""

    def create_unrealized(self, value: Value, /) -> Any:
        """A new tensor of it that names a value of its graph."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None: ...
