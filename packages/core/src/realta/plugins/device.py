"""Device: a device by name, resolved when it is made."""

from __future__ import annotations

import warnings
from typing import Any, Final

from realta import runtime
from realta.errors import ArgumentError, BackendNotFound, BackendUnavailable, DeviceError
from realta.plugins.backends import backends, probe_backend
from realta.plugins.opening import (
    accelerators,
    device_info,
    is_host,
    open_device,
    resolve_device_name,
)

__all__ = ["CPU", "Accelerator", "Device", "device_of", "devices"]


class Device:
    """A device: ``Device("numpy", 0)``, ``Device("cuda:1")``, ``Device("cpu")``.

    Aliases resolve here, so that two devices are equal iff they are the same one.

    Args:
        name: backend name, or a full device name, or another device.
        index: number of the device where the name has none.

    Attributes:
        name: canonical name such as ``numpy:0``.

    Raises:
        BackendNotFound: no backend of that name is installed.
        BackendUnavailable: it is installed, but cannot be used.
        ArgumentError: the name is none.
    """

    __slots__ = ("name",)

    name: str

    def __init__(self, name: str | Device, index: int | None = None) -> None:
        given = name.name if isinstance(name, Device) else name
        if not isinstance(given, str):
            raise ArgumentError(
                f"a device is given by its name, got {type(given).__name__}",
                fix='write it like "cpu", "numpy:0" or "cuda:1"',
            )
        if index is not None:
            if ":" in given:
                raise ArgumentError(
                    f"{given!r} has an index already, so {index} is one too many",
                    where=f"Device({given!r}, {index!r})",
                    fix="leave one of them out",
                )
            if type(index) is not int or index < 0:
                raise ArgumentError(
                    f"a device's index is an int >= 0, got {index!r}",
                    where=f"Device({given!r}, {index!r})",
                    fix="count devices from 0",
                )
            given = f"{given}:{index}"
        self.name = resolve_device_name(given)

    @property
    def backend(self) -> str:
        """Name of its backend."""
        return self.name.partition(":")[0]

    @property
    def index(self) -> int:
        """Its number in the backend's order."""
        return int(self.name.partition(":")[2])

    @property
    def is_host(self) -> bool:
        """Whether its memory is host memory."""
        return is_host(self.name)

    @property
    def info(self) -> runtime.DeviceInfo:
        """What the backend says about it."""
        return device_info(self.name)

    def open(self) -> runtime.OpenDevice:
        """The open device."""
        return open_device(self.name)

    def __eq__(self, other: object) -> bool:
        return self.name == other.name if isinstance(other, Device) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.name)

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"Device({self.name!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (self.name, self.is_host))


def _restore(name: str, host: bool) -> Device:
    try:
        return device_of(name)
    except (BackendNotFound, BackendUnavailable) as error:
        if not host:
            raise
        if name not in _missing:
            _missing.add(name)
            warnings.warn(
                f"{name} is not usable here ({error.what}), so what was on it is on cpu now",
                RuntimeWarning,
                stacklevel=2,
            )
        return device_of("cpu")


_missing: Final[set[str]] = set()
_made: Final[dict[str, Device]] = {}


def device_of(spec: str | Device) -> Device:
    """The device that a user gave by name or as a Device.

    Raises:
        BackendNotFound, BackendUnavailable, ArgumentError: see `Device`.
    """
    if isinstance(spec, Device):
        return spec
    if type(spec) is not str:
        return Device(spec)
    name = resolve_device_name(spec)
    found = _made.get(name)
    if found is None:
        found = _made.setdefault(name, Device(name))
    return found


def CPU(index: int = 0) -> Device:
    """The best installed host device."""
    return Device("cpu", index)


def Accelerator(index: int = 0) -> Device:
    """The accelerator of that number: cuda first, then others by name, opencl last.

    Raises:
        BackendUnavailable: there are not that many; the message lists what there is.
    """
    names = accelerators()
    if 0 <= index < len(names):
        return Device(names[index])
    others = [
        f"{e.name} ({e.reason})" for e in backends() if e.state not in ("installed", "available")
    ]
    raise BackendUnavailable(
        f"there is no accelerator {index}: {len(names)} found"
        + (f" ({', '.join(names)})" if names else ""),
        where=f"Accelerator({index})",
        fix="use CPU()" + (f"; not usable: {', '.join(others)}" if others else ""),
    )


def devices() -> list[Device]:
    """Every device of every installed backend that works, hosts included, by name."""
    found = []
    for entry in backends(probe=True):
        if entry.state == "available":
            try:
                infos = probe_backend(entry.name)
            except DeviceError:
                continue
            found += [Device(entry.name, info.index) for info in infos]
    return found
