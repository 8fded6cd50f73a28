"""Indexing: NumPy's basic indexing for reading and writing, gather, scatter, take and their relatives."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from realta.context import caller_location, current
from realta.errors import ArgumentError, IndexBoundsError, ShapeError, UnsupportedOp
from realta.functional.arguments import (
    apply,
    as_tensor,
    cast_to,
    constant_of,
    elementwise,
    one_device,
    same_version,
    scalar_like,
    to_device,
)
from realta.functional.operation import movement, operation
from realta.functional.replay import RunTimeIndex
from realta.functional.storing import store
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import Shape, broadcast_shapes, normalize_axis, tensor_type
from realta.types import int64 as wide_int

__all__ = [
    "BasicIndex", "buffer_store", "buffer_store_slice", "gather", "getitem", "scatter",
    "scatter_add", "scatter_max", "scatter_min", "scatter_mul", "setitem", "slice_tensor", "take",
    "take_along_axis",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class BasicIndex:
    """A basic index worked out against a shape.

    Attributes:
        start: first element along each axis.
        stop: end along each axis, -1 where a negative step runs past the first element.
        step: distance along each axis, never 0.
        shape: the result's shape, integers dropped and new axes inserted.
    """

    start: tuple[int, ...]
    stop: tuple[int, ...]
    step: tuple[int, ...]
    shape: Shape

    @property
    def sliced(self) -> tuple[int, ...]:
        """Extents of the slice before axes are dropped or inserted."""
        parts = zip(self.start, self.stop, self.step, strict=True)
        return tuple([len(range(*p)) for p in parts])


def basic_index(key: Any, shape: tuple[int, ...]) -> BasicIndex:
    """Works out ints, slices, ``...`` and None against a shape.

    Raises:
        IndexBoundsError: an int outside its axis, or more indices than axes.
        ArgumentError: a slice step of 0, or a float index.
        UnsupportedOp: boolean masks and integer arrays, which come in a later version.
    """
    items = list(key) if isinstance(key, tuple) else [key]
    used = sum(1 for i in items if i is not None and i is not Ellipsis)
    if used > len(shape):
        raise IndexBoundsError(
            f"{used} indices for {len(shape)} axes", where=str(caller_location()),
            fix="give at most one index for each axis",
        )  # fmt: skip
    if sum(1 for i in items if i is Ellipsis) > 1:
        raise ArgumentError("an index has more than one '...'", fix="keep one")
    if not any(i is Ellipsis for i in items):
        items.append(Ellipsis)
    starts: list[int] = []
    stops: list[int] = []
    steps: list[int] = []
    result: list[int] = []
    for item in items:
        axis = len(starts)
        if item is None:
            result.append(1)
        elif item is Ellipsis:
            for extent in shape[axis : len(shape) - (used - _count_before(items, item))]:
                starts.append(0)
                stops.append(extent)
                steps.append(1)
                result.append(extent)
        elif isinstance(item, slice):
            start, stop, step = _slice_of(item, shape[axis])
            starts.append(start)
            stops.append(stop)
            steps.append(step)
            result.append(len(range(start, stop, step)))
        else:
            number = _integer(item, axis, shape[axis])
            starts.append(number)
            stops.append(number + 1)
            steps.append(1)
    return BasicIndex(tuple(starts), tuple(stops), tuple(steps), tuple(result))


def _count_before(items: Sequence[Any], mark: Any) -> int:
    count = 0
    for item in items:
        if item is mark:
            break
        count += item is not None
    return count


def _slice_of(item: slice, extent: int) -> tuple[int, int, int]:
    if item.step is not None and operator.index(item.step) == 0:
        raise ArgumentError("a slice step is 0", fix="use a positive or a negative step")
    start, stop, step = item.indices(extent)
    count = len(range(start, stop, step))
    if not count:
        return (0, 0, 1)
    last = start + (count - 1) * step
    return (start, last + 1 if step > 0 else last - 1, step)


def _integer(item: Any, axis: int, extent: int) -> int:
    if isinstance(item, (list, np.ndarray, bool, np.bool_)) or (
        isinstance(item, Tensor) and (item.rank or not item.dtype.is_integer)
    ):
        raise UnsupportedOp(
            f"an index of {type(item).__name__} along axis {axis} is not basic indexing",
            where=str(caller_location()),
            fix="use F.gather or F.take for integer arrays, F.where for masks",
        )
    if not hasattr(item, "__index__"):
        raise ArgumentError(
            f"an index is an int, a slice, None or ..., got {type(item).__name__}",
            where=str(caller_location()),
            fix="convert it with int()",
        )
    number = operator.index(item)
    if not -extent <= number < extent:
        raise IndexBoundsError(
            f"index {number} is out of bounds for axis {axis} of extent {extent}",
            where=str(caller_location()),
            fix=f"use {-extent} to {extent - 1}" if extent else "the axis is empty",
        )
    return number + extent if number < 0 else number


def getitem(x: Tensor, key: Any) -> Tensor:
    """``x[key]`` for basic indexing."""
    if type(key) is int and x._type.is_static and current.get() is None and x._settle():
        shape = x._type.static_shape
        if not shape:
            basic_index(key, shape)
        # The position is a parameter, so that walking over rows meets one program.
        return _row(x, RunTimeIndex(_integer(key, 0, shape[0])))
    return _sliced(x, key)


@operation
def _row(x: Tensor, position: RunTimeIndex) -> Tensor:
    return apply("gather", x, scalar_like(position, wide_int, x._type.device), axis=0)  # type: ignore[no-any-return]


@movement
def _sliced(x: Tensor, key: Any) -> Tensor:
    tensor = as_tensor(x)
    found = basic_index(key, tensor._type.static_shape)
    shape = tensor._type.static_shape
    whole = found.sliced == shape and all(s == 1 for s in found.step)
    part = tensor if whole else apply(
        "slice", tensor, start=found.start, stop=found.stop, step=found.step
    )  # fmt: skip
    if part._type.shape != found.shape:
        return apply("reshape", part, shape=found.shape)  # type: ignore[no-any-return]
    return same_version(tensor) if part is tensor else part


def slice_tensor(x: Any, indices: Any) -> Tensor:
    """The same as ``x[indices]``."""
    return getitem(x, tuple(indices) if isinstance(indices, list) else indices)


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value``: moves the handle ``x`` to a new version; nobody else sees a change.

    Raises:
        ShapeError: the value does not broadcast to the slice; ``x`` stays as it was.
        IndexBoundsError: an index is out of range.
    """
    if isinstance(key, Tensor) and key.dtype.name == "bool":
        store(x, _masked, key, value)
        return
    if type(key) is int and x._type.is_static and x.rank and current.get() is None:
        position = RunTimeIndex(_integer(key, 0, x._type.static_shape[0]))
        store(x, _row_replaced, position, value)
        return
    store(x, _updated, _hashable(key), value)


def _row_replaced(x: Tensor, position: RunTimeIndex, value: Any) -> Tensor:
    """The tensor with one row replaced; the position is a parameter of the program."""
    new = _fitting(x, value, x._type.shape[1:])
    index = scalar_like(position, wide_int, x._type.device)
    return apply("scatter", x, index, new, axis=0, reduce="set", mode="clip")  # type: ignore[no-any-return]


def _hashable(key: Any) -> Any:
    return tuple(key) if isinstance(key, list) and not all(isinstance(k, int) for k in key) else key


def _updated(x: Tensor, key: Any, value: Any) -> Tensor:
    """The tensor with a slice replaced."""
    shape = x._type.static_shape
    found = basic_index(key, shape)
    new = _fitting(x, value, found.shape)
    if new._type.shape != found.sliced:
        new = apply("reshape", new, shape=found.sliced)
    return apply("update_slice", x, new, start=found.start, stop=found.stop, step=found.step)  # type: ignore[no-any-return]


def _fitting(x: Tensor, value: Any, shape: Shape) -> Tensor:
    """What is stored, broadcast to the shape it replaces."""
    new = _as_value(value, x)
    try:
        fits = broadcast_shapes(new._type.shape, shape) == shape
    except ShapeError:
        fits = False
    if not fits:
        raise ShapeError(
            f"a value of shape {new.shape} does not fit a slice of shape {shape}",
            where=f"store into {x.type} at {caller_location()}",
            fix="make the value broadcast to the slice",
        )
    return new if new._type.shape == shape else apply("broadcast", new, shape=shape)


def _masked(x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """The tensor with the elements under a mask replaced: a select, static everywhere."""
    if mask.shape != x.shape[: mask.rank]:
        raise ShapeError(
            f"a mask of shape {mask.shape} does not fit {x.type}", fix="give a mask of that shape"
        )
    new = _as_value(value, x)
    wide = apply("reshape", mask, shape=(*mask._type.shape, *[1] * (x.rank - mask.rank)))
    parts = [
        t if t._type.shape == x._type.shape else apply("broadcast", t, shape=x._type.shape)
        for t in (wide, new)
    ]
    return apply("select", parts[0], parts[1], x)  # type: ignore[no-any-return]


def _as_value(value: Any, x: Tensor) -> Tensor:
    """What is stored: a number in the tensor's dtype, or a tensor cast to it."""
    if isinstance(value, (bool, int, float)) and not isinstance(value, np.generic):
        return _scalar(value, x)
    tensor = value if isinstance(value, Tensor) else Tensor(value, device=x._type.device)
    return cast_to(to_device(tensor, x._type.device), x.dtype)


def _scalar(value: Any, x: Tensor) -> Tensor:
    from_array = np.asarray(value).astype(x.dtype.numpy)
    return constant_of(from_array, tensor_type(x.dtype, (), x._type.device))


def buffer_store(destination: Tensor, source: Any) -> None:
    """Moves ``destination`` to the values of ``source`` (same shape after broadcasting)."""
    setitem(destination, Ellipsis, source)


def buffer_store_slice(destination: Tensor, source: Any, indices: Any) -> None:
    """``destination[indices] = source``."""
    setitem(destination, tuple(indices) if isinstance(indices, list) else indices, source)


def _check_static(indices: Any, extent: int, axis: int) -> None:
    """Known indices out of range raise at the call."""
    array = np.asarray(indices)
    if array.dtype.kind not in "iu" and array.size:
        raise ArgumentError(
            f"indices are integers, not {array.dtype}", fix="cast them to an integer dtype"
        )
    wrong = array[(array < -extent) | (array >= extent)]
    if wrong.size:
        raise IndexBoundsError(
            f"index {int(wrong.flat[0])} is out of bounds for axis {axis} of extent {extent}",
            where=str(caller_location()),
            fix=f"use {-extent} to {extent - 1}" if extent else "the axis is empty",
        )


def _index_tensor(name: str, indices: Any, x: Tensor, axis: int, mode: str) -> Tensor:
    """Indices as an int64 tensor, checked now if they are known and by the device if they are not."""
    extent = x._type.shape[axis]
    if not isinstance(indices, Tensor):
        if mode == "error":
            _check_static(indices, int(extent), axis)
        array = np.asarray(indices, np.int64)
        known = constant_of(array, tensor_type(wide_int, array.shape, x._type.device))
        return _adjust(known, int(extent), mode)
    if not indices.dtype.is_integer:
        raise ArgumentError(
            f"{name} takes integer indices, not {indices.dtype}", fix="cast them to int64"
        )
    tensor = cast_to(to_device(indices, x._type.device), wide_int)
    if mode == "error":
        status = apply("check_bounds", tensor, extent=int(extent), axis=axis)
        return apply("guard", tensor, status)  # type: ignore[no-any-return]
    return _adjust(tensor, int(extent), mode)


def _adjust(tensor: Tensor, extent: int, mode: str) -> Tensor:
    if mode == "wrap" and extent:
        return elementwise(get_op("mod"), tensor, extent)  # type: ignore[no-any-return]
    if mode not in ("error", "clip", "wrap", "drop"):
        raise ArgumentError(
            f"there is no index mode {mode!r}", fix='use "error", "clip", "wrap" or "drop"'
        )
    return tensor


@operation
def gather(input: Any, indices: Any, axis: int = 0, *, mode: str = "error") -> Tensor:
    """The slices along an axis that an index tensor names.

    Args:
        input: tensor of shape (before, extent, after).
        indices: integer tensor, list or array of any shape; negative ones count from the end.
        axis: axis.
        mode: ``"error"``, ``"clip"`` or ``"wrap"`` for indices out of range.

    Returns:
        A tensor of shape (before, shape of the indices, after).

    Raises:
        IndexBoundsError: at the call for known indices, else at the next wait.
    """
    (tensor,) = one_device("gather", input)
    number = normalize_axis(axis, tensor.rank)
    index = _index_tensor("gather", indices, tensor, number, mode)
    return apply("gather", tensor, index, axis=number)  # type: ignore[no-any-return]


@operation
def take(x: Any, indices: Any, axis: int | None = None, *, mode: str = "error") -> Tensor:
    """`gather` by NumPy's name; of the flattened tensor if the axis is None."""
    (tensor,) = one_device("take", x)
    if axis is None:
        if tensor.rank != 1:
            tensor = apply("reshape", tensor, shape=(tensor.size,))
        axis = 0
    return gather(tensor, indices, axis, mode=mode)


def _flat_positions(x: Tensor, index: Tensor, axis: int) -> Tensor:
    """Row-major positions of ``x[..., index, ...]`` where the other axes go along."""
    shape = index._type.static_shape
    source = x._type.static_shape
    total: Tensor | None = None
    stride = 1
    for n in reversed(range(len(source))):
        if n == axis:
            part = index
        else:
            part = apply("iota", shape=shape, axis=n, dtype=wide_int, device=x._type.device)
        if stride != 1:
            part = elementwise(get_op("mul"), part, stride)
        total = part if total is None else apply("add", total, part)
        stride *= source[n]
    if total is None:
        raise ShapeError("a 0-d tensor has no axis to index", fix="unsqueeze it first")
    return total


def _along(name: str, x: Any, indices: Any, axis: int, mode: str) -> tuple[Tensor, Tensor]:
    """The tensor and the row-major positions that indices along an axis name."""
    (tensor,) = one_device(name, x)
    number = normalize_axis(axis, tensor.rank)
    index = _index_tensor(name, indices, tensor, number, mode)
    wrong = index.rank != tensor.rank or any(
        a > b for n, (a, b) in enumerate(zip(index.shape, tensor.shape, strict=True)) if n != number
    )
    if wrong:
        raise ShapeError(
            f"indices of shape {index.shape} do not go along axis {number} of {tensor.type}",
            fix="give indices of the same rank, no longer than the tensor along its other axes",
        )
    extent = tensor._type.static_shape[number]
    negative = elementwise(get_op("less"), index, 0)
    shifted = elementwise(get_op("add"), index, extent)
    index = apply("select", negative, shifted, index)
    return tensor, _flat_positions(tensor, index, number)


@operation
def take_along_axis(x: Any, indices: Any, axis: int = -1, *, mode: str = "error") -> Tensor:
    """Elements along an axis by an index tensor that has an index for each element of the result."""
    tensor, positions = _along("take_along_axis", x, indices, axis, mode)
    flat = apply("reshape", tensor, shape=(tensor.size,))
    return apply("gather", flat, positions, axis=0)  # type: ignore[no-any-return]


def _scatter(
    name: str, reduce: str, x: Any, updates: Any, indices: Any, axis: int, mode: str
) -> Tensor:
    tensor, positions = _along(name, x, indices, axis, mode)
    new = _as_value(updates, tensor)
    if new._type.shape != positions._type.shape:
        new = apply("broadcast", new, shape=positions._type.shape)
    flat = apply("reshape", tensor, shape=(tensor.size,))
    count = positions.size
    spread = apply(
        "scatter", flat, apply("reshape", positions, shape=(count,)),
        apply("reshape", new, shape=(count,)), axis=0, reduce=reduce,
        mode="drop" if mode == "drop" else "clip",
    )  # fmt: skip
    return apply("reshape", spread, shape=tensor._type.shape)  # type: ignore[no-any-return]


@operation
def scatter(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """A copy of ``input`` with ``updates`` put where ``indices`` say along an axis; the last of doubles wins.

    Args:
        input: tensor.
        updates: tensor of the shape of ``indices``, or a number.
        indices: integer tensor of the rank of ``input``.
        axis: axis.
        mode: ``"error"``, ``"clip"``, ``"wrap"`` or ``"drop"`` for indices out of range.
    """
    return _scatter("scatter", "set", input, updates, indices, axis, mode)


@operation
def scatter_add(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """Like `scatter`, adding every update in row-major order."""
    return _scatter("scatter_add", "add", input, updates, indices, axis, mode)


@operation
def scatter_mul(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """Like `scatter`, multiplying by every update in row-major order."""
    return _scatter("scatter_mul", "mul", input, updates, indices, axis, mode)


@operation
def scatter_max(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """Like `scatter`, keeping the larger value."""
    return _scatter("scatter_max", "max", input, updates, indices, axis, mode)


@operation
def scatter_min(
    input: Any, updates: Any, indices: Any, axis: int = -1, *, mode: str = "error"
) -> Tensor:
    """Like `scatter`, keeping the smaller value."""
    return _scatter("scatter_min", "min", input, updates, indices, axis, mode)
