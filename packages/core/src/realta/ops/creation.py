"""Creation: ops that make their values themselves, from attributes."""

from __future__ import annotations

from typing import Final

import numpy as np

from realta.ops.constant_data import ConstantData
from realta.ops.conversion import Array, convert
from realta.ops.opdef import Attr, OpKind, Sample, define
from realta.ops.rules import check_axis
from realta.types import DTYPES, NUMERIC, DType, Shape, TensorType, tensor_type

__all__: list[str] = []

_DEVICE: Final = Attr("str", "", "device of the result; empty for the graph's device")


def _constant_rule(*, value: ConstantData, device: str) -> TensorType:
    return tensor_type(value.dtype, value.shape, device)


def _constant(*, value: ConstantData, device: str) -> Array:
    return value.array.copy()


def _values(shape: tuple[int, ...]) -> object:
    """Makes the value of a sample: small whole numbers, which every dtype holds."""

    def make(dtype: DType) -> ConstantData:
        numbers = np.arange(int(np.prod(shape)), dtype=np.int64) % 7
        return ConstantData(convert(numbers.reshape(shape), dtype))

    return make


define(
    "constant",
    operands=(),
    rule=_constant_rule,
    reference=_constant,
    doc="A literal tensor.",
    kind=OpKind.CREATION,
    attrs={"value": Attr("array", doc="the elements"), "device": _DEVICE},
    dtypes=frozenset(DTYPES),
    data_operand=-1,
    samples=tuple(Sample((), {"value": _values(s)}) for s in ((), (0, 3), (17,), (3, 33))),
)


def _iota_rule(*, shape: Shape, axis: int, dtype: DType, device: str) -> TensorType:
    check_axis(axis, len(shape))
    return tensor_type(dtype, shape, device)


def _iota(*, shape: tuple[int, ...], axis: int, dtype: DType, device: str) -> Array:
    line = convert(np.arange(shape[axis], dtype=np.int64), dtype)
    across = [-1 if n == axis else 1 for n in range(len(shape))]
    return np.broadcast_to(line.reshape(across), shape).copy()


def _follow(dtype: DType) -> DType:
    return dtype


define(
    "iota",
    operands=(),
    rule=_iota_rule,
    reference=_iota,
    doc="The index of each element along an axis, cast to a dtype.",
    kind=OpKind.CREATION,
    attrs={
        "shape": Attr("shape", doc="shape of the result"),
        "axis": Attr("int", doc="the axis to count along"),
        "dtype": Attr("dtype", doc="dtype of the result"),
        "device": _DEVICE,
    },
    dtypes=NUMERIC,
    data_operand=-1,
    samples=(
        Sample((), {"shape": (0,), "axis": 0, "dtype": _follow}),
        Sample((), {"shape": (1025,), "axis": 0, "dtype": _follow}),
        Sample((), {"shape": (3, 17), "axis": 1, "dtype": _follow}),
        Sample((), {"shape": (17, 3), "axis": 0, "dtype": _follow}),
        Sample((), {"shape": (2, 3, 4), "axis": 1, "dtype": _follow}),
    ),
)
