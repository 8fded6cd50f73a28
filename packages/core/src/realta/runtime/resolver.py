"""Device resolver: how a device's name becomes an open device; set by the layer above."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from realta.errors import DeviceError

if TYPE_CHECKING:
    from realta.runtime.device import OpenDevice

__all__ = ["resolve", "set_device_resolver"]

_resolver: list[Callable[[str], OpenDevice]] = []


def set_device_resolver(resolver: Callable[[str], OpenDevice]) -> None:
    """Says how a device name becomes an open device; the plugins layer above calls this."""
    _resolver[:] = [resolver]


def resolve(name: str) -> OpenDevice:
    """The open device of that name, opened if need be.

    Raises:
        BackendNotFound, BackendUnavailable, DeviceError: there is none, or it cannot be opened.
    """
    if not _resolver:
        raise DeviceError(
            f"the device {name!r} is not open and nothing can open it",
            fix="import realta.plugins, which finds backends",
        )
    return _resolver[0](name)
