"""Shape values: shapes as tensors, shapes asserted, and moves to a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.functional.arguments import (
    apply,
    broadcast,
    constant_of,
    one_device,
    reshaped,
    same_shape,
    same_version,
)
from realta.functional.creation import shape_of
from realta.functional.movement import to
from realta.functional.operation import operation
from realta.plugins import device_of
from realta.tensor import Tensor
from realta.types import int64, tensor_type

__all__ = ["rebind", "shape_to_tensor", "transfer_to"]


@operation
def shape_to_tensor(shape: Sequence[Any]) -> Tensor:
    """The extents of a shape as an int64 vector on the host; symbolic ones too.

    Raises:
        ShapeError: a negative extent.
    """
    device = device_of("cpu").name
    extents = shape_of(shape)
    if all(isinstance(d, int) for d in extents):
        return constant_of(np.array(extents, np.int64), tensor_type(int64, (len(extents),), device))
    one = constant_of(np.array(1), tensor_type(int64, (), device))
    # What an extent is, is known when the graph runs: as many ones as there are elements.
    counted = [apply("sum", broadcast(one, (d,)), axes=(0,)) for d in extents]
    return apply("concat", *[reshaped(n, (1,)) for n in counted], axis=0)


@operation
def rebind(x: Any, shape: Sequence[Any], message: str = "", layout: Any = None) -> Tensor:
    """The tensor under another form of its shape; an error if that is not its shape.

    Args:
        x: tensor.
        shape: the extents it must have: numbers, names, or expressions of them.
        message: said first in the error.
        layout: has no effect here.

    Where names leave open whether extents are equal, the result has those of ``shape``, and each
    call says whether it holds. The names are those that the graph's inputs declare.

    Raises:
        ShapeError: another shape; at the call where only that can tell.
    """
    (tensor,) = one_device("rebind", x)
    wanted = shape_of(shape)
    if same_shape(tensor._type.shape, wanted):
        return same_version(tensor)
    return apply("rebind", tensor, shape=wanted, message=message)


def transfer_to(t: Any, target: Any) -> Tensor:
    """The tensor on another device: the same as ``t.to(target)``."""
    return to(t, target)
