"""Elementwise functions under the standard's names; they are those of `F`."""

from __future__ import annotations

from typing import Any, NoReturn

from realta.context import caller_location
from realta.errors import DTypeError, UnsupportedOp
from realta.functional import (
    abs,
    acos,
    acosh,
    add,
    asin,
    asinh,
    atan,
    atan2,
    atanh,
    bitwise_and,
    bitwise_or,
    bitwise_xor,
    ceil,
    clip,
    copysign,
    cos,
    cosh,
    equal,
    exp,
    expm1,
    floor,
    greater,
    greater_equal,
    hypot,
    less,
    less_equal,
    log,
    log1p,
    log2,
    log10,
    logaddexp,
    logical_and,
    logical_not,
    logical_or,
    logical_xor,
    maximum,
    minimum,
    nextafter,
    not_equal,
    pow,
    reciprocal,
    round,
    sign,
    signbit,
    sin,
    sinh,
    sqrt,
    square,
    tan,
    tanh,
    trunc,
)
from realta.functional import bitwise_not as bitwise_invert
from realta.functional import div as divide
from realta.functional import floor_div as floor_divide
from realta.functional import is_finite as isfinite
from realta.functional import is_inf as isinf
from realta.functional import is_nan as isnan
from realta.functional import mod as remainder
from realta.functional import mul as multiply
from realta.functional import neg as negative
from realta.functional import pos as positive
from realta.functional import shift_left as bitwise_left_shift
from realta.functional import shift_right as bitwise_right_shift
from realta.functional import sub as subtract
from realta.functional.operation import movement
from realta.tensor import Tensor
from realta.types import bool_

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "bitwise_and",
    "bitwise_invert", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor",
    "ceil", "clip", "conj", "copysign", "cos", "cosh", "divide", "equal", "exp", "expm1", "floor",
    "floor_divide", "greater", "greater_equal", "hypot", "imag", "isfinite", "isinf", "isnan",
    "less", "less_equal", "log", "log1p", "log2", "log10", "logaddexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "negative",
    "nextafter", "not_equal", "positive", "pow", "real", "reciprocal", "remainder", "round", "sign",
    "signbit", "sin", "sinh", "sqrt", "square", "subtract", "tan", "tanh", "trunc",
]  # fmt: skip


def _numeric(name: str, x: Any) -> Tensor:
    tensor = positive(x)
    if tensor.dtype is bool_:
        raise DTypeError(f"{name} of bools", fix="cast them to a numeric dtype")
    return tensor


@movement
def conj(x: Any, /) -> Tensor:
    """The complex conjugate, which for real numbers is the number itself.

    Raises:
        DTypeError: bools.
    """
    return _numeric("conj", x)


@movement
def real(x: Any, /) -> Tensor:
    """The real component, which for real numbers is the number itself.

    Raises:
        DTypeError: bools.
    """
    return _numeric("real", x)


def imag(x: Any, /) -> NoReturn:
    """The imaginary component: the standard has it for complex numbers only.

    Raises:
        UnsupportedOp: always, since complex numbers are not in this version.
    """
    raise UnsupportedOp(
        "imag takes complex numbers, which are not in this version",
        where=f"imag at {caller_location()}",
        fix="keep real and imaginary parts as two tensors or as a last axis of size 2",
    )
