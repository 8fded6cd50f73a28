"""Shapes: broadcasting, axes and reshapes, for integers and symbolic extents alike."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from realta.errors import ArgumentError, ShapeError
from realta.types.dims import Dim, as_dim, divide_exactly

__all__ = [
    "bind_shape", "broadcast_shapes", "normalize_axes", "normalize_axis", "normalize_axis_order",
    "resolve_reshape",
]  # fmt: skip

Shape = tuple["int | Dim", ...]


def shape_text(shape: Sequence[int | Dim]) -> str:
    """A shape as errors show it: ``(2, batch)``."""
    inner = ", ".join(map(str, shape))
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def broadcast_shapes(*shapes: Shape) -> Shape:
    """The shape that NumPy's rules give for operands of these shapes.

    Axes are aligned at the end; an extent of 1 stretches, also to 0. A symbolic extent never
    stretches: it meets 1 or an extent that is the same for all values of the names.

    Raises:
        ShapeError: two extents differ, or whether they do depends on the names.
    """
    if len(set(map(len, shapes))) == 1 and all(s is shapes[0] for s in shapes):
        return shapes[0]
    result: list[int | Dim] = [1] * max(map(len, shapes), default=0)
    for shape in shapes:
        offset = len(result) - len(shape)
        for axis, extent in enumerate(shape, offset):
            have = result[axis]
            if _is_one(extent) or have is extent:
                continue
            if _is_one(have):
                result[axis] = extent
            elif not _same(have, extent, shapes):
                raise ShapeError(
                    f"the shapes {' and '.join(map(shape_text, shapes))} do not broadcast: "
                    f"axis {axis - len(result)} has the extents {have} and {extent}",
                    fix="make the extents equal, or one of them 1",
                )
    return tuple(result)


def _is_one(extent: int | Dim) -> bool:
    return type(extent) is int and extent == 1


def _same(a: int | Dim, b: int | Dim, shapes: Sequence[Shape]) -> bool:
    try:
        return a == b
    except ShapeError as error:
        raise error.at(f"broadcasting {' and '.join(map(shape_text, shapes))}") from None


def normalize_axis(axis: Any, rank: int) -> int:
    """An axis counted from the start, in ``range(rank)``.

    Raises:
        ShapeError: the axis is out of range (a 0-d tensor has none).
        ArgumentError: it is not an integer.
    """
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise ArgumentError(f"an axis is an integer, got {axis!r}", fix="give an int")
    number = operator.index(axis)
    if -rank <= number < rank:
        return number + rank if number < 0 else number
    has = f"axes {-rank} to {rank - 1}" if rank else "no axes (it is 0-d)"
    raise ShapeError(
        f"axis {number} is out of range: the tensor has {has}", fix="give an axis it has"
    )


def normalize_axes(axes: Any, rank: int) -> tuple[int, ...]:
    """Axes as a sorted tuple counted from the start; None means all, ``()`` none.

    Raises:
        ShapeError: an axis is out of range or named twice.
        ArgumentError: not an integer or a sequence of integers.
    """
    return tuple(range(rank)) if axes is None else tuple(sorted(normalize_axis_order(axes, rank)))


def normalize_axis_order(axes: Any, rank: int) -> tuple[int, ...]:
    """Axes in the given order, counted from the start: for permutations and moves.

    Raises:
        ShapeError: an axis is out of range or named twice.
        ArgumentError: not an integer or a sequence of integers.
    """
    given: Iterable[Any] = axes if isinstance(axes, Iterable) else (axes,)
    found = tuple(normalize_axis(a, rank) for a in given)
    if len(set(found)) != len(found):
        twice = next(a for a in found if found.count(a) > 1)
        raise ShapeError(f"axis {twice} is named twice in {axes!r}", fix="name each axis once")
    return found


def _count(shape: Iterable[int | Dim]) -> Any:
    total: Any = 1
    for extent in shape:
        total = total * extent
    return total


def resolve_reshape(shape: Shape, new_shape: Sequence[int | str | Dim]) -> Shape:
    """The target of a reshape with a single -1 replaced by the extent that keeps the elements.

    Raises:
        ShapeError: the number of elements changes, more than one -1, another negative extent, or
            the extent that -1 stands for is not determined (all others hold no elements).
    """
    wild = [n for n, d in enumerate(new_shape) if isinstance(d, int) and d == -1]
    where = f"reshape of {shape_text(shape)} to {shape_text(tuple(new_shape))}"  # type: ignore[arg-type]
    if len(wild) > 1:
        raise ShapeError("at most one extent may be -1", where=where, fix="give all but one")
    try:
        target: list[int | Dim] = [1 if n in wild else as_dim(d) for n, d in enumerate(new_shape)]
        have, want = _count(shape), _count(target)
        if wild:
            target[wild[0]] = _missing_extent(have, want)
        elif have != want:
            raise ShapeError(
                f"{have} elements cannot become {want}", fix="keep the number of elements"
            )
    except ShapeError as error:
        raise error.at(where) from None
    return tuple(target)


def _missing_extent(have: int | Dim, want: int | Dim) -> int | Dim:
    if isinstance(want, int) and want == 0:
        raise ShapeError(
            "the extent -1 is not determined, since the other extents hold no elements",
            fix="write the extent in place of -1",
        )
    found = divide_exactly(have, want)
    if found is None:
        raise ShapeError(
            f"{have} elements do not divide by {want}", fix="choose extents that divide them"
        )
    return found


def bind_shape(shape: Shape, names: Mapping[str, int]) -> tuple[int, ...]:
    """A shape as integers where the names are bound.

    Raises:
        ShapeError: a name is not bound, or an extent comes out negative.
    """
    found = tuple(d if isinstance(d, int) else d.evaluate(names) for d in shape)
    for extent, given in zip(found, shape, strict=True):
        if extent < 0:
            raise ShapeError(
                f"the extent {given} is {extent}, and no extent is negative",
                where=f"with {dict(names)}",
                fix="bind the names to other values",
            )
    return found
