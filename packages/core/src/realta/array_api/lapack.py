"""LAPACK: decompositions that run on the host through NumPy, as ops that every context records."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from realta.errors import DTypeError, ExecutionError, ShapeError, UnsupportedOp
from realta.functional import cast, custom, register_custom
from realta.functional.arguments import promoted
from realta.plugins import current_dtype, is_host
from realta.runtime import one_thread
from realta.tensor import Tensor
from realta.types import bool_, float32, tensor_type

__all__ = ["decompose", "matrices"]

Array = NDArray[Any]


def _slogdet(x: Array) -> tuple[Any, ...]:
    return tuple(np.linalg.slogdet(x))


def _qr(x: Array, mode: str) -> tuple[Any, ...]:
    return tuple(np.linalg.qr(x, mode=mode))  # type: ignore[call-overload]


def _svd(x: Array, full_matrices: bool) -> tuple[Any, ...]:
    return tuple(np.linalg.svd(x, full_matrices=full_matrices))


_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "cholesky": lambda x, upper: np.linalg.cholesky(x, upper=upper),
    "det": np.linalg.det,
    "eigh": lambda x: tuple(np.linalg.eigh(x)),
    "eigvalsh": np.linalg.eigvalsh,
    "inv": np.linalg.inv,
    "qr": _qr,
    "slogdet": _slogdet,
    "solve": np.linalg.solve,
    "svd": _svd,
    "svdvals": lambda x: np.linalg.svd(x, compute_uv=False),
}
_WHY: Final = {
    "cholesky": "give a symmetric positive definite matrix",
    "inv": "check that the determinant is not 0, or use linalg.pinv",
    "solve": "check that the determinant is not 0, or multiply by linalg.pinv",
}
"""What to do about a matrix that has no result."""


def _registered(name: str, function: Callable[..., Any]) -> None:
    def run(*arrays: Array, **parameters: Any) -> Any:
        dtype = arrays[0].dtype
        try:
            # The number of threads changes bits of the result.
            with one_thread:
                found = function(*arrays, **parameters)
        except np.linalg.LinAlgError as error:
            raise ExecutionError(
                f"linalg.{name} of a matrix that has none: {str(error).lower()}",
                fix=_WHY.get(name, "check the matrix for NaN and infinity"),
            ) from error
        several = found if isinstance(found, tuple) else (found,)
        return tuple([np.asarray(array, dtype) for array in several])

    register_custom(f"realta.{name}")(run)


for _name, _function in _FUNCTIONS.items():
    _registered(_name, _function)


def matrices(name: str, *values: Any, square: bool = False) -> list[Tensor]:
    """Operands as stacks of matrices in a dtype that LAPACK has: float32 or float64.

    Args:
        name: the function, for errors.
        values: tensors; integers become the default float.
        square: whether the first must be square.

    Raises:
        ShapeError: it has fewer than two axes, or is not square.
        DTypeError: bools.
        UnsupportedOp: it is on a device that is no host.
    """
    tensors = promoted(name, *values)
    first = tensors[0]
    if first.rank < 2:
        raise ShapeError(f"{name} of {first.type}", fix="give a matrix, or a stack of them")
    rows, columns = first._type.static_shape[-2:]
    if square and rows != columns:
        raise ShapeError(f"{name} of {first.type}, which is not square", fix="give square matrices")
    if first.dtype is bool_:
        raise DTypeError(f"{name} of bools", fix="cast them to a float dtype")
    if not is_host(first._type.device):
        raise UnsupportedOp(
            f"{name} runs on the host through LAPACK, and {first.type} is elsewhere",
            fix='move it there and back, as in t.to("cpu")',
        )
    wide = first.dtype if first.dtype.is_float else current_dtype()
    return [cast(t, float32 if wide.is_half else wide) for t in tensors]


def decompose(name: str, tensors: list[Tensor], *shapes: Any, **parameters: Any) -> list[Tensor]:
    """The results of a function of LAPACK, of the operands' dtype and of given shapes."""
    type_ = tensors[0]._type
    types = [tensor_type(type_.dtype, tuple(s), type_.device) for s in shapes]
    return custom(f"realta.{name}", type_.device, tensors, types, parameters)
