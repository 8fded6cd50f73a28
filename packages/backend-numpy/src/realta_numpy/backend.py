"""Backend: the plugin object that offers the host processor as ``numpy:0``."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from typing import Final

from realta.backend import SPEC, Backend, DeviceInfo, Session, Unavailable, hookimpl

from realta_numpy.session import NumpySession

__all__ = ["NumpyBackend", "plugin"]


class NumpyBackend:
    """NumPy on the host processor; always available."""

    name = "numpy"
    spec = SPEC

    def probe(self) -> Sequence[DeviceInfo] | Unavailable:
        """The one device."""
        machine = platform.machine() or "host"
        return (DeviceInfo(0, f"NumPy on {machine}", kind="host", memory_bytes=_memory_bytes()),)

    def open(self, device: DeviceInfo) -> Session:
        """Opens it."""
        return NumpySession()


def _memory_bytes() -> int | None:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return None


class _Plugin:
    """What the entry point names."""

    @hookimpl
    def realta_backends(self) -> list[Backend]:
        """The NumPy backend."""
        return [NumpyBackend()]


plugin: Final = _Plugin()
