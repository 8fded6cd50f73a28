"""Lines: a tensor as lines along one of its axes."""

from __future__ import annotations

from math import prod

from realta.codegen.indices import Index
from realta.records import Record

__all__ = ["Lines"]


class Lines(Record):
    """Where the elements of lines are in a dense row-major tensor.

    Args:
        outer: product of the extents before the axis.
        extent: extent of the axis.
        inner: product of the extents after it.
    """

    __slots__ = ("extent", "inner", "outer")

    outer: int
    extent: int
    inner: int

    def __init__(self, outer: int, extent: int, inner: int) -> None:
        self._set(extent, inner, outer)

    @classmethod
    def of(cls, shape: tuple[int, ...], axis: int) -> Lines:
        """The lines along an axis of a shape."""
        return cls(prod(shape[:axis]), shape[axis], prod(shape[axis + 1 :]))

    @property
    def count(self) -> int:
        """Number of lines."""
        return self.outer * self.inner

    @property
    def dense(self) -> Lines:
        """The same lines one after the other."""
        return Lines(self.count, self.extent, 1)

    def place(self, line: Index, element: Index) -> Index:
        """Number of an element of a line in the tensor."""
        start = line // self.inner * (self.extent * self.inner)
        return start + element * self.inner + line % self.inner
