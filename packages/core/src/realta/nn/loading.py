"""Loading: whether a value fits a parameter, and the tensor that it becomes."""

from __future__ import annotations

from typing import Any

from realta.errors import DTypeError, ShapeError
from realta.tensor import Tensor, real_tensor

__all__ = ["fitting"]


def fitting(name: str, parameter: Tensor, value: Any, auto_cast: bool) -> Tensor:
    """A real tensor of the parameter's type with the given values.

    Args:
        name: name of the parameter, for errors.
        parameter: what is loaded into; it is not changed and need not be real.
        value: tensor or array.
        auto_cast: whether another dtype is cast.

    Raises:
        ShapeError, DTypeError: the value does not fit.
    """
    tensor = value if isinstance(value, Tensor) else Tensor(value, device=parameter._type.device)
    where = f"loading {name!r}, which is {parameter.type}"
    if tensor.shape != parameter.shape:
        raise ShapeError(
            f"the value for {name!r} has shape {tensor.shape}, the parameter {parameter.shape}",
            where=where,
            fix="load the checkpoint of this model",
        )
    if tensor.dtype is not parameter.dtype:
        if not auto_cast:
            raise DTypeError(
                f"the value for {name!r} is {tensor.dtype}, the parameter {parameter.dtype}",
                where=where,
                fix="load with auto_cast=True, or cast it first",
            )
        tensor = tensor.cast(parameter.dtype)
    if tensor._type.device != parameter._type.device:
        tensor = tensor.to(parameter._type.device)
    return real_tensor(tensor._real_storage())
