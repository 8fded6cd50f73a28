"""Space: the loops of a kernel, and where a value of a given shape lives in them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

from realta.graph import Node
from realta.types import TensorType

__all__ = ["Extents", "Space", "extents_of", "level_of_view"]

Extents = tuple[int | str, ...]
"""A shape for comparing: symbolic extents by their text, since a Dim refuses to be compared where
the answer depends on its names."""
_Labels = list[int | None]
_CLOSED: Final = ("movement", "single")


def extents_of(type: TensorType) -> Extents:
    """The shape of a type as `Extents`."""
    if type.is_static:
        return type.shape  # type: ignore[return-value]
    return tuple(d if isinstance(d, int) else str(d) for d in type.shape)


@dataclass(frozen=True, slots=True)
class Space:
    """The loops of a kernel.

    Args:
        kind: ``elementwise``, ``row``, ``contraction``; ``movement`` and ``single`` never grow.
        shape: all elements.
        axes: reduced axes of a ``row`` kernel, else empty.
    """

    kind: Literal["elementwise", "row", "contraction", "movement", "single"]
    shape: Extents
    axes: tuple[int, ...] = ()

    @property
    def rows(self) -> Extents:
        """The shape of what a reduction over `axes` gives."""
        return tuple(d for n, d in enumerate(self.shape) if n not in self.axes)

    @property
    def kept_rows(self) -> Extents:
        """`rows` with the reduced axes kept as 1."""
        return tuple(1 if n in self.axes else d for n, d in enumerate(self.shape))

    def level(self, shape: Extents) -> Literal["full", "row"] | None:
        """Whether elementwise work of a shape fits the loops over elements or those over rows."""
        if shape == self.shape:
            return "full"
        if self.axes and shape in (self.rows, self.kept_rows):
            return "row"
        return None

    def with_other(self, other: Space) -> Space | None:
        """The loops that serve both, or None."""
        if self.kind in _CLOSED or other.kind in _CLOSED:
            return None
        if self.kind == other.kind == "row":
            return self if self == other else None
        if other.kind == "elementwise":
            return self if self.level(other.shape) else None
        return other.with_other(self) if self.kind == "elementwise" else None


def level_of_view(
    space: Space, source: Extents, chain: Sequence[Node]
) -> Literal["full", "row"] | None:
    """Where the end of a chain of index maps over a member's rows lives in a kernel.

    Args:
        space: loops with reduced axes.
        source: shape of the member that the chain starts from.
        chain: index maps, the innermost first.

    Returns:
        ``row`` if the chain keeps one element per row, ``full`` if it broadcasts rows over the
        reduced axes, None if it or a part of it does anything else.
    """
    if space.kind != "row" or space.level(source) != "row":
        return None
    kept = [n for n in range(len(space.shape)) if n not in space.axes]
    labels: _Labels | None
    if source == space.rows:
        labels = list(kept)
    else:
        labels = [n if n in kept else None for n in range(len(space.shape))]
    shape = source
    level: Literal["full", "row"] | None = "row"
    for view in chain:
        labels = _moved(view, shape, labels)
        if labels is None:
            return None
        shape = extents_of(view.type)
        level = _level(space, shape, labels)
        if level is None:
            return None
    return level


def _level(space: Space, shape: Extents, labels: _Labels) -> Literal["full", "row"] | None:
    level = space.level(shape)
    if level is None:
        return None
    axes: list[int | None] = list(range(len(space.shape)))
    if level == "row" and len(shape) < len(space.shape):
        axes = [n for n in axes if n not in space.axes]
    for axis, label, extent in zip(axes, labels, shape, strict=True):
        # Along reduced axes and along extents of 1 there is only one element to read.
        wanted = None if axis in space.axes else axis
        if extent != 1 and label != wanted:
            return None
    return level


def _moved(view: Node, shape: Extents, labels: _Labels) -> _Labels | None:
    """Which axis of the loops each axis of a view's result follows; None if that cannot be said."""
    result = extents_of(view.type)
    if view.op.name == "permute":
        return [labels[a] for a in view.attrs["axes"]]
    if view.op.name == "broadcast":
        added = len(result) - len(shape)
        tail = zip(labels, shape, result[added:], strict=True)
        return [None] * added + [label if have == want else None for label, have, want in tail]
    if view.op.name == "reshape":
        return _reshaped(shape, labels, result)
    return None


def _reshaped(shape: Extents, labels: _Labels, result: Extents) -> _Labels | None:
    """Labels after a reshape that only adds or removes extents of 1."""
    long = [(d, label) for d, label in zip(shape, labels, strict=True) if d != 1]
    if [d for d, _ in long] != [d for d in result if d != 1]:
        return None
    rest = iter(long)
    return [None if d == 1 else next(rest)[1] for d in result]
