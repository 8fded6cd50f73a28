"""Linear algebra: products of matrices and vectors, linear maps, attention."""

from __future__ import annotations

import math
from typing import Any

from realta.errors import DTypeError, ShapeError
from realta.functional.arguments import (
    apply,
    broadcast,
    cast_to,
    constant_of,
    elementwise,
    known_extent,
    one_device,
    promoted,
    reshaped,
    same_shape,
)
from realta.functional.operation import operation
from realta.ops import get_op
from realta.plugins import current_dtype
from realta.tensor import Tensor
from realta.types import bool_, broadcast_shapes, float32, int64, tensor_type

__all__ = ["attention", "dot", "linear", "matmul", "outer"]


@operation
def matmul(lhs: Any, rhs: Any) -> Tensor:
    """Matrix product with NumPy's rules: vectors, matrices, and stacks of matrices that broadcast.

    Raises:
        ShapeError: the contracted extents differ, or an operand is 0-d.
    """
    return apply("matmul", *promoted("matmul", lhs, rhs))


@operation
def dot(lhs: Any, rhs: Any) -> Tensor:
    """The same as `matmul` for vectors and matrices.

    Raises:
        ShapeError: an operand has no or more than two axes, or the contracted extents differ.
    """
    first, second = promoted("dot", lhs, rhs)
    if not (1 <= first.rank <= 2 and 1 <= second.rank <= 2):
        raise ShapeError(
            f"dot of {first.type} and {second.type}",
            fix="use matmul for stacks of matrices, and * for a number",
        )
    return apply("matmul", first, second)


@operation
def outer(lhs: Any, rhs: Any) -> Tensor:
    """All products of two vectors; shape (n, m).

    Raises:
        ShapeError: an operand is no vector.
    """
    first, second = promoted("outer", lhs, rhs)
    if first.rank != 1 or second.rank != 1:
        raise ShapeError(
            f"outer of {first.type} and {second.type}", fix="flatten both to one axis first"
        )
    return elementwise(get_op("mul"), reshaped(first, (*first._type.shape, 1)), second)


@operation
def linear(x: Any, weight: Any, bias: Any = None) -> Tensor:
    """``x @ weight.T + bias``.

    Args:
        x: shape (..., in).
        weight: shape (out, in).
        bias: shape (out), or None.

    Returns:
        Shape (..., out).

    Raises:
        ShapeError: the weight is no matrix, or extents differ.
    """
    operands = promoted("linear", x, weight, *([] if bias is None else [bias]))
    if operands[1].rank != 2:
        raise ShapeError(f"a weight of {operands[1].type}", fix="give a matrix of shape (out, in)")
    given, wanted = operands[0]._type.shape[-1:], operands[1]._type.shape[1:]
    if given and not same_shape(given, wanted):
        raise ShapeError(
            f"a weight of {operands[1].type} takes {wanted[0]} features, got {given[0]}",
            fix="give x the shape (..., in) and the weight the shape (out, in)",
        )
    out = operands[1]._type.shape[:1]
    if bias is not None and not same_shape(operands[2]._type.shape, out):
        raise ShapeError(
            f"a bias of {operands[2].type} for {out[0]} outputs", fix=f"give shape ({out[0]},)"
        )
    product = apply("matmul", operands[0], apply("permute", operands[1], axes=(1, 0)))
    return product if bias is None else elementwise(get_op("add"), product, operands[2])


@operation
def attention(
    query: Any,
    key: Any,
    value: Any,
    *,
    mask: Any = None,
    scale: float | None = None,
    causal: bool = False,
) -> Tensor:
    """``softmax(query @ key.T * scale) @ value`` over the last two axes.

    Args:
        query: shape (..., m, d).
        key: shape (..., n, d).
        value: shape (..., n, e).
        mask: which keys each query sees: bool, or floats that are added to the scores; of a shape
            that broadcasts to (..., m, n). A query that sees no key gives NaN.
        scale: factor of the scores; ``1 / sqrt(d)`` if None.
        causal: whether position i sees positions up to i only.

    Returns:
        Shape (..., m, e).

    Raises:
        ShapeError: fewer than two axes, or extents that do not fit.
        DTypeError: a mask of integers.
    """
    operands = promoted("attention", query, key, value)
    if not operands[0].dtype.is_float:
        operands = [cast_to(t, current_dtype()) for t in operands]
    if any(t.rank < 2 for t in operands):
        raise ShapeError(
            "attention of tensors with fewer than two axes", fix="give shapes (length, head)"
        )
    head = known_extent(operands[0], -1)
    factor = float(scale) if scale is not None else 1.0 / math.sqrt(head) if head else 1.0
    if mask is None:
        return apply("attention", *operands, scale=factor, causal=bool(causal))
    _, seen = one_device("attention", operands[0], mask)
    return _masked_attention(operands, seen, factor, causal)


def _masked_attention(operands: list[Tensor], mask: Tensor, scale: float, causal: bool) -> Tensor:
    """Attention in steps, since the op has no operand for a mask; half types rounded once."""
    dtype = operands[0].dtype
    query, key, value = (cast_to(t, float32) if dtype.is_half else t for t in operands)
    axes = (*range(key.rank - 2), key.rank - 1, key.rank - 2)
    scores = apply("matmul", query, apply("permute", key, axes=axes))
    scores = apply("mul", scores, _filled(scores, scale))
    if causal:
        shape, device = scores._type.shape, scores._type.device
        rows, columns = (
            apply("iota", shape=shape, axis=scores.rank - n, dtype=int64, device=device)
            for n in (2, 1)
        )
        scores = _without(scores, elementwise(get_op("less_equal"), columns, rows))
    if mask.dtype is bool_:
        scores = _without(scores, mask)
    elif mask.dtype.is_float:
        scores = elementwise(get_op("add"), scores, cast_to(mask, scores.dtype))
    else:
        raise DTypeError(
            f"an attention mask of {mask.type}", fix="give a bool mask, as in mask != 0"
        )
    weights = apply("softmax", scores, axis=scores.rank - 1)
    return cast_to(apply("matmul", weights, value), dtype)


def _without(scores: Tensor, seen: Tensor) -> Tensor:
    """The scores with -inf where a key is not seen."""
    shape = broadcast_shapes(seen._type.shape, scores._type.shape)
    wide = broadcast(scores, shape)
    return apply("select", broadcast(seen, shape), wide, _filled(wide, -math.inf))


def _filled(like: Tensor, value: float) -> Tensor:
    """A number everywhere; part of the op, so a constant and no parameter."""
    number = constant_of(value, tensor_type(like.dtype, (), like._type.device))
    return broadcast(number, like._type.shape)
