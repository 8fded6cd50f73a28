"""Arguments: what functions make of their operands: tensors, promotion, broadcasting, one device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from realta.context import RecordingContext, ScalarInput, caller_location, current
from realta.errors import ArgumentError, DeviceError, RealtaError
from realta.graph import Value
from realta.ops import NO_ATTRS, ConstantData, OpDef, get_op
from realta.plugins import current_device, current_dtype, is_host
from realta.tensor import Tensor, real_tensor, wrap
from realta.types import (
    DType,
    Shape,
    TensorType,
    broadcast_shapes,
    convert_scalar,
    is_weak,
    promote_all,
    tensor_type,
    weak_dtype,
)

__all__ = [
    "apply", "as_tensor", "broadcast_tensors", "cast_to", "constant_of", "elementwise", "recording",
    "scalar_like", "to_device",
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


def apply(name: str, *tensors: Tensor, **attrs: Any) -> Any:
    """Records one op of the registry; returns its result, or a tuple of several."""
    op = get_op(name)
    return record(op, tensors, op.make_attrs(attrs) if op.attrs else NO_ATTRS)


def record(op: OpDef, tensors: Sequence[Tensor], attrs: Any) -> Any:
    """Records one op with finished attributes."""
    context = recording()
    node = context.record(op, tensors, attrs)
    if op.results == 1:
        return wrap(context, node)
    return tuple([wrap(context, value) for value in node.outputs])


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
        where=str(caller_location()),
        fix="wrap it, as in realta.Tensor(value)",
    )


def constant_of(array: Any, type: TensorType) -> Tensor:
    """A constant of the graph."""
    data = ConstantData(np.asarray(array, type.dtype.numpy))
    return apply("constant", value=data, device=type.device)  # type: ignore[no-any-return]


def scalar_like(value: Any, dtype: DType, device: str) -> Tensor:
    """A Python number as a 0-d tensor of the graph: a constant if it is a common one, else a parameter."""
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


def _gather_devices(tensors: Sequence[Tensor], name: str) -> list[Tensor]:
    """Brings operands to one device where the rules allow it: hosts mix, 0-d host tensors go anywhere."""
    first = tensors[0]._type.device
    if all(t._type.device == first for t in tensors):
        return list(tensors)
    leading = next((t for t in tensors if t._type.shape or not is_host(t._type.device)), tensors[0])
    home = leading._type.device
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


def one_device(name: str, *values: Any) -> list[Tensor]:
    """Operands as tensors on one device."""
    tensors = [as_tensor(v) for v in values]
    return _gather_devices(tensors, name)


def _common_dtype(op: OpDef, tensors: Sequence[Tensor], scalars: Sequence[Any]) -> DType:
    dtype = promote_all([t._type.dtype for t in tensors])
    for scalar in scalars:
        dtype = weak_dtype(scalar, dtype, default_float=current_dtype())
    if dtype not in op.dtypes and not dtype.is_float and current_dtype() in op.dtypes:
        return current_dtype()
    return dtype


def elementwise(op: OpDef, *values: Any, dtype: DType | None = None) -> Any:
    """Applies an elementwise op with promotion and broadcasting made explicit.

    Raises:
        ShapeError, DTypeError, DeviceError, ScalarOverflowError: naming the call and the line.
    """
    context = recording()
    weak = [v for v in values if is_weak(v) and not isinstance(v, Tensor)]
    strong = [v if isinstance(v, Tensor) else as_tensor(v) for v in values if not _is_scalar(v)]
    if not strong:
        strong, weak = [Tensor(values[0], device=current_device())], list(weak[1:])
        values = (strong[0], *values[1:])
    try:
        strong = _gather_devices(strong, op.name)
        common = dtype or _common_dtype(op, strong, weak)
        shape = broadcast_shapes(*[t._type.shape for t in strong])
    except RealtaError as error:
        shown = ", ".join([str(t._type) for t in strong])
        raise error.at(f"{op.name}({shown}) at {caller_location()}") from None
    device = strong[0]._type.device
    remaining = iter(strong)
    operands = [
        scalar_like(v, common, device) if _is_scalar(v) else cast_to(next(remaining), common)
        for v in values
    ]
    operands = [_broadcast(t, shape) for t in operands]
    node = context.record(op, operands, NO_ATTRS)
    return wrap(context, node)


def _is_scalar(value: Any) -> bool:
    return is_weak(value) and not isinstance(value, Tensor)


def _broadcast(tensor: Tensor, shape: Shape) -> Tensor:
    return tensor if tensor._type.shape == shape else apply("broadcast", tensor, shape=shape)


def broadcast_tensors(name: str, *values: Any) -> list[Tensor]:
    """Operands on one device, broadcast to one shape; dtypes stay."""
    tensors = one_device(name, *values)
    shape = broadcast_shapes(*[t._type.shape for t in tensors])
    return [_broadcast(t, shape) for t in tensors]


def same_version(tensor: Tensor) -> Tensor:
    """A new handle on the same version: what a function returns where nothing is to be done."""
    if tensor._settle():
        return real_tensor(tensor._storage)
    return wrap(tensor._context, tensor._value)
