"""The linear algebra extension: norms and products from ops, decompositions through LAPACK.

Decompositions run on the host, on any host device and in every context; on other devices they are
refused. Half types are computed in float32 and rounded once.
"""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, NoReturn

import numpy as np

import realta.functional as F
from realta.array_api.lapack import decompose, matrices
from realta.array_api.linear_algebra import matmul, matrix_transpose, tensordot, vecdot
from realta.array_api.naming import called
from realta.context import caller_location
from realta.errors import ArgumentError, ShapeError, UnsupportedOp
from realta.functional import outer
from realta.functional.arguments import apply, constant_of, float_operand, promoted
from realta.functional.operation import operation
from realta.tensor import Tensor
from realta.types import broadcast_shapes, int64, normalize_axis, tensor_type

__all__ = [
    "cholesky", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh", "inv", "matmul",
    "matrix_norm", "matrix_power", "matrix_rank", "matrix_transpose", "outer", "pinv", "qr",
    "slogdet", "solve", "svd", "svdvals", "tensordot", "trace", "vecdot", "vector_norm",
]  # fmt: skip


class EighResult(NamedTuple):
    """Eigenvalues in rising order, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QRResult(NamedTuple):
    """An orthonormal and an upper triangular matrix."""

    Q: Tensor
    R: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


class SVDResult(NamedTuple):
    """Left singular vectors, singular values in falling order, right ones as rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def _float_like(x: Any, found: list[Tensor]) -> list[Tensor]:
    """Results in the dtype of a float operand, which for half types is narrower."""
    dtype = x.dtype if isinstance(x, Tensor) and x.dtype.is_float else found[0].dtype
    return [F.cast(t, dtype) for t in found]


# -- decompositions -------------------------------------------------------------------------------


@operation
def cholesky(x: Any, /, *, upper: bool = False) -> Tensor:
    """The triangular matrix whose product with its own transpose is a matrix.

    Args:
        x: symmetric positive definite matrices, shape (..., n, n); the other triangle is not read.
        upper: whether the result is an upper triangle.

    Raises:
        ShapeError: no square matrices.
        UnsupportedOp: they are not on the host.
        ExecutionError: when it runs: a matrix is not positive definite.
    """
    given = matrices("cholesky", x, square=True)
    return _float_like(x, decompose("cholesky", given, given[0].shape, upper=bool(upper)))[0]


@operation
def det(x: Any, /) -> Tensor:
    """The determinants of square matrices; shape (...). Errors as in `cholesky`."""
    given = matrices("det", x, square=True)
    return _float_like(x, decompose("det", given, given[0].shape[:-2]))[0]


@operation
def inv(x: Any, /) -> Tensor:
    """The inverses of square matrices.

    Raises:
        ShapeError, UnsupportedOp: as in `cholesky`.
        ExecutionError: when it runs: a matrix is singular.
    """
    given = matrices("inv", x, square=True)
    return _float_like(x, decompose("inv", given, given[0].shape))[0]


@operation
def solve(x1: Any, x2: Any, /) -> Tensor:
    """The solutions of linear equations: ``x1 @ result == x2``.

    Args:
        x1: square matrices, shape (..., n, n).
        x2: one vector of shape (n,), or matrices of shape (..., n, k).

    Raises:
        ShapeError, UnsupportedOp: as in `cholesky`; or shapes that do not fit.
        ExecutionError: when it runs: a matrix is singular.
    """
    given = matrices("solve", x1, x2, square=True)
    stack, side = given[0].shape, given[1].shape
    if not side or side[0 if len(side) == 1 else -2] != stack[-1]:
        raise ShapeError(
            f"solve of {given[0].type} and {given[1].type}",
            fix=f"give the right side the shape ({stack[-1]},) or (..., {stack[-1]}, k)",
        )
    if len(side) == 1:
        shape = stack[:-1]
    else:
        shape = (*broadcast_shapes(stack[:-2], side[:-2]), *side[-2:])
    found = decompose("solve", given, shape)[0]
    dtype = promoted("solve", x1, x2)[0].dtype
    return F.cast(found, dtype) if dtype.is_float else found


def eigh(x: Any, /) -> EighResult:
    """Eigenvalues and eigenvectors of symmetric matrices. Errors as in `cholesky`.

    Returns:
        ``(eigenvalues, eigenvectors)``: shapes (..., n), in rising order, and (..., n, n), columns.
    """
    return EighResult(*_eigh(x))


@operation
@called("eigh")
def _eigh(x: Any) -> list[Tensor]:
    given = matrices("eigh", x, square=True)
    shape = given[0].shape
    return _float_like(x, decompose("eigh", given, shape[:-1], shape))


@operation
def eigvalsh(x: Any, /) -> Tensor:
    """The eigenvalues of symmetric matrices in rising order. Errors as in `cholesky`."""
    given = matrices("eigvalsh", x, square=True)
    return _float_like(x, decompose("eigvalsh", given, given[0].shape[:-1]))[0]


def _no_complex(name: str) -> UnsupportedOp:
    return UnsupportedOp(
        f"linalg.{name} has complex results, and complex numbers are not in this version",
        where=f"{name} at {caller_location()}",
        fix="use linalg.eigh or linalg.eigvalsh for symmetric matrices",
    )


def eig(x: Any, /) -> NoReturn:
    """Eigenvalues and eigenvectors of any square matrices, which are complex.

    Raises:
        UnsupportedOp: always, since complex numbers are not in this version.
    """
    raise _no_complex("eig")


def eigvals(x: Any, /) -> NoReturn:
    """Eigenvalues of any square matrices, which are complex.

    Raises:
        UnsupportedOp: always, since complex numbers are not in this version.
    """
    raise _no_complex("eigvals")


def qr(x: Any, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """The factors of matrices: orthonormal times upper triangular.

    Args:
        x: matrices, shape (..., m, n).
        mode: ``"reduced"`` gives shapes (..., m, k) and (..., k, n) with k = min(m, n);
            ``"complete"`` (..., m, m) and (..., m, n).

    Raises:
        ShapeError: fewer than two axes.
        UnsupportedOp: they are not on the host.
        ArgumentError: another mode.
    """
    return QRResult(*_qr(x, mode))


@operation
@called("qr")
def _qr(x: Any, mode: str) -> list[Tensor]:
    if mode not in ("reduced", "complete"):
        raise ArgumentError(f"qr has no mode {mode!r}", fix='use "reduced" or "complete"')
    given = matrices("qr", x)
    *batch, rows, columns = given[0].shape
    inner = min(rows, columns) if mode == "reduced" else rows
    shapes = ((*batch, rows, inner), (*batch, inner, columns))
    return _float_like(x, decompose("qr", given, *shapes, mode=mode))


def slogdet(x: Any, /) -> SlogdetResult:
    """Signs of determinants, and logarithms of their magnitudes. Errors as in `cholesky`."""
    return SlogdetResult(*_slogdet(x))


@operation
@called("slogdet")
def _slogdet(x: Any) -> list[Tensor]:
    given = matrices("slogdet", x, square=True)
    batch = given[0].shape[:-2]
    return _float_like(x, decompose("slogdet", given, batch, batch))


def svd(x: Any, /, *, full_matrices: bool = True) -> SVDResult:
    """Singular value decompositions: ``(U * S) @ Vh`` with ``full_matrices=False``.

    Args:
        x: matrices, shape (..., m, n).
        full_matrices: whether U and Vh are square, or have k = min(m, n) vectors.

    Raises:
        ShapeError: fewer than two axes.
        UnsupportedOp: they are not on the host.
    """
    return SVDResult(*_svd(x, bool(full_matrices)))


@operation
@called("svd")
def _svd(x: Any, full: bool) -> list[Tensor]:
    given = matrices("svd", x)
    *batch, rows, columns = given[0].shape
    k = min(rows, columns)
    left, right = (rows, columns) if full else (k, k)
    shapes = ((*batch, rows, left), (*batch, k), (*batch, right, columns))
    return _float_like(x, decompose("svd", given, *shapes, full_matrices=full))


@operation
def svdvals(x: Any, /) -> Tensor:
    """The singular values of matrices in falling order. Errors as in `svd`."""
    given = matrices("svdvals", x)
    *batch, rows, columns = given[0].shape
    return _float_like(x, decompose("svdvals", given, (*batch, min(rows, columns))))[0]


def _threshold(values: Tensor, shape: tuple[int, ...], rtol: Any) -> Tensor:
    """Which singular values count: those above a share of the largest."""
    if rtol is None:
        rtol = max(shape[-2:]) * float(np.finfo(values.dtype.numpy).eps)
    limit = F.unsqueeze(rtol, -1) if isinstance(rtol, Tensor) else rtol
    largest = F.max(values, axis=-1, keepdims=True)
    return values > F.cast(largest * limit, values.dtype)


@operation
def pinv(x: Any, /, *, rtol: Any = None) -> Tensor:
    """The Moore-Penrose pseudo-inverses of matrices, from their singular values.

    Args:
        x: matrices, shape (..., m, n).
        rtol: singular values below this share of the largest count as 0: a number, or a tensor of
            shape (...); ``max(m, n) * eps`` if None.

    Returns:
        Shape (..., n, m). Errors as in `svd`.
    """
    given = matrices("pinv", x)
    *batch, rows, columns = shape = given[0].shape
    k = min(rows, columns)
    if not k:
        return _float_like(x, [F.zeros_like(F.transpose(given[0]))])[0]
    left, values, right = decompose(
        "svd", given, (*batch, rows, k), (*batch, k), (*batch, k, columns), full_matrices=False
    )
    used = _threshold(values, shape, rtol)
    inverse = F.where(used, 1.0 / F.where(used, values, 1.0), 0.0)
    scaled = F.transpose(right) * F.unsqueeze(inverse, -2)
    return _float_like(x, [F.matmul(scaled, F.transpose(left))])[0]


@operation
def matrix_rank(x: Any, /, *, rtol: Any = None) -> Tensor:
    """How many singular values of matrices count (int64); arguments and errors as in `pinv`."""
    given = matrices("matrix_rank", x)
    *batch, rows, columns = shape = given[0].shape
    k = min(rows, columns)
    if not k:
        return F.zeros(batch, dtype=int64, device=given[0].device)
    values = decompose("svdvals", given, (*batch, k))[0]
    return F.sum(_threshold(values, shape, rtol), -1, dtype=int64)


# -- from ops -------------------------------------------------------------------------------------


@operation
def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Tensor:
    """The cross products of vectors of three elements along an axis; the other axes broadcast.

    Raises:
        ShapeError: the extent of that axis is not 3, or the others do not broadcast.
    """
    first, second = promoted("cross", x1, x2)
    shape = broadcast_shapes(first._type.shape, second._type.shape)
    number = normalize_axis(axis, len(shape))
    for tensor in (first, second):
        place = number - len(shape)
        if tensor.rank < -place or tensor._type.shape[place] != 3:
            raise ShapeError(
                f"cross of {first.type} and {second.type} along axis {axis}",
                fix="give vectors of three elements along that axis",
            )
    lines = [F.moveaxis(F.broadcast_to(t, shape), number, 0) for t in (first, second)]
    parts = [[line[n] for n in range(3)] for line in lines]
    (a, b, c), (d, e, f) = parts
    return F.stack([b * f - c * e, c * d - a * f, a * e - b * d], number)


@operation
def diagonal(x: Any, /, *, offset: int = 0) -> Tensor:
    """The diagonals of matrices: their elements at (i, i + offset); shape (..., length).

    Raises:
        ShapeError: fewer than two axes.
    """
    return _diagonal(F.pos(x), offset, "diagonal")


def _diagonal(tensor: Tensor, offset: int, name: str) -> Tensor:
    if tensor.rank < 2:
        raise ShapeError(f"{name} of {tensor.type}", fix="give a matrix, or a stack of them")
    *batch, rows, columns = tensor._type.static_shape
    start = offset if offset >= 0 else -offset * columns
    length = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    places = start + (columns + 1) * np.arange(length)
    known = constant_of(places, tensor_type(int64, (length,), tensor._type.device))
    flat = F.reshape(tensor, (*batch, rows * columns))
    if not length:
        return flat[..., :0]
    return apply("gather", flat, known, axis=len(batch))


@operation
def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Tensor:
    """The sums of diagonals; integers add up in int64 or uint64. Arguments as in `diagonal`."""
    return F.sum(_diagonal(F.pos(x), offset, "trace"), -1, dtype=dtype)


@operation
def matrix_power(x: Any, n: int, /) -> Tensor:
    """Square matrices multiplied by themselves; inverses for a negative number.

    Raises:
        ShapeError: no square matrices.
        ArgumentError: ``n`` is no int.
        UnsupportedOp: a negative number, and they are not on the host.
    """
    tensor = F.pos(x)
    if type(n) is not int:
        raise ArgumentError(f"matrix_power to {n!r}", fix="give an int")
    if tensor.rank < 2 or tensor._type.static_shape[-2] != tensor._type.static_shape[-1]:
        raise ShapeError(f"matrix_power of {tensor.type}", fix="give square matrices")
    if n == 0:
        one = F.eye(tensor.shape[-1], dtype=tensor.dtype, device=tensor.device)
        return F.broadcast_to(one, tensor.shape)
    square = inv(tensor) if n < 0 else tensor
    result, left = None, abs(n)
    while True:
        if left & 1:
            result = square if result is None else F.matmul(result, square)
        left >>= 1
        if not left:
            return F.pos(result)
        square = F.matmul(square, square)


Order = int | float | str | None


@operation
def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: float = 2) -> Tensor:
    """The norms of vectors along axes.

    Args:
        x: tensor; integers become the default float.
        axis: axis or axes; all if None.
        keepdims: whether those axes stay with extent 1.
        ord: ``inf`` and ``-inf`` give the largest and the smallest magnitude, 0 counts what is not
            0, other numbers p give the p-norm.

    Raises:
        ShapeError: the largest or smallest of nothing.
    """
    tensor = float_operand("vector_norm", x)
    order = float(ord)
    if order == 0:
        return F.sum(F.not_equal(tensor, 0), axis, dtype=tensor.dtype, keepdims=keepdims)
    size = F.abs(tensor)
    if math.isinf(order):
        pick = F.max if order > 0 else F.min
        return pick(size, axis=axis, keepdims=keepdims)
    if order == 1:
        return F.sum(size, axis, keepdims=keepdims)
    if order == 2:
        return F.sqrt(F.sum(size * size, axis, keepdims=keepdims))
    powers = F.sum(F.pow(size, order), axis, keepdims=keepdims)
    return F.pow(powers, 1.0 / order)


@operation
def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Order = "fro") -> Tensor:
    """The norms of matrices.

    Args:
        x: matrices, shape (..., m, n); integers become the default float.
        keepdims: whether the last two axes stay with extent 1.
        ord: ``"fro"``, ``"nuc"`` (sum of singular values), 1 and -1 (largest and smallest sum of a
            column's magnitudes), ``inf`` and ``-inf`` (of a row's), 2 and -2 (largest and smallest
            singular value).

    Raises:
        ShapeError: fewer than two axes.
        ArgumentError: another norm.
        UnsupportedOp: a norm of singular values, not on the host.
    """
    tensor = float_operand("matrix_norm", x)
    if tensor.rank < 2:
        raise ShapeError(f"matrix_norm of {tensor.type}", fix="give a matrix, or a stack of them")
    if ord == "fro":
        found = F.sqrt(F.sum(tensor * tensor, (-2, -1)))
    elif ord in ("nuc", 2, -2):
        values = svdvals(tensor)
        if ord == "nuc":
            found = F.sum(values, -1)
        else:
            found = (F.max if ord == 2 else F.min)(values, axis=-1)
    elif ord in (1, -1, math.inf, -math.inf):
        sums = F.sum(F.abs(tensor), -2 if abs(float(ord)) == 1 else -1)
        found = (F.max if float(ord) > 0 else F.min)(sums, axis=-1)
    else:
        raise ArgumentError(
            f"matrix_norm has no norm {ord!r}", fix='use "fro", "nuc", 1, -1, 2, -2, inf or -inf'
        )
    return F.unsqueeze(found, (-2, -1)) if keepdims else found
