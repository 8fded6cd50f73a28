"""Choosing: integer arrays and masks in an index, read and written."""

from __future__ import annotations

from typing import Any, Final

from realta.context import current, custom_default
from realta.errors import ShapeError
from realta.functional.arguments import as_tensor
from realta.functional.array_index import read_arrays, write_arrays
from realta.functional.demanding import demanded
from realta.functional.index_key import IndexKey, index_key
from realta.functional.index_plan import IndexPlan, mask_plan, plan_of, result_shape
from realta.functional.indexing import (
    broadcasts,
    fitting,
    is_number,
    read_basic,
    without_ones,
    write_basic,
)
from realta.functional.mask_store import count_in, write_counted, write_masked
from realta.functional.operation import arithmetic
from realta.functional.storing import store
from realta.graph import Value
from realta.tensor import Tensor
from realta.types import broadcast_shapes

__all__ = ["read_chosen", "store_chosen"]


def read_chosen(x: Tensor, key: Any) -> Tensor:
    """``x[key]`` for a key that is not made of ints, slices, ``...`` and None alone."""
    found = index_key(key, x._type.shape)
    if not found.arrays:
        return read_basic(x, tuple(found.items))
    _look_at_masks(found)
    plan, indices = plan_of(found, x._type.shape, x._type.device, writing=False)
    return _arrays(x, plan, *indices)


_arrays = arithmetic(read_arrays, name="getitem")


def _look_at_masks(key: IndexKey) -> None:
    for item in key.arrays:
        if item.is_mask and isinstance(item.data, Tensor):
            item.data = demanded("an index with a mask", item.data, _STATIC)


_STATIC: Final = (
    "use F.nonzero(mask, size=..., fill_value=...) and index with that, or F.where(mask, x, y)"
)


def store_chosen(x: Tensor, key: Any, value: Any) -> None:
    """``x[key] = value`` for such a key."""
    found = index_key(key, x._type.shape)
    if not found.arrays and sum(isinstance(i, Tensor) for i in found.items) < 2:
        return store(x, write_basic, tuple(found.items), value)
    if not is_number(value) and not isinstance(value, Tensor):
        value = as_tensor(value) if isinstance(value, Value) else _tensor_of(value, x)
    if _store_masked(x, found, value):
        return None
    _look_at_masks(found)
    plan, indices = plan_of(found, x._type.shape, x._type.device, writing=True)
    return store(x, _arrays_replaced, plan, value, *indices)


def _tensor_of(value: Any, x: Tensor) -> Tensor:
    return Tensor(value, device=x._type.device)


def _store_masked(x: Tensor, key: IndexKey, value: Any) -> bool:
    """Stores by a select if the index has one mask beside ints and slices, and the value fits."""
    alone = len(key.arrays) == 1 and not any(isinstance(item, Tensor) for item in key.items)
    if not alone or not key.arrays[0].is_mask:
        return False
    mask = key.arrays[0].data
    plan = mask_plan(key, x._type.shape)
    shape = () if is_number(value) else without_ones(value._type.shape)
    if broadcasts(shape, result_shape(plan, (1,))):
        store(x, _masked, plan, mask if isinstance(mask, Tensor) else _tensor_of(mask, x), value)
        return True
    count = count_in(plan, shape)
    if count is None:
        raise ShapeError(
            f"a value of shape {shape} fits no number of masked elements of {x.type}",
            fix="give one value for all of them, or one for each",
        )
    if not isinstance(mask, Tensor) or (current.get() is None and not custom_default()):
        return False  # their places are known, or can be
    store(x, _counted, plan, mask, value, count)
    return True


def _masked(x: Tensor, plan: IndexPlan, mask: Tensor, value: Any) -> Tensor:
    return write_masked(x, plan, mask, fitting(x, value, result_shape(plan, (1,))))


def _counted(x: Tensor, plan: IndexPlan, mask: Tensor, value: Any, count: int) -> Tensor:
    return write_counted(x, plan, mask, fitting(x, value, result_shape(plan, (count,))), count)


def _arrays_replaced(x: Tensor, plan: IndexPlan, value: Any, *indices: Tensor) -> Tensor:
    chosen = broadcast_shapes(*[i._type.shape for i in indices])
    return write_arrays(x, plan, fitting(x, value, result_shape(plan, chosen)), *indices)
