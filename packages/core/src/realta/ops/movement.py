"""Movement: the same elements at other places. Attributes are normal: no -1, no negative axes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from realta.errors import ArgumentError, ShapeError
from realta.ops.conversion import Array
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.rules import check_axes, check_axis, check_same, count, extents, like
from realta.types import DTYPES, Dim, Shape, TensorType

__all__ = ["slice_type", "to_slices"]

_ALL: Final = frozenset(DTYPES)


def _reshape_rule(x: TensorType, *, shape: Shape) -> TensorType:
    if count(x.shape) != count(shape):
        raise ShapeError(
            f"{count(x.shape)} elements of the shape {extents(x.shape)} do not fill the shape "
            f"{extents(shape)}",
            fix="keep the number of elements",
        )
    return x.with_shape(shape)


def _reshape(x: Array, *, shape: tuple[int, ...]) -> Array:
    return x.reshape(shape).copy()


define(
    "reshape",
    rule=_reshape_rule,
    reference=_reshape,
    doc="The elements in row-major order under another shape of as many elements.",
    kind=OpKind.MOVEMENT,
    attrs={"shape": Attr("shape", doc="shape of the result")},
    dtypes=_ALL,
    samples=(
        Sample(((),), {"shape": (1, 1)}),
        Sample(((1,),), {"shape": ()}),
        Sample(((0, 3),), {"shape": (2, 0)}),
        Sample(((33, 2),), {"shape": (2, 33)}),
        Sample(((2, 3, 4),), {"shape": (24,)}),
    ),
)


def _permute_rule(x: TensorType, *, axes: tuple[int, ...]) -> TensorType:
    check_axes(axes, x.rank)
    if len(axes) != x.rank:
        raise ShapeError(
            f"axes {extents(axes)} does not name each axis of the shape {extents(x.shape)}",
            fix="name each axis once",
        )
    return x.with_shape(tuple(x.shape[a] for a in axes))


def _permute(x: Array, *, axes: tuple[int, ...]) -> Array:
    return x.transpose(axes).copy()


define(
    "permute",
    rule=_permute_rule,
    reference=_permute,
    doc="The axes in another order: axis n of the result is axis axes[n] of the operand.",
    kind=OpKind.MOVEMENT,
    attrs={"axes": Attr("ints", doc="a permutation of the axes")},
    dtypes=_ALL,
    samples=(
        Sample(((),), {"axes": ()}),
        Sample(((17, 33),), {"axes": (1, 0)}),
        Sample(((2, 3, 4),), {"axes": (2, 0, 1)}),
        Sample(((2, 0, 3),), {"axes": (1, 2, 0)}),
        Sample(((2, 3, 1, 4),), {"axes": (0, 2, 1, 3)}),
    ),
)


def _broadcast_rule(x: TensorType, *, shape: Shape) -> TensorType:
    offset = len(shape) - x.rank
    fits = offset >= 0 and all(
        (type(have) is int and have == 1) or have == want
        for have, want in zip(x.shape, shape[offset:], strict=True)
    )
    if not fits:
        raise ShapeError(
            f"the shape {extents(x.shape)} does not broadcast to {extents(shape)}",
            fix="axes are aligned at the end, and only an extent of 1 stretches",
        )
    return x.with_shape(shape)


def _broadcast(x: Array, *, shape: tuple[int, ...]) -> Array:
    return np.broadcast_to(x, shape).copy()


define(
    "broadcast",
    rule=_broadcast_rule,
    reference=_broadcast,
    doc="Elements repeated along new leading axes and along axes of extent 1.",
    kind=OpKind.MOVEMENT,
    attrs={"shape": Attr("shape", doc="shape of the result")},
    dtypes=_ALL,
    samples=(
        Sample(((),), {"shape": (3, 33)}),
        Sample(((),), {"shape": ()}),
        Sample(((1,),), {"shape": (0,)}),
        Sample(((17, 1),), {"shape": (2, 17, 3)}),
        Sample(((1, 3),), {"shape": (17, 3)}),
        Sample(((2, 1, 3),), {"shape": (2, 5, 3)}),
    ),
)


def _extent(axis: int, extent: int | Dim, start: Any, stop: Any, step: Any) -> int | Dim:
    """The number of elements of one axis that a slice takes; checked where the extent is known."""
    if type(step) is not int or step == 0:
        raise ArgumentError(
            f"the step {step} of axis {axis} is not a nonzero integer", fix="use 1 or -1 to step on"
        )
    if type(start) is not int or type(stop) is not int:
        if step != 1:
            raise ShapeError(f"a symbolic slice of axis {axis} steps by {step}", fix="step by 1")
        length: int | Dim = stop - start
        return length
    low, high = (0, extent) if step > 0 else (-1, extent - 1)
    for name, value in (("start", start), ("stop", stop)):
        if value < low or (type(high) is int and value > high):
            raise ShapeError(
                f"the {name} {value} of axis {axis} lies outside {low} to {high}",
                fix="clip it to the extent, as Python's slice.indices does",
            )
    return len(range(start, stop, step))


def slice_type(
    x: TensorType, start: tuple[Any, ...], stop: tuple[Any, ...], step: tuple[Any, ...]
) -> TensorType:
    """The type of ``x[start:stop:step]``, one entry each for every axis; -1 stops before the first.

    Raises:
        ShapeError: a wrong number of entries, or an entry outside its axis.
        ArgumentError: a step of 0.
    """
    for name, entries in (("start", start), ("stop", stop), ("step", step)):
        if len(entries) != x.rank:
            raise ShapeError(
                f"{name} has {len(entries)} entries for the {x.rank} axes of {extents(x.shape)}",
                fix="give one entry for each axis",
            )
    lines = zip(x.shape, start, stop, step, strict=True)
    return x.with_shape(tuple(_extent(n, *line) for n, line in enumerate(lines)))


def to_slices(
    start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]
) -> tuple[slice, ...]:
    """NumPy's slices for the attributes of a slice, where -1 means before the first element."""
    lines = zip(start, stop, step, strict=True)
    # NumPy reads a start of -1 as the last element; as a slice of nothing it is written 0:0.
    return tuple(
        slice(0, 0, 1) if not range(a, b, c) else slice(a, None if b < 0 else b, c)
        for a, b, c in lines
    )


def _slice_rule(
    x: TensorType, *, start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]
) -> TensorType:
    return slice_type(x, start, stop, step)


def _slice(
    x: Array, *, start: tuple[int, ...], stop: tuple[int, ...], step: tuple[int, ...]
) -> Array:
    return x[to_slices(start, stop, step)].copy()


define(
    "slice",
    rule=_slice_rule,
    reference=_slice,
    doc="A part of each axis: the indices of Python's range(start, stop, step).",
    kind=OpKind.MOVEMENT,
    attrs={
        "start": Attr("ints", doc="the first index of each axis"),
        "stop": Attr("ints", doc="the index of each axis to stop before; -1 is before the first"),
        "step": Attr("ints", doc="the distance of indices; negative ones run backwards"),
    },
    dtypes=_ALL,
    samples=(
        Sample(((),), {"start": (), "stop": (), "step": ()}),
        Sample(((33,),), {"start": (1,), "stop": (33,), "step": (1,)}),
        Sample(((33,),), {"start": (2,), "stop": (31,), "step": (3,)}),
        Sample(((17,),), {"start": (16,), "stop": (-1,), "step": (-1,)}, note="reversed"),
        Sample(((17,),), {"start": (15,), "stop": (1,), "step": (-4,)}),
        Sample(((3, 5),), {"start": (0, 4), "stop": (2, -1), "step": (1, -2)}),
        Sample(((4, 3),), {"start": (2, 0), "stop": (2, 3), "step": (1, 1)}, note="no elements"),
        Sample(((0, 3),), {"start": (-1, 2), "stop": (-1, 1), "step": (-1, -1)}),
    ),
)


def _pad_rule(
    x: TensorType, fill: TensorType, *, low: tuple[Any, ...], high: tuple[Any, ...]
) -> TensorType:
    check_same((x, fill), shapes=False)
    if fill.rank:
        raise ShapeError(
            f"the fill is one value, got the shape {extents(fill.shape)}", fix="give a 0-d tensor"
        )
    for name, sizes in (("low", low), ("high", high)):
        if len(sizes) != x.rank:
            raise ShapeError(
                f"{name} has {len(sizes)} entries for the {x.rank} axes of {extents(x.shape)}",
                fix="give one entry for each axis",
            )
        if any(type(size) is int and size < 0 for size in sizes):
            raise ShapeError(
                f"{name} {extents(sizes)} has a negative entry", fix="slice to take away elements"
            )
    padded = tuple(a + d + b for a, d, b in zip(low, x.shape, high, strict=True))
    return like((x, fill), shape=padded)


def _pad(x: Array, fill: Array, *, low: tuple[int, ...], high: tuple[int, ...]) -> Array:
    shape = tuple(a + d + b for a, d, b in zip(low, x.shape, high, strict=True))
    result = np.full(shape, fill, x.dtype)
    result[tuple(slice(a, a + d) for a, d in zip(low, x.shape, strict=True))] = x
    return result


define(
    "pad",
    operands=("x", "fill"),
    rule=_pad_rule,
    reference=_pad,
    doc="The operand with copies of a 0-d fill value before and after the elements of each axis.",
    kind=OpKind.MOVEMENT,
    attrs={
        "low": Attr("ints", doc="how many values to put before each axis"),
        "high": Attr("ints", doc="how many values to put after each axis"),
    },
    dtypes=_ALL,
    samples=(
        Sample(((), ()), {"low": (), "high": ()}),
        Sample(((17,), ()), {"low": (0,), "high": (16,)}),
        Sample(((3, 5), ()), {"low": (1, 0), "high": (2, 3)}),
        Sample(((0, 2), ()), {"low": (1, 1), "high": (1, 0)}),
    ),
    level="math",
)


def _concat_rule(*xs: TensorType, axis: int) -> TensorType:
    if not xs:
        raise ArgumentError("concat needs at least one operand", fix="give it a tensor")
    first = xs[0]
    check_axis(axis, first.rank)
    total: Any = first.shape[axis]
    for other in xs[1:]:
        check_same((first, other), shapes=False)
        if other.rank != first.rank or any(
            n != axis and a != b
            for n, (a, b) in enumerate(zip(first.shape, other.shape, strict=True))
        ):
            raise ShapeError(
                f"the shapes {extents(first.shape)} and {extents(other.shape)} do not join along "
                f"axis {axis}",
                fix="make all other extents equal",
            )
        total = total + other.shape[axis]
    return like(xs, shape=(*first.shape[:axis], total, *first.shape[axis + 1 :]))


def _concat(*xs: Array, axis: int) -> Array:
    return np.concatenate(xs, axis=axis)


define(
    "concat",
    operands=("xs",),
    variadic=True,
    rule=_concat_rule,
    reference=_concat,
    doc="The operands one after the other along an axis; all other extents are equal.",
    kind=OpKind.MOVEMENT,
    attrs={"axis": Attr("int", doc="the axis to join along, counted from the start")},
    dtypes=_ALL,
    samples=(
        Sample(((3,),), {"axis": 0}, note="a single operand"),
        Sample(((17,), (16,)), {"axis": 0}),
        Sample(((2, 3), (2, 1), (2, 33)), {"axis": 1}),
        Sample(((2, 3), (0, 3), (1, 3)), {"axis": 0}, note="an empty operand"),
    ),
)
