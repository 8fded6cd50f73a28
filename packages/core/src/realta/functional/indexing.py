"""Indexing: NumPy's indexing for reading and writing; a write moves the handle."""

from __future__ import annotations

from importlib import import_module
from typing import Any, Final

import numpy as np

from realta.context import caller_location, current
from realta.errors import RealtaError, ShapeError
from realta.functional.arguments import (
    apply,
    as_tensor,
    broadcast,
    cast_to,
    reshaped,
    same_shape,
    scalar_like,
    to_device,
)
from realta.functional.array_parts import IN_ORDER, ArrayParts, array_parts
from realta.functional.basic_index import BASIC, BasicIndex, basic_index, integer_index
from realta.functional.calls import describe_call
from realta.functional.gathering import index_tensor
from realta.functional.large_parts import item_in_memory
from realta.functional.operation import arithmetic, fast_path_enabled, movement, new_memo
from realta.functional.replay import RunTimeIndex
from realta.functional.storing import store
from realta.runtime import Storage
from realta.runtime.deferred import filled
from realta.runtime.wrappers import execute_wrappers
from realta.tensor import Tensor
from realta.types import Shape, broadcast_shapes, int64, is_weak

__all__ = [
    "broadcasts", "buffer_store", "buffer_store_slice", "fitting", "getitem", "is_number",
    "read_basic", "setitem", "slice_tensor", "without_ones", "write_basic",
]  # fmt: skip

_new: Final = object.__new__
_get_context: Final = current.get
_Array: Final = np.ndarray
_as_array: Final = np.asarray
_ONLY_BASIC: Final = BASIC.issuperset
_parts: Final[dict[Any, ArrayParts | None]] = new_memo()


def getitem(x: Tensor, key: Any) -> Tensor:
    """``x[key]`` as NumPy has it: ints, slices, ``...``, None, integer arrays, masks, mixed.

    A mask that is a tensor is realized, since the shape of the result depends on it.

    Raises:
        IndexBoundsError: a known index is out of range; an unknown one raises at the next wait for
            a tensor's value.
        ShapeError: a mask or arrays that do not fit.
        RealizationError: a mask that is a tensor of a graph.
    """
    kind = key.__class__
    if kind is tuple:
        if len(key) == 2:
            is_basic = key[0].__class__ in BASIC and key[1].__class__ in BASIC
        else:
            is_basic = _ONLY_BASIC(map(type, key))
    else:
        is_basic = kind in BASIC
    if is_basic:
        type_ = x._type
        parts = _parts.get(type_)
        if parts is None:
            parts = _learn_parts(type_)
        held = x._held
        if parts is None or held is None or _get_context() is not None or execute_wrappers:
            return _read(x, key)
        if held.__class__ is Storage and held.block is None:
            held = held.handle if held.launch is None else filled(held)
        if held.__class__ is not _Array or held.shape != parts.shape or not parts.is_small:
            item = item_in_memory(x, key, parts)
            return _read(x, key) if item is None else item
        try:
            part = held[key]
        except (IndexError, TypeError, ValueError):
            return _read(x, key)  # which says what is wrong
        if part.__class__ is _Array:
            found = parts.types.get(part.shape) or parts.type_of(part.shape)
            if not part.flags.c_contiguous:
                # `deferred_tensor` written out: the call would cost a tenth of the whole.
                held = _new(Storage)
                held.device, held.handle, held.type = parts.device, part, found
                held.launch, held.block, held.array = IN_ORDER, None, None
                part = held
        else:
            part, found = _as_array(part), parts.element
        result = _new(Tensor)
        result._held, result._type = part, found
        result._value = result._context = None
        return result
    try:
        chosen: Tensor = _choosing().read_chosen(x, key)
    except RealtaError as error:
        error.at(describe_call("getitem", (x, key), {}))
        raise
    return chosen


def _choosing() -> Any:
    """Integer arrays and masks: loaded when an index has one."""
    return import_module("realta.functional.choosing")


def _read(x: Tensor, key: Any) -> Tensor:
    """``x[key]`` by a basic index in any context and on any device."""
    if type(key) is int and current.get() is None and x._settle() and x._type.shape:
        # The position is a parameter, so that walking over rows meets one program.
        return _row(x, RunTimeIndex(integer_index(key, 0, x._type.static_shape[0])))
    return read_basic(x, key)


def _row_of(x: Tensor, position: RunTimeIndex) -> Tensor:
    index = scalar_like(position, int64, x._type.device)
    return apply("gather", x, index, axis=0)


_row = arithmetic(_row_of, name="getitem")


def _learn_parts(type_: Any) -> ArrayParts | None:
    if type_ in _parts or not fast_path_enabled():
        return None
    found = _parts[type_] = array_parts(type_)
    return found


def _part_of(x: Tensor, key: Any) -> Tensor:
    tensor = as_tensor(x)
    found = basic_index(key, tensor._type.shape)
    part = _sliced(tensor, found)
    for axis, position in reversed(found.positions):
        index = index_tensor("getitem", position, tensor, axis, "error")
        part = apply("gather", part, index, axis=axis)
    if part is not tensor and same_shape(part._type.shape, found.shape):
        return part
    return reshaped(part, found.shape)


def _sliced(tensor: Tensor, found: BasicIndex) -> Tensor:
    if found.is_whole(tensor._type.shape):
        return tensor
    return apply("slice", tensor, start=found.start, stop=found.stop, step=found.step)


read_basic = movement(_part_of, name="getitem")


def slice_tensor(x: Any, indices: Any) -> Tensor:
    """The same as ``x[indices]``, indices in a list or a tuple."""
    tensor = x if isinstance(x, Tensor) else as_tensor(x)
    return getitem(tensor, tuple(indices) if isinstance(indices, list) else indices)


def setitem(x: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value``: moves the handle ``x`` to a new version; nobody else sees a change.

    Of several values for one element the last in row-major order stays. Under one mask beside
    ints and slices it is a select, whose shapes are static; for a value that has a row for each
    masked element, their number is checked: at the call without a context, else when it runs.

    Raises:
        ShapeError: the value does not broadcast to the slice; ``x`` stays as it was.
        IndexBoundsError: an index is out of range.
        RealizationError: masks of a graph, two of them or beside integer arrays.
    """
    kind = type(key)
    if kind is int and x._type.is_static and x.rank and current.get() is None:
        position = RunTimeIndex(integer_index(key, 0, x._type.static_shape[0]))
        store(x, _row_replaced, position, value)
    elif kind in BASIC or (kind is tuple and BASIC.issuperset(map(type, key))):
        store(x, write_basic, key, value, instead=_store_window)
    else:
        try:
            _choosing().store_chosen(x, key, value)
        except RealtaError as error:
            error.at(f"store into {x.type} at {caller_location()}")
            raise


def _row_replaced(x: Tensor, position: RunTimeIndex, value: Any) -> Tensor:
    """The tensor with one row replaced; the position is a parameter of the program."""
    new = fitting(x, value, x._type.shape[1:])
    index = scalar_like(position, int64, x._type.device)
    return apply("scatter", x, index, new, axis=0, reduce="set", mode="clip")


def _store_window(x: Tensor, key: Any, value: Any) -> bool:
    """Stores into a part whose beginning is a parameter, so that every place meets one program.

    The first places of a part of the same extents have programs of their own, which are faster.

    Returns:
        Whether it did: not on a device that does not take such stores whole, not for all of a
        tensor, nor for a part with steps.
    """
    takes = x._storage.device.capabilities.composites.get("dynamic_update_slice", ())
    if not x._type.is_static or x.dtype not in takes:  # in simpler ops it would not be in place
        return False
    whole = x._type.static_shape
    try:
        found = basic_index(key, whole)
    except RealtaError:  # the ordinary way says so too, and with the place
        return False
    plain = all(step == 1 for step in found.step) and 0 not in found.sliced
    if not plain or found.positions or found.sliced == whole:
        return False
    if len(_places) >= _MOST_PARTS:
        _places.clear()
    places = _places.setdefault((x._type, found.sliced), set())
    if len(places) < _OWN_PROGRAMS:
        places.add(found.start)
        return False
    sides = zip(found.start, found.sliced, whole, strict=True)
    starts = [0 if part == extent else RunTimeIndex(first) for first, part, extent in sides]
    store(x, _window_replaced, found.sliced, found.shape, value, *starts)
    return True


_OWN_PROGRAMS: Final = 2
_MOST_PARTS: Final = 1024
_places: Final = new_memo()
"""By type and extents of a part, the places that have programs of their own."""


def _window_replaced(x: Tensor, sliced: Shape, shape: Shape, value: Any, *starts: int) -> Tensor:
    new = reshaped(fitting(x, value, shape), sliced)
    places = [scalar_like(start, int64, x._type.device) for start in starts]
    return apply("dynamic_update_slice", x, new, *places)


def write_basic(x: Tensor, key: Any, value: Any) -> Tensor:
    """The tensor with a slice replaced."""
    found = basic_index(key, x._type.shape)
    new = fitting(x, value, found.shape)
    if found.positions:
        axis, position = found.positions[0]
        index = index_tensor("setitem", position, x, axis, "error")
        rows = reshaped(new, [d for n, d in enumerate(found.sliced) if n != axis])
        part = _sliced(x, found)
        new = apply("scatter", part, index, rows, axis=axis, reduce="set", mode="clip")
        if part is x:
            return new
    new = reshaped(new, found.sliced)
    return apply("update_slice", x, new, start=found.start, stop=found.stop, step=found.step)


def fitting(x: Tensor, value: Any, shape: Shape) -> Tensor:
    """What is stored, broadcast to the shape it replaces; leading extents of 1 are dropped."""
    new = as_stored(value, x)
    given = without_ones(new._type.shape)
    if not broadcasts(given, shape):
        raise ShapeError(
            f"a value of shape {new.shape} does not fit a slice of shape {shape}",
            where=f"store into {x.type} at {caller_location()}",
            fix="make the value broadcast to the slice",
        )
    if len(given) < new.rank and new.rank > len(shape):
        new = reshaped(new, given)
    return broadcast(new, shape)


def broadcasts(shape: Shape, wanted: Shape) -> bool:
    """Whether a shape stretches to another one."""
    try:
        return same_shape(broadcast_shapes(shape, wanted), wanted)
    except ShapeError:
        return False


def without_ones(shape: Shape) -> Shape:
    """A shape without the extents of 1 at its start."""
    first = next((n for n, d in enumerate(shape) if not isinstance(d, int) or d != 1), len(shape))
    return shape[first:]


def is_number(value: Any) -> bool:
    """Whether a value to store is a Python number, which takes the dtype of the tensor."""
    return is_weak(value) and not isinstance(value, np.generic)


def as_stored(value: Any, x: Tensor) -> Tensor:
    """What is stored: a number in the tensor's dtype, or a tensor cast to it.

    Raises:
        DTypeError: a Python number that the dtype cannot hold.
    """
    if is_number(value):
        return scalar_like(value, x.dtype, x._type.device)
    tensor = value if isinstance(value, Tensor) else Tensor(value, device=x._type.device)
    return cast_to(to_device(tensor, x._type.device), x.dtype)


def buffer_store(destination: Tensor, source: Any) -> None:
    """Moves ``destination`` to the values of ``source`` (same shape after broadcasting)."""
    setitem(destination, Ellipsis, source)


def buffer_store_slice(destination: Tensor, source: Any, indices: Any) -> None:
    """``destination[indices] = source``."""
    setitem(destination, tuple(indices) if isinstance(indices, list) else indices, source)
