"""Backend: the plugin object that offers the processor as ``llvm:0``."""

from __future__ import annotations

import importlib
import importlib.util
import platform
from collections.abc import Sequence
from typing import Any, Final

from realta.backend import SPEC, Backend, DeviceInfo, Session, Unavailable, hookimpl

__all__ = ["LLVMBackend", "plugin"]


class LLVMBackend:
    """The processor of this machine. Loading and probing it imports no LLVM."""

    name = "llvm"
    spec = SPEC

    def probe(self) -> Sequence[DeviceInfo] | Unavailable:
        """One device, if llvmlite is here."""
        if importlib.util.find_spec("llvmlite") is None:
            return Unavailable("llvmlite is not installed", "pip install llvmlite")
        return (DeviceInfo(0, platform.processor() or platform.machine(), kind="host"),)

    def open(self, device: DeviceInfo) -> Session:
        """Opens the processor.

        Raises:
            ArgumentError: ``REALTA_LLVM_WIDTH`` is no width.
        """
        # LLVM and the kernel toolkit take time to import: only who computes pays it.
        machine = importlib.import_module("realta_llvm.machine")
        session = importlib.import_module("realta_llvm.session")
        opened: Session = session.LLVMSession(machine.this_machine(), machine.host_width())
        return opened


class _Plugin:
    """What the entry point names."""

    @hookimpl
    def realta_backends(self) -> list[Backend]:
        """The LLVM backend."""
        return [LLVMBackend()]


plugin: Final[Any] = _Plugin()
