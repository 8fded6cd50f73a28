"""Defaults: the device and the dtype that creation functions use where none is given."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from realta.errors import DTypeError
from realta.plugins.device import Device, device_of
from realta.plugins.opening import resolve_device_name
from realta.types import DType, as_dtype, float32

__all__ = [
    "chosen_defaults", "current_device", "current_dtype", "default_device", "default_dtype",
    "defaults", "defaults_like", "set_default_device", "set_default_dtype",
]  # fmt: skip

_device: Final[ContextVar[str | None]] = ContextVar("default device", default=None)
_dtype: Final[ContextVar[DType | None]] = ContextVar("default dtype", default=None)
_process: Final[dict[str, Any]] = {}


def current_device() -> str:
    """Canonical name of the default device.

    That of the innermost `default_device` block, else the one set with `set_default_device`, else
    ``REALTA_DEVICE``, else ``cpu``.
    """
    found = _device.get() or _process.get("device")
    if found is not None:
        return found
    return resolve_device_name(os.environ.get("REALTA_DEVICE", "") or "cpu")


def chosen_defaults() -> tuple[object, object]:
    """What was chosen in the program, None where nothing was: a key for what depends on it."""
    return (
        _device.get() or _process.get("device"),
        _dtype.get() or _process.get("dtype"),
    )


def current_dtype() -> DType:
    """The default dtype; float32 unless changed."""
    return _dtype.get() or _process.get("dtype") or float32


@contextmanager
def default_device(device: str | Device) -> Iterator[Device]:
    """Makes a device the default in the block, in this thread or task.

    Raises:
        BackendNotFound, BackendUnavailable, ArgumentError: there is no such device.
    """
    chosen = device_of(device)
    token = _device.set(chosen.name)
    try:
        yield chosen
    finally:
        _device.reset(token)


@contextmanager
def default_dtype(dtype: object) -> Iterator[DType]:
    """Makes a floating-point dtype the default in the block, in this thread or task.

    Raises:
        DTypeError: it is not a floating-point dtype.
    """
    chosen = _float(dtype)
    token = _dtype.set(chosen)
    try:
        yield chosen
    finally:
        _dtype.reset(token)


@contextmanager
def defaults_like(tensor: Any) -> Iterator[tuple[DType, Device]]:
    """Makes the dtype and device of a tensor the defaults in the block.

    Raises:
        DTypeError: its dtype is not floating-point.
    """
    with default_dtype(tensor.dtype) as dtype, default_device(tensor.device) as device:
        yield dtype, device


def set_default_device(device: str | Device | None) -> None:
    """Sets the default device process-wide; None goes back to ``REALTA_DEVICE`` or ``cpu``.

    Raises:
        BackendNotFound, BackendUnavailable, ArgumentError: there is no such device.
    """
    _process["device"] = None if device is None else device_of(device).name


def set_default_dtype(dtype: object | None) -> None:
    """Sets the default dtype process-wide; None goes back to float32.

    Raises:
        DTypeError: it is not a floating-point dtype.
    """
    _process["dtype"] = None if dtype is None else _float(dtype)


def defaults(
    dtype: object | None = None, device: str | Device | None = None
) -> tuple[DType, Device]:
    """What creation functions use: the given dtype and device, the defaults in place of None.

    Raises:
        DTypeError, BackendNotFound, BackendUnavailable, ArgumentError: what was given is none.
    """
    chosen = current_dtype() if dtype is None else as_dtype(dtype)
    return chosen, device_of(current_device() if device is None else device)


def _float(dtype: object) -> DType:
    found = as_dtype(dtype)
    if not found.is_float:
        raise DTypeError(
            f"the default dtype is a floating-point one, got {found}",
            fix="pass dtype= to the creation function for integers and bools",
        )
    return found
