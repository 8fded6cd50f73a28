"""Inspection: what the namespace offers on which devices."""

from __future__ import annotations

from typing import Any, Final

from realta.array_api.data_types import isdtype
from realta.plugins import Device, current_device, current_dtype, device_of, devices
from realta.types import BY_NAME, DType, int64

__all__ = ["NamespaceInfo", "namespace_info"]

_STANDARD: Final = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32",
    "float64",
)  # fmt: skip
"""Dtypes that the standard names; this library has more, which are no part of it."""


class NamespaceInfo:
    """What ``__array_namespace_info__()`` gives."""

    __slots__ = ()

    def capabilities(self) -> dict[str, Any]:
        """Whether masks can be read, whether shapes may depend on values, and how many axes fit."""
        return {
            "boolean indexing": True,
            "data-dependent shapes": True,
            "max dimensions": None,
        }

    def default_device(self) -> Device:
        """Where tensors are made if no device is given."""
        return device_of(current_device())

    def default_dtypes(self, *, device: Any = None) -> dict[str, DType]:
        """The dtypes of tensors that are made from Python numbers, and of indices.

        Args:
            device: where; they are the same everywhere.
        """
        if device is not None:
            device_of(device)
        return {"real floating": current_dtype(), "integral": int64, "indexing": int64}

    def devices(self) -> tuple[Device, ...]:
        """All devices that compute here."""
        return tuple(devices())

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, DType]:
        """The standard's dtypes that a device has, by name.

        Args:
            device: where; they are the same everywhere, since what a device lacks runs on the
                reference device.
            kind: the kinds wanted, as in `isdtype`; all if None.
        """
        if device is not None:
            device_of(device)
        found = {name: BY_NAME[name] for name in _STANDARD}
        if kind is None:
            return found
        return {name: dtype for name, dtype in found.items() if isdtype(dtype, kind)}


def namespace_info() -> NamespaceInfo:
    """What the namespace offers: the standard's ``__array_namespace_info__``."""
    return NamespaceInfo()
