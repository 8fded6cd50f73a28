"""Worker: the process that runs units on a device and says what it found.

    python -m realta_conformance.worker READ_FD WRITE_FD WATCHDOG_FD OPENER DEVICE

Talks to its parent in pickled tuples: ``("ready", Description)`` or ``("error", RealtaError)``
first, then for each unit that it is sent ``("done", Result)``, or ``("broken", text)`` if the suite
itself raised. It ends when its parent does.
"""

from __future__ import annotations

import faulthandler
import importlib
import signal
import sys
import traceback
import warnings
from multiprocessing.connection import Connection

from realta.errors import DeviceError, RealtaError

from realta_conformance.device import Device
from realta_conformance.units import perform
from realta_conformance.watchdog import Watchdog

__all__ = ["main"]


def _open(opener: str, name: str) -> Device:
    module, _, function = opener.partition(":")
    found = getattr(importlib.import_module(module), function)(name)
    if not isinstance(found, Device):
        raise TypeError(f"{opener} gave a {type(found).__name__}, no Device")
    return found


def _serve(source: Connection, target: Connection, device: Device) -> None:
    while True:
        try:
            unit = source.recv()
        except EOFError:
            return
        try:
            answer: tuple[str, object] = ("done", perform(device, unit))
        except Exception:
            answer = ("broken", traceback.format_exc())
        target.send(answer)


def main(arguments: list[str]) -> int:
    """Opens the device, serves units until the parent closes its end; returns the exit code."""
    read_fd, write_fd, watchdog_fd, opener, name = arguments
    source = Connection(int(read_fd), writable=False)
    target = Connection(int(write_fd), readable=False)
    faulthandler.enable()
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    warnings.simplefilter("default")
    try:
        device = _open(opener, name)
        target.send(("ready", device.description))
    except RealtaError as error:
        target.send(("error", error))
        return 1
    except Exception as error:
        target.send(("error", DeviceError(f"{name} could not be opened: {error}")))
        return 1
    device.watch = Watchdog(fd=int(watchdog_fd)).mark
    try:
        _serve(source, target, device)
    except BrokenPipeError:
        return 1  # the parent is gone, and with it whoever would read an error
    finally:
        device.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
