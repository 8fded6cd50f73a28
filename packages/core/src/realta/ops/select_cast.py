"""Select, cast and bitcast: choosing between values, and changing what bits mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.errors import DTypeError
from realta.ops.conversion import Array, convert
from realta.ops.opdef import Attr, Sample, define
from realta.ops.rules import check_dtype, check_same, common_device
from realta.ops.samples import elementwise_samples
from realta.types import DTYPES, DType, TensorType, bool_, tensor_type

__all__: list[str] = []

_ALL: Final = frozenset(DTYPES)


def _select_rule(condition: TensorType, x: TensorType, y: TensorType) -> TensorType:
    check_dtype("the condition", condition, (bool_,))
    check_same((x, y))
    check_same((condition.with_dtype(x.dtype), x))
    return tensor_type(x.dtype, x.shape, common_device((condition, x, y)))


def _select(condition: Array, x: Array, y: Array) -> Array:
    return np.where(condition, x, y)


define(
    "select",
    operands=("condition", "x", "y"),
    rule=_select_rule,
    reference=_select,
    doc="x where the condition holds, else y; the other value does not matter, NaN or not.",
    dtypes=_ALL,
    data_operand=1,
    samples=elementwise_samples(3, dtypes=(bool_, None, None)),
)


def _cast_rule(x: TensorType, *, dtype: DType) -> TensorType:
    return x.with_dtype(dtype)


def _cast(x: Array, *, dtype: DType) -> Array:
    return convert(x, dtype)


define(
    "cast",
    rule=_cast_rule,
    reference=_cast,
    doc=(
        "The values in another dtype. Float to integer truncates, saturates and takes NaN to 0; "
        "integer to integer wraps; to a float rounds once; to bool everything but zero is True."
    ),
    attrs={"dtype": Attr("dtype", doc="dtype of the result")},
    dtypes=_ALL,
    samples=(
        *(Sample(((33,),), {"dtype": d}, "special", note=f"to {d}") for d in DTYPES),
        Sample(((),), {"dtype": bool_}, note="0-d"),
        Sample(((0, 3),), {"dtype": bool_}, note="no elements"),
    ),
)


def _bitcast_rule(x: TensorType, *, dtype: DType) -> TensorType:
    if dtype.itemsize != x.dtype.itemsize or dtype is bool_:
        fitting = [d for d in DTYPES if d.itemsize == x.dtype.itemsize and d is not bool_]
        raise DTypeError(
            f"the bits of {x.dtype} cannot be read as {dtype}",
            fix=f"choose one of the same width: {', '.join(map(str, fitting))}",
        )
    return x.with_dtype(dtype)


def _bitcast(x: Array, *, dtype: DType) -> Array:
    return np.ascontiguousarray(x).view(dtype.numpy).reshape(x.shape).copy()


def _unsigned_of(dtype: DType) -> DType:
    return next(d for d in DTYPES if d.kind == "uint" and d.itemsize == dtype.itemsize)


def _float_of(dtype: DType) -> DType:
    return next(
        (d for d in DTYPES if d.is_float and d.itemsize == dtype.itemsize), _unsigned_of(dtype)
    )


_TARGETS: Final[tuple[Callable[[DType], Any], ...]] = (_unsigned_of, _float_of)

define(
    "bitcast",
    rule=_bitcast_rule,
    reference=_bitcast,
    doc="The same bits read as another dtype of the same width; there is none to or from bool.",
    attrs={"dtype": Attr("dtype", doc="dtype of the result")},
    dtypes=_ALL - {bool_},
    samples=tuple(
        Sample((shape,), {"dtype": target}, "small")
        for target in _TARGETS
        for shape in ((), (0, 3), (33,))
    ),
    level="math",
)
