"""Opening: a device of an installed backend, by its name, for the suite alone."""

from __future__ import annotations

from typing import Final

from realta.plugins import backends, device_info, load_backend, resolve_device_name

from realta_conformance.device import Device

__all__ = ["distribution_of", "is_installed", "open_named"]

_HERE: Final = "(this process)"
"""What core calls the origin of a backend that was registered and not installed."""


def open_named(name: str) -> Device:
    """Opens a device of an installed backend, apart from core's own session of it.

    Raises:
        BackendNotFound, BackendUnavailable, DeviceError: there is none of that name.
    """
    canonical = resolve_device_name(name)
    info = device_info(canonical)
    backend = load_backend(canonical.partition(":")[0])
    return Device(canonical, backend, info, backend.open(info))


def distribution_of(name: str) -> str:
    """The distribution that brings the backend of a device; empty for one of this process."""
    backend = name.partition(":")[0]
    entry = next((e for e in backends() if e.name == backend), None)
    return "" if entry is None or entry.distribution == _HERE else entry.distribution


def is_installed(name: str) -> bool:
    """Whether another process finds the device too: its backend is installed, not registered."""
    return bool(distribution_of(resolve_device_name(name)))
