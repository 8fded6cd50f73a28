"""Gathering: slices read by index tensors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.context import GraphRealizationContext, caller_location, current
from realta.errors import ArgumentError, DTypeError, IndexBoundsError
from realta.functional.arguments import (
    apply,
    cast_to,
    constant_of,
    elementwise,
    known_extent,
    one_device,
    reshaped,
    to_device,
)
from realta.functional.operation import operation
from realta.ops import get_op
from realta.tensor import Tensor
from realta.types import int64, normalize_axis, tensor_type, uint64

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["READING", "gather", "index_tensor", "known_index", "take"]

READING: Final = ("error", "clip", "wrap")
"""Modes for indices out of range; writing has ``"drop"`` too."""


def _check_known(indices: Any, extent: int, axis: int) -> None:
    """Known indices out of range raise at the call."""
    wrong = indices[(indices < -extent) | (indices >= extent)]
    if wrong.size:
        raise IndexBoundsError(
            f"index {int(wrong.flat[0])} is out of bounds for axis {axis} of extent {extent}",
            where=str(caller_location()),
            fix=f"use {-extent} to {extent - 1}" if extent else "the axis is empty",
        )


def known_index(indices: NDArray[Any], device: str) -> Tensor:
    """Known indices as a tensor: part of a graph that is recorded ahead, else a parameter.

    Other indices of the same shape then meet the same program.
    """
    if isinstance(current.get(), GraphRealizationContext):
        return constant_of(indices, tensor_type(int64, indices.shape, device))
    return Tensor(indices, device=device)


def index_tensor(
    name: str, indices: Any, x: Tensor, axis: int, mode: str, modes: tuple[str, ...] = READING
) -> Tensor:
    """Indices as an int64 tensor, checked now if they are known, by the device if they are not.

    Args:
        name: the function, for errors.
        indices: integer tensor, array, nested list or int.
        x: the tensor that is indexed.
        axis: its axis, counted from the start.
        mode: what to do about indices out of range.
        modes: the modes that the function has.

    Raises:
        IndexBoundsError: a known index is out of range and the mode is ``"error"``.
        DTypeError: the indices are no integers.
        ArgumentError: an unknown mode.
    """
    if mode not in modes:
        raise ArgumentError(f"{name} has no index mode {mode!r}", fix=f"use {', '.join(modes)}")
    if isinstance(indices, Tensor):
        if not indices.dtype.is_integer:
            raise DTypeError(f"{name} takes integer indices, not {indices.dtype}", fix=_CAST)
        tensor = to_device(indices, x._type.device)
        if tensor.dtype is uint64:
            # What int64 cannot hold must not come out as an index from the end.
            tensor = elementwise(get_op("minimum"), tensor, 2**63 - 1)
        tensor = cast_to(tensor, int64)
        if mode == "error":
            extent = known_extent(x, axis)
            status = apply("check_bounds", tensor, extent=extent, axis=axis)
            return apply("guard", tensor, status)
    else:
        array = np.asarray(indices)
        if array.dtype.kind not in "iu" and array.size:
            raise DTypeError(f"{name} takes integer indices, not {array.dtype}", fix=_CAST)
        if mode == "error":
            _check_known(array, known_extent(x, axis), axis)
        known = array.astype(np.int64)
        if isinstance(indices, np.ndarray):
            tensor = known_index(known, x._type.device)
        else:  # part of the call, as all static arguments are
            tensor = constant_of(known, tensor_type(int64, known.shape, x._type.device))
    if mode == "wrap" and known_extent(x, axis):
        return elementwise(get_op("mod"), tensor, known_extent(x, axis))
    return tensor


_CAST: Final = "cast them to an integer dtype"


def _gathered(name: str, x: Any, indices: Any, axis: int | None, mode: str) -> Tensor:
    (tensor,) = one_device(name, x)
    if axis is None:
        tensor, axis = reshaped(tensor, (tensor.size,)), 0
    number = normalize_axis(axis, tensor.rank)
    index = index_tensor(name, indices, tensor, number, mode)
    return apply("gather", tensor, index, axis=number)


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
    return _gathered("gather", input, indices, axis, mode)


@operation
def take(x: Any, indices: Any, axis: int | None = None, *, mode: str = "error") -> Tensor:
    """`gather` by NumPy's name; of the flattened tensor if the axis is None."""
    return _gathered("take", x, indices, axis, mode)
