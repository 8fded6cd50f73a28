"""The vocabulary of values: element types and their promotion, extents, shapes, tensor types."""

from realta.types.dims import Dim, as_dim, divide_exactly, largest, smallest
from realta.types.dtypes import (
    BY_NAME,
    BY_SHORT,
    COMPUTABLE,
    DTYPES,
    FLOATS,
    INTEGERS,
    NUMERIC,
    STORAGE_ONLY,
    DType,
    Kind,
    as_dtype,
    bfloat16,
    bool_,
    float8_e4m3fn,
    float8_e5m2,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from realta.types.promotion import promote, promote_all, sum_dtype
from realta.types.scalars import convert_scalar, is_weak, weak_dtype
from realta.types.shapes import (
    bind_shape,
    broadcast_shapes,
    normalize_axes,
    normalize_axis,
    normalize_axis_order,
    resolve_reshape,
)
from realta.types.tensor_type import Shape, TensorType, tensor_type

__all__ = [
    "BY_NAME", "BY_SHORT", "COMPUTABLE", "DTYPES", "FLOATS", "INTEGERS", "NUMERIC", "STORAGE_ONLY",
    "DType", "Dim", "Kind", "Shape", "TensorType",
    "as_dim", "as_dtype", "bind_shape", "broadcast_shapes", "convert_scalar", "divide_exactly",
    "is_weak", "largest", "normalize_axes", "normalize_axis", "normalize_axis_order", "promote",
    "promote_all", "resolve_reshape", "smallest", "sum_dtype", "tensor_type", "weak_dtype",
    "bfloat16", "bool_", "float16", "float32", "float64", "float8_e4m3fn", "float8_e5m2",
    "int16", "int32", "int64", "int8", "uint16", "uint32", "uint64", "uint8",
]  # fmt: skip
