"""Movement: functions that rearrange elements without computing, and moves between devices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from realta.context import caller_location
from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    one_device,
    reshaped,
    same_shape,
    same_version,
)
from realta.functional.operation import movement, operation
from realta.plugins import device_of
from realta.tensor import Tensor
from realta.types import (
    as_dim,
    broadcast_shapes,
    normalize_axes,
    normalize_axis,
    normalize_axis_order,
    resolve_reshape,
)

__all__ = [
    "barrier", "broadcast_to", "flatten", "flip", "matrix_transpose", "moveaxis", "permute",
    "reshape", "squeeze", "to", "transpose", "unsqueeze",
]  # fmt: skip

Axes = int | Sequence[int]


def _permuted(tensor: Tensor, order: tuple[int, ...]) -> Tensor:
    if order == tuple(range(tensor.rank)):
        return same_version(tensor)
    return apply("permute", tensor, axes=order)


@movement
def reshape(x: Any, shape: int | Sequence[Any]) -> Tensor:
    """The elements in row-major order under another shape.

    Args:
        x: tensor.
        shape: extents; one may be -1 and is worked out.

    Raises:
        ShapeError: the number of elements differs.
    """
    (tensor,) = one_device("reshape", x)
    wanted = (shape,) if isinstance(shape, int) else tuple(shape)
    try:
        target = resolve_reshape(tensor._type.shape, wanted)
    except ShapeError as error:
        error.where = f"{error.where} at {caller_location()}"
        raise
    return reshaped(tensor, target)


@movement
def flatten(x: Any, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Joins the axes from ``start_dim`` to ``end_dim`` (both included) into one."""
    (tensor,) = one_device("flatten", x)
    shape = tensor._type.shape
    if not shape:
        return reshaped(tensor, (1,))
    first, last = normalize_axis(start_dim, len(shape)), normalize_axis(end_dim, len(shape))
    if last < first:
        raise ArgumentError(f"flatten from axis {first} to axis {last}", fix="give them in order")
    joined: Any = 1
    for extent in shape[first : last + 1]:
        joined = joined * extent
    return reshaped(tensor, (*shape[:first], joined, *shape[last + 1 :]))


@movement
def permute(x: Any, dims: Sequence[int]) -> Tensor:
    """The axes in another order.

    Args:
        x: tensor.
        dims: for each new axis the old one; a list, not separate arguments.

    Raises:
        ShapeError: not every axis is named once.
    """
    (tensor,) = one_device("permute", x)
    order = normalize_axis_order(dims, tensor.rank)
    if len(order) != tensor.rank:
        raise ShapeError(
            f"permute of {tensor.rank} axes names {len(order)}", fix="name each axis once"
        )
    return _permuted(tensor, order)


@movement
def transpose(x: Any, axis_1: int = -2, axis_2: int = -1) -> Tensor:
    """Exchanges two axes; the last two if left out."""
    (tensor,) = one_device("transpose", x)
    first, second = normalize_axis(axis_1, tensor.rank), normalize_axis(axis_2, tensor.rank)
    order = list(range(tensor.rank))
    order[first], order[second] = order[second], order[first]
    return _permuted(tensor, tuple(order))


def matrix_transpose(x: Any) -> Tensor:
    """Exchanges the last two axes."""
    return transpose(x, -2, -1)


@movement
def moveaxis(x: Any, source: Axes, destination: Axes) -> Tensor:
    """Moves axes to new places; the others keep their order.

    Raises:
        ArgumentError: not as many places as axes.
    """
    (tensor,) = one_device("moveaxis", x)
    old = normalize_axis_order(source, tensor.rank)
    new = normalize_axis_order(destination, tensor.rank)
    if len(old) != len(new):
        raise ArgumentError(
            f"moveaxis of {len(old)} axes to {len(new)} places", fix="give one place per axis"
        )
    order = [n for n in range(tensor.rank) if n not in old]
    for place, axis in sorted(zip(new, old, strict=True)):
        order.insert(place, axis)
    return _permuted(tensor, tuple(order))


@movement
def squeeze(x: Any, axis: Axes | None = None) -> Tensor:
    """Drops axes of extent 1; all of them if None.

    Raises:
        ShapeError: the extent of a named axis is not 1.
    """
    (tensor,) = one_device("squeeze", x)
    shape = tensor._type.shape
    single = [isinstance(d, int) and d == 1 for d in shape]
    if axis is None:
        axes = tuple([n for n, one in enumerate(single) if one])
    else:
        axes = normalize_axes(axis, tensor.rank)
    wrong = [n for n in axes if not single[n]]
    if wrong:
        raise ShapeError(
            f"axis {wrong[0]} has the extent {shape[wrong[0]]}, so it cannot be squeezed",
            fix="squeeze axes of extent 1 only",
        )
    return reshaped(tensor, [d for n, d in enumerate(shape) if n not in axes])


@movement
def unsqueeze(x: Any, axis: Axes) -> Tensor:
    """Inserts axes of extent 1 at the given places of the result."""
    (tensor,) = one_device("unsqueeze", x)
    count = 1 if isinstance(axis, int) else len(axis)
    axes = normalize_axes(axis, tensor.rank + count)
    rest = iter(tensor._type.shape)
    return reshaped(tensor, [1 if n in axes else next(rest) for n in range(tensor.rank + count)])


@movement
def broadcast_to(x: Any, shape: int | Sequence[Any]) -> Tensor:
    """The tensor stretched to a shape by NumPy's rules.

    Raises:
        ShapeError: it does not stretch to that shape.
    """
    (tensor,) = one_device("broadcast_to", x)
    given = (shape,) if isinstance(shape, int) else tuple(shape)
    wanted = tuple([as_dim(d) for d in given])
    if not same_shape(broadcast_shapes(tensor._type.shape, wanted), wanted):
        raise ShapeError(
            f"shape {tensor.shape} does not broadcast to {wanted}",
            fix="axes are aligned at the end; only extents of 1 stretch",
        )
    result = broadcast(tensor, wanted)
    return result if result is not tensor else same_version(tensor)


@movement
def flip(x: Any, axis: Axes | None = None) -> Tensor:
    """The elements in reverse order along axes; all if None."""
    (tensor,) = one_device("flip", x)
    axes = normalize_axes(axis, tensor.rank)
    shape = tensor._type.static_shape
    turned = [n in axes for n in range(len(shape))]
    return apply(
        "slice",
        tensor,
        start=tuple([d - 1 if turn else 0 for turn, d in zip(turned, shape, strict=True)]),
        stop=tuple([-1 if turn else d for turn, d in zip(turned, shape, strict=True)]),
        step=tuple([-1 if turn else 1 for turn in turned]),
    )


@movement
def to(x: Any, device: Any) -> Tensor:
    """The tensor on another device; on its own a new handle.

    Raises:
        BackendNotFound, BackendUnavailable: the device cannot be used.
    """
    (tensor,) = one_device("to", x)
    name = device_of(device).name
    return (
        same_version(tensor)
        if tensor._type.device == name
        else apply("transfer", tensor, device=name)
    )


@operation
def barrier(x: Any) -> Tensor:
    """The same values, behind a line that no kernel crosses."""
    return apply("barrier", one_device("barrier", x)[0])
