"""Arguments: what functions make of operands: tensors, promotion, broadcasting, one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from realta.context import RecordingContext, ScalarInput, caller_location, current
from realta.errors import ArgumentError, DeviceError, ShapeError
from realta.graph import Value
from realta.ops import NO_ATTRS, Attributes, ConstantData, OpDef, get_op
from realta.plugins import current_device, current_dtype, is_host
from realta.tensor import Tensor, real_tensor, wrap
from realta.types import (
    INTEGERS,
    Dim,
    DType,
    Shape,
    TensorType,
    bool_,
    broadcast_shapes,
    convert_scalar,
    int64,
    is_weak,
    promote_all,
    tensor_type,
    weak_dtype,
)

__all__ = [
    "CONSTANTS", "apply", "apply_many", "as_tensor", "broadcast", "cast_to", "constant_of",
    "elementwise", "float_operand", "known_extent", "one_device", "promoted", "python_dtype",
    "recording", "reshaped", "same_shape", "same_version", "scalar_like", "to_device",
]  # fmt: skip

CONSTANTS: Final = frozenset({0.0, 1.0, -1.0, 2.0, 0.5})
"""Numbers so common that a graph holds them as constants; others are parameters (spec 7)."""
_PLAIN: Final = frozenset({bool, int, float})


def recording() -> RecordingContext:
    """The context that function bodies record into."""
    context = current.get()
    if context is None:
        raise RuntimeError("a function body ran outside a recording context")
    return context


def apply(name: str, *tensors: Tensor, **attrs: Any) -> Tensor:
    """Records one op of the registry and returns its result."""
    op = get_op(name)
    context = recording()
    return wrap(context, context.record(op, tensors, _attributes(op, attrs)))


def apply_many(name: str, *tensors: Tensor, **attrs: Any) -> tuple[Tensor, ...]:
    """Records one op of the registry and returns its results."""
    op = get_op(name)
    context = recording()
    node = context.record(op, tensors, _attributes(op, attrs))
    return tuple([wrap(context, value) for value in node.outputs])


def _attributes(op: OpDef, given: dict[str, Any]) -> Attributes:
    return op.make_attrs(given) if given or op.attrs else NO_ATTRS


def as_tensor(value: Any, device: str = "") -> Tensor:
    """A tensor from a tensor, a graph value, a NumPy array or scalar, or a Python number.

    Raises:
        ArgumentError: it is none of these.
    """
    if isinstance(value, Tensor):
        return value
    if isinstance(value, Value):
        return wrap(recording(), value)
    if isinstance(value, (np.ndarray, np.generic)) or is_weak(value):
        return Tensor(value, device=device or None)
    raise ArgumentError(
        f"expected a tensor or a number, got {type(value).__name__}",
        fix="wrap it, as in realta.Tensor(value)",
    )


def constant_of(array: Any, type: TensorType) -> Tensor:
    """A constant of the graph."""
    data = ConstantData(np.asarray(array, type.dtype.numpy))
    return apply("constant", value=data, device=type.device)


def python_dtype(value: bool | float) -> DType:
    """The dtype of a Python number on its own: bool, int64 or the default float."""
    if isinstance(value, bool):
        return bool_
    return int64 if isinstance(value, int) else current_dtype()


def scalar_like(value: Any, dtype: DType, device: str) -> Tensor:
    """A Python number as a 0-d tensor: a constant if it is a common one, else a parameter."""
    array = convert_scalar(value, dtype)
    type_ = tensor_type(dtype, (), device)
    negative_zero = isinstance(value, float) and value == 0.0 and str(value)[0] == "-"
    if type(value) in _PLAIN and value in CONSTANTS and not negative_zero:
        return constant_of(array, type_)
    return wrap(recording(), ScalarInput(value, array, type_))


def cast_to(tensor: Tensor, dtype: DType) -> Tensor:
    """The tensor itself if it has the dtype, else a cast."""
    return tensor if tensor._type.dtype is dtype else apply("cast", tensor, dtype=dtype)


def to_device(tensor: Tensor, device: str) -> Tensor:
    """The tensor itself if it is there, else a transfer."""
    return tensor if tensor._type.device == device else apply("transfer", tensor, device=device)


def same_shape(a: Shape, b: Shape) -> bool:
    """Whether two shapes are the same for all values of their names.

    Comparing extents with ``==`` would refuse to say whether ``batch`` is 1.
    """
    return a is b or (len(a) == len(b) and all(map(_same_extent, a, b)))


def _same_extent(a: int | Dim, b: int | Dim) -> bool:
    return type(a) is type(b) and (a == b if type(a) is int else str(a) == str(b))


def broadcast(tensor: Tensor, shape: Shape) -> Tensor:
    """The tensor itself if it has the shape, else a broadcast."""
    if same_shape(tensor._type.shape, shape):
        return tensor
    return apply("broadcast", tensor, shape=shape)


def reshaped(tensor: Tensor, shape: Sequence[Any]) -> Tensor:
    """The elements under another shape of as many elements; always a new handle."""
    wanted = tuple(shape)
    if same_shape(tensor._type.shape, wanted):
        return same_version(tensor)
    return apply("reshape", tensor, shape=wanted)


def same_version(tensor: Tensor) -> Tensor:
    """A new handle on the same version: what a function returns where nothing is to be done."""
    if tensor._settle():
        return real_tensor(tensor._storage)
    return wrap(tensor._context, tensor._value)


def known_extent(tensor: Tensor, axis: int) -> int:
    """The extent of an axis as an int.

    Raises:
        ShapeError: it is symbolic.
    """
    extent = tensor._type.shape[axis]
    if not isinstance(extent, int):
        raise ShapeError(
            f"axis {axis} of {tensor.type} has the symbolic extent {extent}, which is needed here",
            fix="declare that extent as a number",
        )
    return extent


def one_device(name: str, *values: Any) -> list[Tensor]:
    """Operands as tensors on one device: hosts mix, and 0-d host tensors go anywhere.

    Raises:
        DeviceError: they live on devices that do not mix.
    """
    return _gather_devices([as_tensor(v) for v in values], name)


def _gather_devices(tensors: Sequence[Tensor], name: str) -> list[Tensor]:
    devices = [t._type.device for t in tensors]
    if all(device == devices[0] for device in devices):
        return list(tensors)
    home = next((device for device in devices if not is_host(device)), devices[0])
    moved = []
    for tensor in tensors:
        device = tensor._type.device
        mixes = is_host(device) and (is_host(home) or not tensor._type.shape)
        if device != home and not mixes:
            raise DeviceError(
                f"{name} got tensors on {home} and on {device}",
                where=str(caller_location()),
                fix=f'move one of them, as in t.to("{home}")',
            )
        moved.append(to_device(tensor, home))
    return moved


def float_operand(name: str, value: Any) -> Tensor:
    """An operand as a float tensor: bools and integers are cast to the default float."""
    (tensor,) = one_device(name, value)
    return tensor if tensor.dtype.is_float else cast_to(tensor, current_dtype())


def promoted(name: str, *values: Any) -> list[Tensor]:
    """Operands on one device in their common dtype, Python numbers weak; shapes stay.

    Numbers alone take the dtypes that they have as tensors.
    """
    strong = [as_tensor(v) for v in values if not is_weak(v)]
    numbers = [v for v in values if is_weak(v)]
    if strong:
        strong = _gather_devices(strong, name)
        dtype = promote_all([t._type.dtype for t in strong])
        for number in numbers:
            dtype = weak_dtype(number, dtype, default_float=current_dtype())
    else:
        dtype = promote_all([python_dtype(n) for n in numbers])
    device = strong[0]._type.device if strong else current_device()
    rest = iter(strong)
    return [
        scalar_like(v, dtype, device) if is_weak(v) else cast_to(next(rest), dtype) for v in values
    ]


def _common_dtype(op: OpDef, dtypes: Sequence[DType], numbers: Sequence[Any]) -> DType:
    dtype = promote_all(dtypes)
    if not dtype.is_float and op.dtypes.isdisjoint(INTEGERS):
        # A function of floats only computes integers in the default float.
        dtype = bool_ if dtype is bool_ and bool_ in op.dtypes else current_dtype()
    for number in numbers:
        dtype = weak_dtype(number, dtype, default_float=current_dtype())
    return dtype


def elementwise(
    op: OpDef, *values: Any, dtype: DType | None = None, attrs: Attributes = NO_ATTRS
) -> Tensor:
    """Applies an elementwise op with promotion and broadcasting made explicit.

    Args:
        op: the op.
        values: operands: tensors, arrays, graph values, Python numbers.
        dtype: dtype of the operands, in place of the one promotion gives.
        attrs: the op's attributes.

    Raises:
        ShapeError, DTypeError, DeviceError, ScalarOverflowError: they do not fit together.
    """
    context = recording()
    numbers = [v for v in values if is_weak(v)]
    strong = [as_tensor(v) for v in values if not is_weak(v)]
    if strong:
        strong = _gather_devices(strong, op.name)
        dtypes = [t._type.dtype for t in strong]
        device = strong[0]._type.device
    else:
        dtypes = [python_dtype(n) for n in numbers]
        device = current_device()
    common = dtype or _common_dtype(op, dtypes, numbers if strong else ())
    shape = broadcast_shapes(*[t._type.shape for t in strong])
    rest = iter(strong)
    operands = [
        scalar_like(v, common, device) if is_weak(v) else cast_to(next(rest), common)
        for v in values
    ]
    return wrap(context, context.record(op, [broadcast(t, shape) for t in operands], attrs))
