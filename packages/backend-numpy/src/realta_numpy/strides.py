"""Strides: where elements lie behind a chain of index maps, for numbers and for named extents.

The rules are NumPy's. Extents may be symbolic; what depends on them is then decided for those that
are assumed, see `realta.types.assumptions`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from realta.graph import Node

__all__ = ["Extents", "Strided", "row_major"]

Extents = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Strided:
    """A strided array over a handle.

    Args:
        shape: extents.
        strides: bytes per axis.
        offset: bytes from the handle's start to the first element.
        copied: whether it is stored anew first; strides and offset refer to that copy.
    """

    shape: Extents
    strides: Extents
    offset: Any = 0
    copied: bool = False

    def moved(self, node: Node, itemsize: int) -> Strided:
        """What an index map shows of it."""
        name, attrs = node.op.name, node.attrs
        if name == "reshape":
            return self._reshaped(attrs["shape"], itemsize)
        if name == "permute":
            axes = attrs["axes"]
            return self._with([self.shape[n] for n in axes], [self.strides[n] for n in axes])
        if name == "broadcast":
            return self._broadcast(attrs["shape"])
        return self._sliced(node) if name == "slice" else self  # barrier: the identity map

    def _with(self, shape: Iterable[Any], strides: Iterable[Any]) -> Strided:
        return Strided(tuple(shape), tuple(strides), self.offset, self.copied)

    def _broadcast(self, shape: Extents) -> Strided:
        new = len(shape) - len(self.shape)
        pairs = zip(shape[new:], self.shape, self.strides, strict=True)
        strides = [stride if have == want else 0 for want, have, stride in pairs]
        return self._with(shape, [0] * new + strides)

    def _sliced(self, node: Node) -> Strided:
        attrs = node.attrs
        offset = self.offset
        for start, stride in zip(attrs["start"], self.strides, strict=True):
            offset = offset + start * stride
        strides = [s * step for s, step in zip(self.strides, attrs["step"], strict=True)]
        return Strided(node.type.shape, tuple(strides), offset, self.copied)

    def _reshaped(self, shape: Extents, itemsize: int) -> Strided:
        strides = _reshaped_strides(self.shape, self.strides, shape, itemsize)
        if strides is None:
            return Strided(shape, row_major(shape, itemsize), 0, copied=True)
        return self._with(shape, strides)

    def spread(self, axes: Sequence[int]) -> Strided:
        """With axes of extent 1 at these places of the result."""
        shape, strides = list(self.shape), list(self.strides)
        for axis in axes:
            shape.insert(axis, 1)
            strides.insert(axis, 0)
        return self._with(shape, strides)

    def respread(self, shape: Extents) -> Strided:
        """The same but for axes of extent 1, which are where ``shape`` has some."""
        pairs = zip(self.shape, self.strides, strict=True)
        strides = iter([stride for extent, stride in pairs if extent != 1])
        return self._with(shape, [0 if extent == 1 else next(strides) for extent in shape])


def row_major(shape: Extents, itemsize: int) -> Extents:
    """The strides of an array without gaps, the last axis the fastest."""
    strides: list[Any] = []
    step: Any = itemsize
    for extent in reversed(shape):
        strides.append(step)
        step = step * extent
    return tuple(reversed(strides))


def _reshaped_strides(
    old: Extents, strides: Extents, new: Extents, itemsize: int
) -> Sequence[Any] | None:
    """The strides that show an array under another shape, None if none do.

    Axes of both shapes are matched in runs of equal products; inside of a run the old axes must lie
    as one.
    """
    pairs = [(n, s) for n, s in zip(old, strides, strict=True) if n != 1]
    extents, steps = [n for n, _ in pairs], [s for _, s in pairs]
    found: list[Any] = [itemsize] * len(new)
    i = j = 0
    while i < len(extents) and j < len(new):
        first, start = i, j
        have, want = extents[i], new[j]
        i, j = i + 1, j + 1
        while not have == want:  # noqa: SIM201  symbolic extents decide `==` only
            if want < have:
                want, j = want * new[j], j + 1
            else:
                have, i = have * extents[i], i + 1
        for n in range(first, i - 1):
            if not steps[n] == extents[n + 1] * steps[n + 1]:  # noqa: SIM201
                return None
        found[start:j] = row_major(new[start:j], steps[i - 1])
    return found
