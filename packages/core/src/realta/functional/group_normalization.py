"""Group normalization: groups of channels, each by its own mean and variance."""

from __future__ import annotations

from typing import Any

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    constant_of,
    float_operand,
    one_device,
    same_shape,
)
from realta.functional.operation import operation
from realta.tensor import Tensor
from realta.types import convert_scalar, tensor_type

__all__ = ["group_norm"]


@operation
def group_norm(
    input: Any, gamma: Any = None, beta: Any = None, num_groups: int = 1, epsilon: float = 1e-5
) -> Tensor:
    """``(x - mean) / sqrt(var + epsilon) * gamma + beta``, each group of channels by itself.

    Args:
        input: shape (batch, channels, ...).
        gamma: shape (channels); ones if None.
        beta: shape (channels); zeros if None.
        num_groups: how many groups of adjacent channels there are; mean and variance are those of
            one group of one item, over all later axes.
        epsilon: added to the variance.

    Half precision is computed in float32 and rounded once.

    Raises:
        ShapeError: fewer than two axes, channels that do not divide into the groups, or a
            parameter that is not of shape (channels).
        ArgumentError: less than one group.
    """
    x = float_operand("group_norm", input)
    if x.rank < 2:
        raise ShapeError(
            f"group_norm of {x.type}", fix="give a tensor of shape (batch, channels, ...)"
        )
    if type(num_groups) is not int or num_groups < 1:
        raise ArgumentError(f"num_groups={num_groups!r}", fix="give a number from 1 up")
    weight, bias = _parameter(gamma, x, 1.0), _parameter(beta, x, 0.0)
    return apply("group_norm", x, weight, bias, groups=num_groups, eps=float(epsilon))


def _parameter(value: Any, x: Tensor, default: float) -> Tensor:
    wanted = (x._type.shape[1],)
    if value is None:
        type_ = tensor_type(x.dtype, (), x._type.device)
        return broadcast(constant_of(convert_scalar(default, x.dtype), type_), wanted)
    _, found = one_device("group_norm", x, value)
    if not same_shape(found._type.shape, wanted):
        raise ShapeError(
            f"group_norm got a parameter of shape {found.shape} for {wanted[0]} channels",
            fix=f"give shape ({wanted[0]},)",
        )
    return cast_to(found, x.dtype)
