"""Backend: the plugin object that offers every OpenCL device as ``opencl:i``."""

from __future__ import annotations

import importlib
import threading
from collections.abc import Sequence
from typing import Any, Final

from realta.backend import (
    SPEC,
    Backend,
    BackendUnavailable,
    DeviceInfo,
    Session,
    Unavailable,
    hookimpl,
)

from realta_opencl.discovery import Found, find_devices

__all__ = ["OpenCLBackend", "plugin"]


class OpenCLBackend:
    """Every OpenCL device of every driver. Loading it touches no driver; probing it does, once."""

    name = "opencl"
    spec = SPEC

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: list[Found] | Unavailable | None = None

    def probe(self) -> Sequence[DeviceInfo] | Unavailable:
        """The devices, or why there are none; asked of the drivers once."""
        found = self._devices()
        return found if isinstance(found, Unavailable) else [device.info for device in found]

    def open(self, device: DeviceInfo) -> Session:
        """Opens a device.

        Raises:
            BackendUnavailable: there are no devices, or the driver gives no context.
        """
        found = self._devices()
        if isinstance(found, Unavailable):
            raise BackendUnavailable(found.reason, where=f"opencl:{device.index}", fix=found.fix)
        # Listing devices needs no kernel toolkit, so what does is imported when one is opened.
        session = importlib.import_module("realta_opencl.session")
        opened: Session = session.open_session(found[device.index].device, device.index)
        return opened

    def _devices(self) -> list[Found] | Unavailable:
        with self._lock:
            if self._found is None:
                self._found = find_devices()
            return self._found


class _Plugin:
    """What the entry point names."""

    @hookimpl
    def realta_backends(self) -> list[Backend]:
        """The OpenCL backend."""
        return [OpenCLBackend()]


plugin: Final[Any] = _Plugin()
