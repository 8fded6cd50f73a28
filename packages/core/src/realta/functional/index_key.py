"""IndexKey: the items of an index expression, told apart by NumPy's rules.

A mask and an array are kept as they are: what a mask selects is worked out by whoever may know its
values.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from realta.context import caller_location
from realta.errors import ArgumentError, IndexBoundsError, ShapeError
from realta.functional.arguments import as_tensor, same_shape
from realta.functional.basic_index import BASIC
from realta.graph import Value
from realta.tensor import Tensor
from realta.types import Shape

__all__ = ["ArrayItem", "IndexKey", "index_key"]

Array = NDArray[Any]


class ArrayItem:
    """An integer array or a mask in an index.

    Attributes:
        data: integers or bools, known (an array) or not (a tensor).
        is_mask: whether they are bools.
        axis: first axis of the tensor that it indexes.
        span: how many axes it indexes: one for integers, one for each axis of a mask.
    """

    __slots__ = ("axis", "data", "is_mask", "span")

    def __init__(self, data: Array | Tensor, is_mask: bool) -> None:
        self.data = data
        self.is_mask = is_mask
        self.axis = 0
        self.span = data.ndim if is_mask else 1


class IndexKey:
    """An index expression for tensors of one shape, with the ellipsis written out.

    Attributes:
        items: ints, slices, None, 0-d integer tensors and `ArrayItem`s, in order.
        arrays: the `ArrayItem`s among them.
        front: whether the axes of the arrays come first in the result, since a slice, None or an
            ellipsis stands between them.
    """

    __slots__ = ("arrays", "front", "items")

    def __init__(self, items: list[Any], arrays: list[ArrayItem], front: bool) -> None:
        self.items = items
        self.arrays = arrays
        self.front = front

    @property
    def basic(self) -> tuple[Any, ...]:
        """The items with every axis of an array taken whole."""
        found: list[Any] = []
        for item in self.items:
            if type(item) is ArrayItem:
                found += [slice(None)] * item.span
            else:
                found.append(item)
        return tuple(found)


def index_key(key: Any, shape: Shape) -> IndexKey:
    """Tells the items of an index apart and finds the axis of each.

    Raises:
        IndexBoundsError: more indices than axes.
        ShapeError: a mask of another shape than the axes it indexes.
        ArgumentError: two ellipses, or an item that is no index.
    """
    items = [_item(i) for i in (key if isinstance(key, tuple) else (key,))]
    arrays = [i for i in items if type(i) is ArrayItem]
    front = bool(arrays) and _separated(items)
    axis = 0
    found = _written_out(items, shape)
    for item in found:
        if type(item) is ArrayItem:
            item.axis = axis
            if item.is_mask:
                _check_mask(item, shape)
            axis += item.span
        elif item is not None:
            axis += 1
    return IndexKey(found, arrays, front)


def _item(item: Any) -> Any:
    """One item: an int, a slice, None, ``...``, a 0-d integer tensor, or an `ArrayItem`."""
    if type(item) in BASIC:
        return item
    if isinstance(item, (Tensor, Value)):
        tensor = as_tensor(item)
        if tensor.dtype.kind == "bool":
            return ArrayItem(tensor, True)
        if not tensor.dtype.is_integer:
            raise _no_index(f"a tensor of {tensor.dtype}")
        return ArrayItem(tensor, False) if tensor.rank else tensor
    if isinstance(item, (bool, np.bool_)):
        return ArrayItem(np.asarray(item), True)
    if isinstance(item, slice):
        return item
    if isinstance(item, (np.ndarray, list, tuple, range)):
        return _array(item)
    if not hasattr(item, "__index__"):
        raise _no_index(type(item).__name__)
    return operator.index(item)


def _array(item: Any) -> Any:
    if not isinstance(item, np.ndarray) and _holds_tensors(item):
        raise ArgumentError(
            "an index is a list with tensors in it",
            where=str(caller_location()),
            fix="put them together with F.stack, or index with one tensor for each axis",
        )
    try:
        array = np.asarray(item)
    except ValueError:
        raise _no_index("a ragged list") from None
    if not array.size and not isinstance(item, np.ndarray):
        array = array.astype(np.int64)
    if array.dtype == bool:
        return ArrayItem(array, True)
    if array.dtype.kind not in "iu":
        if array.dtype.kind == "O" and all(isinstance(v, int) for v in array.flat):
            raise IndexBoundsError(
                "an index is beyond the integers of 64 bits",
                where=str(caller_location()),
                fix="use indices inside the axis",
            )
        raise _no_index(f"an array of {array.dtype}")
    return ArrayItem(array, False) if array.ndim else int(array)


def _holds_tensors(items: Sequence[Any]) -> bool:
    waiting = list(items) if not isinstance(items, range) else []
    while waiting:
        item = waiting.pop()
        if isinstance(item, (Tensor, Value)):
            return True
        if isinstance(item, (list, tuple)):
            waiting += item
    return False


def _no_index(what: str) -> ArgumentError:
    return ArgumentError(
        f"an index is an int, a slice, None, ..., integers or bools, got {what}",
        where=str(caller_location()),
        fix="convert it with int(), or cast it to an integer dtype",
    )


def _is_advanced(item: Any) -> bool:
    """Whether an item joins the arrays of an index: an int beside arrays is one of them."""
    return type(item) in (ArrayItem, int) or isinstance(item, Tensor)


def _separated(items: Sequence[Any]) -> bool:
    """Whether something else stands between two items that join the arrays."""
    places = [n for n, item in enumerate(items) if _is_advanced(item)]
    return places[-1] - places[0] >= len(places)


def _written_out(items: list[Any], shape: Shape) -> list[Any]:
    """The items with whole axes in the place of the ellipsis."""
    used = sum(
        i.span if type(i) is ArrayItem else int(i is not None and i is not Ellipsis) for i in items
    )
    places = [n for n, i in enumerate(items) if i is Ellipsis]
    if used > len(shape):
        raise IndexBoundsError(
            f"too many indices: {used} for a tensor of {len(shape)} axes",
            fix="give at most one index for each axis",
        )
    if len(places) > 1:
        raise ArgumentError("an index has more than one '...'", fix="keep one")
    place = places[0] if places else len(items)
    whole = [slice(None)] * (len(shape) - used)
    return [*items[:place], *whole, *items[place + 1 :]]


def _check_mask(item: ArrayItem, shape: Shape) -> None:
    have, wanted = tuple(item.data.shape), shape[item.axis : item.axis + item.span]
    if not same_shape(have, wanted):
        raise ShapeError(
            f"a mask of shape {have} does not fit the shape {shape} from axis {item.axis} on",
            fix="give a mask of the shape of the axes that it indexes",
        )
