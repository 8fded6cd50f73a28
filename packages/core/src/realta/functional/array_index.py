"""Array indexing: elements that index arrays choose, read and written as a plan says."""

from __future__ import annotations

from functools import partial, reduce
from math import prod
from typing import Any

from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    elementwise,
    reshaped,
    same_shape,
    to_device,
)
from realta.functional.gathering import index_tensor
from realta.functional.index_plan import IndexPlan, result_shape
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import Shape, int64

__all__ = ["moved_axes", "put_back", "read_arrays", "sliced_part", "write_arrays"]


def sliced_part(x: Tensor, plan: IndexPlan) -> Tensor:
    """What the ints and slices of an index leave of a tensor."""
    part = x
    if not same_shape(plan.sliced, x._type.shape) or any(s != 1 for s in plan.step):
        part = apply("slice", x, start=plan.start, stop=plan.stop, step=plan.step)
    return reshaped(part, plan.kept)


def put_back(x: Tensor, part: Tensor, plan: IndexPlan) -> Tensor:
    """The tensor with another part in the place of `sliced_part`."""
    new = reshaped(part, plan.sliced)
    if same_shape(plan.sliced, x._type.shape) and all(s == 1 for s in plan.step):
        return new
    return apply("update_slice", x, new, start=plan.start, stop=plan.stop, step=plan.step)


def read_arrays(x: Tensor, plan: IndexPlan, *indices: Tensor) -> Tensor:
    """The elements that the index tensors choose."""
    part = sliced_part(x, plan)
    index = _joined("getitem", x, plan, indices)
    chosen = index._type.shape
    first = plan.groups[0].axis
    if plan.path == "lines":
        found = apply("gather", reshaped(part, _one_axis(plan, first)), index, axis=first)
        found = moved_axes(found, first, len(chosen), plan.before)
    elif plan.path == "front":
        order = _indexed_first(plan)
        part = reshaped(apply("permute", part, axes=order), _one_axis(plan, 0))
        found = apply("gather", part, index, axis=0)
    else:
        places = _positions(plan, index)
        found = apply("gather", reshaped(part, (prod(plan.kept),)), places, axis=0)
    return reshaped(found, result_shape(plan, chosen))


def write_arrays(x: Tensor, plan: IndexPlan, new: Tensor, *indices: Tensor) -> Tensor:
    """The tensor with the elements that the index tensors choose replaced.

    Args:
        x: tensor.
        plan: made for writing.
        new: what is written, in the dtype of ``x``; it broadcasts to what `read_arrays` gives.
        indices: the plan's index tensors.
    """
    part = sliced_part(x, plan)
    index = _joined("setitem", x, plan, indices)
    chosen = index._type.shape
    before, others = plan.before, [plan.kept[axis] for axis in plan.others]
    lines = broadcast(new, result_shape(plan, chosen))
    lines = reshaped(lines, (*others[:before], *chosen, *others[before:]))
    first = plan.groups[0].axis
    if plan.path == "lines":
        lines = moved_axes(lines, before, len(chosen), first)
        spread = _spread(reshaped(part, _one_axis(plan, first)), index, lines, first)
        return put_back(x, reshaped(spread, plan.kept), plan)
    if plan.path == "front":
        order = _indexed_first(plan)
        turned = apply("permute", part, axes=order)
        spread = _spread(reshaped(turned, _one_axis(plan, 0)), index, lines, 0)
        spread = reshaped(spread, turned._type.shape)
        back = tuple([order.index(axis) for axis in range(len(order))])
        return put_back(x, apply("permute", spread, axes=back), plan)
    places = _positions(plan, index)
    spread = _spread(reshaped(part, (prod(plan.kept),)), places, lines, 0)
    return put_back(x, reshaped(spread, plan.kept), plan)


def _spread(x: Tensor, index: Tensor, lines: Tensor, axis: int) -> Tensor:
    return apply("scatter", x, index, lines, axis=axis, reduce="set", mode="clip")


def _one_axis(plan: IndexPlan, first: int) -> Shape:
    """The extents of the slice with all indexed axes as one in the place ``first``."""
    others = [plan.kept[axis] for axis in plan.others]
    extent = prod([g.extent for g in plan.groups])
    return (*others[:first], extent, *others[first:])


def _indexed_first(plan: IndexPlan) -> tuple[int, ...]:
    indexed = [axis for g in plan.groups for axis in range(g.axis, g.axis + g.span)]
    return (*indexed, *plan.others)


def moved_axes(tensor: Tensor, have: int, count: int, wanted: int) -> Tensor:
    """The tensor with ``count`` axes moved from the place ``have`` to the place ``wanted``."""
    if have == wanted or not count:
        return tensor
    moving = list(range(have, have + count))
    rest = [axis for axis in range(tensor.rank) if axis not in moving]
    return apply("permute", tensor, axes=(*rest[:wanted], *moving, *rest[wanted:]))


def _joined(name: str, x: Tensor, plan: IndexPlan, indices: tuple[Tensor, ...]) -> Tensor:
    """The index tensors as one into all indexed axes; those that are not known are checked."""
    if plan.joined:
        return cast_to(to_device(indices[0], x._type.device), int64)
    found = []
    for group, index in zip(plan.groups, indices, strict=True):
        if group.known:
            found.append(to_device(index, x._type.device))
        else:
            checked = index_tensor(name, index, x, group.original, "error")
            found.append(checked if len(indices) == 1 else _from_start(checked, group.extent))
    if len(found) == 1 and plan.path != "positions":
        return found[0]
    scaled = [
        index if stride == 1 else elementwise(get_op("mul"), index, stride)
        for index, stride in zip(found, plan.strides, strict=True)
    ]
    return reduce(partial(elementwise, get_op("add")), scaled)


def _from_start(index: Tensor, extent: int) -> Tensor:
    """Negative indices counted from the end, once."""
    negative = elementwise(get_op("less"), index, 0)
    return apply("select", negative, elementwise(get_op("add"), index, extent), index)


def _positions(plan: IndexPlan, index: Tensor) -> Tensor:
    """Row-major positions in the slice: axes of the index first, then the other axes."""
    others: list[Any] = [plan.kept[axis] for axis in plan.others]
    shape = (*index._type.static_shape, *others)
    device = index._type.device
    total = broadcast(reshaped(index, (*index._type.shape, *[1] * len(others))), shape)
    for n, axis in enumerate(plan.others, index.rank):
        line = apply("iota", shape=shape, axis=n, dtype=int64, device=device)
        stride = prod(plan.kept[axis + 1 :])
        scaled = line if stride == 1 else elementwise(get_op("mul"), line, stride)
        total = elementwise(get_op("add"), total, scaled)
    return total
