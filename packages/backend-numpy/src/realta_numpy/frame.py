"""Frame: the loops of a kernel, as few as possible, and where each operand lies in them.

All values of a kernel live in one frame: the axes of the group's shape without those of extent 1,
with neighbours merged where every operand lies in memory as if they were one. Along an axis a
value has either the frame's extent or 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from realta.fusion import Group
from realta.graph import Node, Value

from realta_numpy.strides import Extents, Strided, row_major

__all__ = ["Frame", "Operand", "Unframed", "build_frame", "chain_of"]


class Unframed(Exception):
    """A group whose operands do not fit one frame; whoever catches it runs the ops one by one."""


@dataclass(frozen=True, slots=True)
class Operand:
    """A strided array over a handle, in the axes of a frame.

    Args:
        extents: per axis the frame's extent, or 1 where the operand does not vary.
        strides: bytes per axis, 0 where it does not vary.
        offset: bytes from the handle's start to the first element.
        copied: whether the chain of index maps cannot be a view; then it is stored first, in
        row-major
            order, and strides refer to that copy.
    """

    extents: Extents
    strides: Extents
    offset: Any = 0
    copied: bool = False

    @property
    def reversed(self) -> bool:
        """Whether it runs backwards along an axis."""
        return any(s < 0 for s in self.strides)

    def is_dense(self, frame: Frame, itemsize: int) -> bool:
        """Whether it has every element of the frame, in row-major order without gaps."""
        if self.extents != frame.extents:
            return False
        for extent, stride in zip(self.extents[::-1], self.strides[::-1], strict=True):
            if stride != itemsize and extent != 1:
                return False
            itemsize *= extent
        return True


@dataclass(frozen=True, slots=True)
class Frame:
    """The loops of a kernel.

    Args:
        extents: one per axis, all above 1; ``(1,)`` for a single element.
        reduced: for each axis whether reductions of the kernel take it away; those are neighbours.
        operands: arrays read, in the order of the values asked for.
        outputs: arrays written.
    """

    extents: Extents
    reduced: tuple[bool, ...]
    operands: tuple[Operand, ...]
    outputs: tuple[Operand, ...]

    @property
    def rows(self) -> Extents:
        """Extents of what a reduction gives, reduced axes kept as 1."""
        pairs = zip(self.extents, self.reduced, strict=True)
        return tuple(1 if reduced else n for n, reduced in pairs)


def chain_of(value: Value, group: Group) -> tuple[Value, list[Node]]:
    """The stored value that an operand shows, and the index maps from it, the innermost first."""
    chain: list[Node] = []
    while isinstance(value, Node) and group.levels.get(value) == "view":
        if value.op.name == "constant":
            break
        chain.append(value)
        value = value.operands[0]
    return value, chain[::-1]


def build_frame(
    group: Group, operands: Sequence[Value], outputs: Sequence[Value], *, merge: bool = True
) -> Frame:
    """The frame of a group.

    Args:
        group: an ``elementwise``, ``row`` or ``reduce`` group, no extent 0.
        operands: values read: inputs, or index maps over inputs.
        outputs: values stored.
        merge: whether axes are dropped and merged; a small kernel rather takes arrays as they are.

    Raises:
        Unframed: an operand does not lie in these loops.
    """
    shape: Extents = group.shape
    rows = tuple(1 if n in group.axes else d for n, d in enumerate(shape))
    read = [_operand(v, group, shape, rows) for v in operands]
    written = [_output(v, group, shape, rows) for v in outputs]
    order = _axis_order(shape, group.axes)
    kept = [n for n in order if shape[n] != 1]
    if merge:
        merged = _merged(kept, shape, group.axes, [*read, *written])
    else:
        merged = [[n] for n in order]
    extents = tuple(prod(shape[n] for n in axes) for axes in merged)
    reduced = tuple(axes[0] in group.axes for axes in merged)
    if not extents:
        extents, reduced = (1,), (False,)
    return Frame(
        extents,
        reduced,
        tuple(_placed(o, merged, shape) for o in read),
        tuple(_placed(o, merged, shape) for o in written),
    )


def _operand(value: Value, group: Group, shape: Extents, rows: Extents) -> Operand:
    source, chain = chain_of(value, group)
    itemsize = source.type.dtype.numpy.itemsize
    array = Strided(source.type.shape, row_major(source.type.shape, itemsize))
    for node in chain:
        array = array.moved(node, itemsize)
    if array.copied:
        array = Strided(array.shape, row_major(array.shape, itemsize), 0, copied=True)
    array = _in_shape(array, shape, rows)
    varies = [n != 1 and s != 0 for n, s in zip(array.shape, array.strides, strict=True)]
    return Operand(
        tuple(n if v else 1 for n, v in zip(array.shape, varies, strict=True)),
        tuple(s if v else 0 for s, v in zip(array.strides, varies, strict=True)),
        array.offset,
        array.copied,
    )


def _in_shape(array: Strided, shape: Extents, rows: Extents) -> Strided:
    """An array over all elements or over rows, with the axes of the group's shape."""
    if array.shape in (shape, rows):
        return array
    reduced = tuple(n for n, (d, row) in enumerate(zip(shape, rows, strict=True)) if d != row)
    if len(array.shape) + len(reduced) == len(shape):
        spread = array.spread(reduced)
        if spread.shape == rows:
            return spread
    # Extents of 1 are reduced without a trace: what is left has all other extents in order.
    if [d for d in array.shape if d != 1] == [d for d in rows if d != 1]:
        return array.respread(rows)
    raise Unframed(f"an operand of shape {array.shape} in loops over {shape}")


def _output(value: Value, group: Group, shape: Extents, rows: Extents) -> Operand:
    source = group.source(value)
    level = group.levels[source]  # type: ignore[index]
    extents = rows if level == "row" else shape
    size = prod(source.type.shape)
    if size != prod(extents):
        raise Unframed(f"an output of {size} elements in loops over {shape}")
    varies = [n != 1 for n in extents]
    strides = row_major(extents, source.type.dtype.numpy.itemsize)
    return Operand(extents, tuple(s if v else 0 for s, v in zip(strides, varies, strict=True)))


def _axis_order(shape: Extents, axes: tuple[int, ...]) -> list[int]:
    """The axes with the reduced ones next to each other: as they are if possible, else last."""
    inside = [n for n in range(len(shape)) if shape[n] != 1]
    reduced = [n for n in inside if n in axes]
    if reduced:
        first, last = inside.index(reduced[0]), inside.index(reduced[-1])
        if last - first + 1 != len(reduced):
            return [n for n in range(len(shape)) if n not in axes] + reduced
    return list(range(len(shape)))


def _merged(
    order: Sequence[int], shape: Extents, axes: tuple[int, ...], operands: Sequence[Operand]
) -> list[list[int]]:
    """Runs of axes that every operand sees as one."""
    runs: list[list[int]] = []
    for axis in order:
        if runs and _joins(runs[-1][-1], axis, shape, axes, operands):
            runs[-1].append(axis)
        else:
            runs.append([axis])
    return runs


def _joins(
    outer: int,
    inner: int,
    shape: Extents,
    axes: tuple[int, ...],
    operands: Sequence[Operand],
) -> bool:
    if (outer in axes) != (inner in axes):
        return False
    for o in operands:
        varies = o.extents[outer] != 1, o.extents[inner] != 1
        if varies == (False, False):
            continue
        if not all(varies) or o.strides[outer] != o.strides[inner] * shape[inner]:
            return False
    return True


def _placed(operand: Operand, merged: Sequence[Sequence[int]], shape: Extents) -> Operand:
    if not merged:
        return Operand((1,), (0,), operand.offset, operand.copied)
    varies = [operand.extents[axes[-1]] != 1 for axes in merged]
    extents = [
        prod(shape[n] for n in axes) if v else 1 for axes, v in zip(merged, varies, strict=True)
    ]
    strides = [
        operand.strides[axes[-1]] if v else 0 for axes, v in zip(merged, varies, strict=True)
    ]
    return Operand(tuple(extents), tuple(strides), operand.offset, operand.copied)
