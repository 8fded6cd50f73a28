"""Mask stores: elements under a mask are replaced by a select, whose shapes are static."""

from __future__ import annotations

from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    elementwise,
    reshaped,
    scalar_like,
    to_device,
)
from realta.functional.array_index import moved_axes, put_back, sliced_part
from realta.functional.index_plan import IndexPlan, result_shape
from realta.functional.indexing import broadcasts
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import Shape, int64

__all__ = ["count_in", "mask_ranks", "write_counted", "write_masked"]


def count_in(plan: IndexPlan, shape: Shape) -> int | None:
    """How many masked elements a value of that shape is for; None if it fits no number of them."""
    place = len(plan.layout) - plan.place  # axes of the result behind that of the masked elements
    if len(shape) <= place:
        return None
    count = shape[len(shape) - 1 - place]
    fits = isinstance(count, int) and broadcasts(shape, result_shape(plan, (count,)))
    return count if fits and isinstance(count, int) else None


def write_masked(x: Tensor, plan: IndexPlan, mask: Tensor, new: Tensor) -> Tensor:
    """The tensor with elements under a mask replaced by a value that is the same for all of them.

    Args:
        x: tensor.
        plan: of an index with one mask.
        mask: the mask.
        new: broadcasts to what the index reads where one element is masked.
    """
    rows = _placed(plan, broadcast(new, result_shape(plan, (1,))), 1)
    (group,) = plan.groups
    rows = reshaped(rows, _around(plan, (1,) * group.span))
    return _select(x, plan, mask, rows)


def write_counted(x: Tensor, plan: IndexPlan, mask: Tensor, new: Tensor, count: int) -> Tensor:
    """The tensor with elements under a mask replaced, each by its own row of a value.

    Whether as many elements are masked as there are rows is checked when it runs.
    """
    (group,) = plan.groups
    ranks = _checked_ranks(to_device(mask, x._type.device), count, group.original)
    if not count:  # any row will do: no element takes it, or the check raises
        new, count = scalar_like(0, x.dtype, x._type.device), 1
    rows = _placed(plan, broadcast(new, result_shape(plan, (count,))), count)
    inside = elementwise(get_op("minimum"), elementwise(get_op("maximum"), ranks, 0), count - 1)
    spread = apply("gather", rows, inside, axis=group.axis)
    extents = plan.kept[group.axis : group.axis + group.span]
    return _select(x, plan, mask, reshaped(spread, _around(plan, extents)))


def mask_ranks(mask: Tensor) -> tuple[Tensor, Tensor]:
    """For each element of a mask, in one row, how many before it are true; and how many are."""
    row = cast_to(reshaped(mask, (mask.size,)), int64)
    ranks = apply("cumsum", row, axis=0, exclusive=True, reverse=False)
    return ranks, apply("sum", row, axes=(0,))


def _checked_ranks(mask: Tensor, count: int, axis: int) -> Tensor:
    ranks, total = mask_ranks(mask)
    last = elementwise(get_op("sub"), total, 1) if count else total
    left = elementwise(get_op("sub"), count, total)
    # The last row that is taken must be there, and no row may be left; it is then 0, never -1.
    for index, extent in ((last, max(count, 1)), (left, 1)):
        status = apply("check_bounds", index, extent=extent, axis=axis)
        ranks = apply("guard", ranks, status)
    return ranks


def _placed(plan: IndexPlan, new: Tensor, count: int) -> Tensor:
    """A value without new axes, its rows in the place of the axes that the mask indexes."""
    others = [plan.kept[axis] for axis in plan.others]
    before = plan.before
    rows = reshaped(new, (*others[:before], count, *others[before:]))
    return moved_axes(rows, before, 1, plan.groups[0].axis)


def _around(plan: IndexPlan, extents: Shape) -> Shape:
    """The extents of the slice with others in the place of the axes that the mask indexes."""
    (group,) = plan.groups
    return (*plan.kept[: group.axis], *extents, *plan.kept[group.axis + group.span :])


def _select(x: Tensor, plan: IndexPlan, mask: Tensor, rows: Tensor) -> Tensor:
    (group,) = plan.groups
    part = sliced_part(x, plan)
    lifted = to_device(mask, x._type.device)
    behind = [1] * (part.rank - group.axis - group.span)
    wide = broadcast(reshaped(lifted, (*mask._type.shape, *behind)), part._type.shape)
    return put_back(x, apply("select", wide, broadcast(rows, part._type.shape), part), plan)
