"""Normalization: softmax along an axis, and norms over the last axis."""

from __future__ import annotations

from typing import Any

from realta.errors import ShapeError
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
from realta.types import convert_scalar, normalize_axis, tensor_type

__all__ = ["layer_norm", "logsoftmax", "rms_norm", "softmax"]


@operation
def softmax(value: Any, axis: int = -1) -> Tensor:
    """``exp(x - max) / sum(exp(x - max))`` along an axis."""
    tensor = float_operand("softmax", value)
    return apply("softmax", tensor, axis=normalize_axis(axis, tensor.rank))


@operation
def logsoftmax(value: Any, axis: int = -1) -> Tensor:
    """Logarithm of `softmax` along an axis, without its overflow."""
    tensor = float_operand("logsoftmax", value)
    return apply("logsoftmax", tensor, axis=normalize_axis(axis, tensor.rank))


@operation
def layer_norm(input: Any, gamma: Any = None, beta: Any = None, epsilon: float = 1e-5) -> Tensor:
    """``(x - mean) / sqrt(var + epsilon) * gamma + beta`` over the last axis, in two passes.

    Args:
        input: shape (..., n).
        gamma: shape (n); ones if None.
        beta: shape (n); zeros if None.
        epsilon: added to the variance.

    Raises:
        ShapeError: a parameter is not of shape (n), or the input is 0-d.
    """
    x = float_operand("layer_norm", input)
    weight = _parameter("layer_norm", gamma, x, 1.0)
    bias = _parameter("layer_norm", beta, x, 0.0)
    return apply("layer_norm", x, weight, bias, eps=float(epsilon))


@operation
def rms_norm(
    input: Any,
    weight: Any = None,
    epsilon: float = 1e-6,
    weight_offset: float = 0.0,
    multiply_before_cast: bool = False,
) -> Tensor:
    """``x / sqrt(mean(x * x) + epsilon) * (weight + weight_offset)`` over the last axis.

    Args:
        input: shape (..., n).
        weight: shape (n); ones if None.
        epsilon: added to the mean square.
        weight_offset: added to the weight; 1 in models that keep the difference from 1.
        multiply_before_cast: has no effect: half types compute in float32, with the weight, and
            round once.

    Raises:
        ShapeError: the weight is not of shape (n), or the input is 0-d.
    """
    x = float_operand("rms_norm", input)
    scale = _parameter("rms_norm", weight, x, 1.0)
    if weight_offset:
        type_ = tensor_type(scale.dtype, (), scale._type.device)
        offset = constant_of(convert_scalar(float(weight_offset), scale.dtype), type_)
        scale = apply("add", scale, broadcast(offset, scale._type.shape))
    return apply("rms_norm", x, scale, eps=float(epsilon))


def _parameter(name: str, value: Any, x: Tensor, default: float) -> Tensor:
    if x.rank == 0:
        raise ShapeError(f"{name} of a 0-d tensor", fix="give a tensor with a last axis")
    extent = x._type.shape[-1]
    if value is None:
        type_ = tensor_type(x.dtype, (), x._type.device)
        return broadcast(constant_of(convert_scalar(default, x.dtype), type_), (extent,))
    _, found = one_device(name, x, value)
    if not same_shape(found._type.shape, (extent,)):
        raise ShapeError(
            f"{name} got a parameter of shape {found.shape} for a last axis of {extent}",
            fix=f"give shape ({extent},)",
        )
    return cast_to(found, x.dtype)
