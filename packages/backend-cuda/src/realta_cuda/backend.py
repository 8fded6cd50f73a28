"""Backend: the plugin object that offers every CUDA device as ``cuda:i``."""

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

from realta_cuda.discovery import find_devices

__all__ = ["CudaBackend", "plugin"]


class CudaBackend:
    """Every CUDA device. Loading it touches no driver; probing it does, once."""

    name = "cuda"
    spec = SPEC

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: Sequence[DeviceInfo] | Unavailable | None = None

    def probe(self) -> Sequence[DeviceInfo] | Unavailable:
        """The devices, or why there are none; asked of the driver once."""
        with self._lock:
            if self._found is None:
                self._found = find_devices()
            return self._found

    def open(self, device: DeviceInfo) -> Session:
        """Opens a device.

        Raises:
            BackendUnavailable: there are no devices, or the driver gives no context.
        """
        found = self.probe()
        if isinstance(found, Unavailable):
            raise BackendUnavailable(found.reason, where=f"cuda:{device.index}", fix=found.fix)
        # Only now: cuda.core without a driver raises at best, and waits for ever at worst.
        session = importlib.import_module("realta_cuda.session")
        opened: Session = session.open_session(device)
        return opened


class _Plugin:
    """What the entry point names."""

    @hookimpl
    def realta_backends(self) -> list[Backend]:
        """The CUDA backend."""
        return [CudaBackend()]


plugin: Final[Any] = _Plugin()
