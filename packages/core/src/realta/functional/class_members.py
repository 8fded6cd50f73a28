"""Class members: functions that make tensors, as ``Tensor.zeros`` and the like, by MAX's names."""

from __future__ import annotations

from typing import Any, Final

from realta.functional.arguments import apply, as_tensor, cast_to, reshaped
from realta.functional.creation import (
    arange,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from realta.functional.operation import operation
from realta.on_demand import on_demand
from realta.tensor import Tensor
from realta.types import TensorType, int64

__all__ = [
    "arange", "from_dim", "from_dlpack", "full", "full_like", "ones", "ones_like", "range_like",
    "zeros", "zeros_like",
]  # fmt: skip

_interchange: Final = on_demand("realta", {"interchange": ("from_dlpack",)})


def from_dlpack(array: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor from any object with ``__dlpack__``: the same as `realta.from_dlpack`."""
    made: Tensor = _interchange("from_dlpack")(array, device=device, copy=copy)
    return made


@operation
def range_like(like: Any) -> Tensor:
    """Counts along the last axis, in the shape, dtype and device of a tensor or a tensor type."""
    type_ = like if isinstance(like, TensorType) else as_tensor(like)._type
    device = type_.device or as_tensor(0)._type.device
    if not type_.shape:
        return arange(1, dtype=type_.dtype, device=device)[0]
    last = len(type_.shape) - 1
    line = apply("iota", shape=type_.shape, axis=last, dtype=int64, device=device)
    return cast_to(line, type_.dtype)


@operation
def _extent(dim: Any) -> Tensor:
    shape_to_tensor: Any = _later("shape_to_tensor")
    return reshaped(shape_to_tensor([dim]), ())


def from_dim(dim: Any) -> Tensor:
    """An extent as a 0-d int64 tensor on the host; a symbolic one is known when the graph runs."""
    return _extent(dim)


_later: Final = on_demand("realta.functional", {"shape_values": ("shape_to_tensor",)})
