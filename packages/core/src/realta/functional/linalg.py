"""Linear algebra, norms over the last axis, and attention."""

from __future__ import annotations

import math
from typing import Any

from realta.errors import ArgumentError, ShapeError
from realta.functional.arguments import apply, cast_to, constant_of, elementwise, one_device
from realta.functional.operation import operation
from realta.ops import get_op
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import convert_scalar, promote_all, tensor_type

__all__ = ["attention", "dot", "layer_norm", "linear", "matmul", "outer", "rms_norm"]


def _promoted(name: str, *values: Any) -> list[Tensor]:
    tensors = one_device(name, *values)
    dtype = promote_all([t.dtype for t in tensors])
    return [cast_to(t, dtype) for t in tensors]


def _float_operands(name: str, *values: Any) -> list[Tensor]:
    tensors = _promoted(name, *values)
    if tensors[0].dtype.is_float:
        return tensors
    return [cast_to(t, current_dtype()) for t in tensors]


@operation
def matmul(lhs: Any, rhs: Any) -> Tensor:
    """Matrix product with NumPy's rules: vectors, matrices, and stacks of matrices that broadcast.

    Raises:
        ShapeError: the contracted extents differ, or an operand is 0-d.
    """
    first, second = _promoted("matmul", lhs, rhs)
    return apply("matmul", first, second)  # type: ignore[no-any-return]


@operation
def dot(lhs: Any, rhs: Any) -> Tensor:
    """The same as `matmul` for vectors and matrices."""
    first, second = _promoted("dot", lhs, rhs)
    return apply("matmul", first, second)  # type: ignore[no-any-return]


@operation
def outer(lhs: Any, rhs: Any) -> Tensor:
    """All products of two vectors; shape (n, m)."""
    first, second = _promoted("outer", lhs, rhs)
    if first.rank != 1 or second.rank != 1:
        raise ShapeError(
            f"outer of {first.type} and {second.type}", fix="flatten both to one axis first"
        )
    column = apply("reshape", first, shape=(first._type.shape[0], 1))
    return elementwise(get_op("mul"), column, second)  # type: ignore[no-any-return]


@operation
def linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """``x @ weight.T + bias``.

    Args:
        x: shape (..., in).
        weight: shape (out, in).
        bias: shape (out), or None.

    Returns:
        Shape (..., out).
    """
    operands = _promoted("linear", x, weight, *([] if bias is None else [bias]))
    if operands[1].rank != 2:
        raise ShapeError(f"a weight of {operands[1].type}", fix="give a matrix of shape (out, in)")
    turned = apply("permute", operands[1], axes=(1, 0))
    product = apply("matmul", operands[0], turned)
    if bias is None:
        return product  # type: ignore[no-any-return]
    return elementwise(get_op("add"), product, operands[2])  # type: ignore[no-any-return]


@operation
def layer_norm(input: Any, gamma: Any = None, beta: Any = None, epsilon: float = 1e-5) -> Tensor:
    """``(x - mean) / sqrt(var + epsilon) * gamma + beta`` over the last axis, in two passes.

    Args:
        input: shape (..., n).
        gamma: shape (n); ones if None.
        beta: shape (n); zeros if None.
        epsilon: added to the variance.
    """
    (x,) = _float_operands("layer_norm", input)
    weight = _parameter("layer_norm", gamma, x, 1.0)
    bias = _parameter("layer_norm", beta, x, 0.0)
    return apply("layer_norm", x, weight, bias, eps=float(epsilon))  # type: ignore[no-any-return]


@operation
def rms_norm(input: Any, weight: Any = None, epsilon: float = 1e-6) -> Tensor:
    """``x / sqrt(mean(x * x) + epsilon) * weight`` over the last axis.

    Args:
        input: shape (..., n).
        weight: shape (n); ones if None.
        epsilon: added to the mean square.
    """
    (x,) = _float_operands("rms_norm", input)
    return apply("rms_norm", x, _parameter("rms_norm", weight, x, 1.0), eps=float(epsilon))  # type: ignore[no-any-return]


def _parameter(name: str, value: Any, x: Tensor, default: float) -> Tensor:
    if x.rank == 0:
        raise ShapeError(f"{name} of a 0-d tensor", fix="give a tensor with a last axis")
    extent = x._type.shape[-1]
    if value is None:
        type_ = tensor_type(x.dtype, (), x._type.device)
        scalar = constant_of(convert_scalar(default, x.dtype), type_)
        return apply("broadcast", scalar, shape=(extent,))  # type: ignore[no-any-return]
    _, found = one_device(name, x, value)
    if found._type.shape != (extent,):
        raise ShapeError(
            f"{name} got a parameter of shape {found.shape} for a last axis of {extent}",
            fix=f"give shape ({extent},)",
        )
    return cast_to(found, x.dtype)


@operation
def attention(
    query: Any, key: Any, value: Any, *, scale: float | None = None, causal: bool = False
) -> Tensor:
    """``softmax(query @ key.T * scale) @ value`` over the last two axes.

    Args:
        query: shape (..., m, d).
        key: shape (..., n, d).
        value: shape (..., n, e).
        scale: factor of the scores; ``1 / sqrt(d)`` if None.
        causal: whether position i sees positions up to i only.

    Returns:
        Shape (..., m, e).
    """
    operands = _float_operands("attention", query, key, value)
    if any(t.rank < 2 for t in operands):
        raise ArgumentError(
            "attention of tensors with fewer than two axes", fix="give (length, head)"
        )
    factor = 1.0 / math.sqrt(int(operands[0]._type.shape[-1])) if scale is None else float(scale)
    return apply("attention", *operands, scale=factor, causal=bool(causal))  # type: ignore[no-any-return]
