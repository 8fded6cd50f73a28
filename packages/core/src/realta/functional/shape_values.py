"""Shape values: shapes as tensors, shapes asserted, and moves to a target."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from realta.errors import ShapeError
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
    """The tensor, if it has a shape; an error, if it has not or if that cannot be known.

    Args:
        x: tensor.
        shape: the extents it must have: numbers, names, or expressions of them.
        message: said first in the error.
        layout: has no effect here.

    Symbolic extents are not renamed: to be equal they must be the same expression of the names
    that the graph's inputs declare.

    Raises:
        ShapeError: another shape, or one that the names leave open.
    """
    (tensor,) = one_device("rebind", x)
    wanted = shape_of(shape)
    if not same_shape(tensor._type.shape, wanted):
        said = f"{message}: " if message else ""
        raise ShapeError(
            f"{said}rebind of {tensor.type} to ({', '.join(map(str, wanted))})",
            fix="declare equal extents by one name in the types of the graph's inputs",
        )
    return same_version(tensor)


def transfer_to(t: Any, target: Any) -> Tensor:
    """The tensor on another device: the same as ``t.to(target)``."""
    return to(t, target)
