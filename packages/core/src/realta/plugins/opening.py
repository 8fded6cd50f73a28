"""Opening: from a device's name to the open device, once per process."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Final

from realta import runtime
from realta.errors import ArgumentError, BackendNotFound, BackendUnavailable, DeviceError
from realta.locks import RLock
from realta.plugins.backends import backends, load_backend, probe_backend

__all__ = [
    "accelerators", "close_devices", "device_info", "is_host", "on_device_change", "open_device",
    "resolve_device_name",
]  # fmt: skip

_HOSTS: Final = ("llvm", "numpy", "reference")
"""What ``cpu`` stands for: the first of these that is installed and works."""
_LAST: Final = {"cuda": 0, "opencl": 2}

_lock: Final = RLock()
_names: Final[dict[str, str]] = {}
_hosts: Final[dict[str, bool]] = {}
_devices: Final[dict[str, runtime.OpenDevice]] = {}
_passed_over: Final[set[str]] = set()
_listeners: Final[list[Callable[[], None]]] = []


def resolve_device_name(name: str) -> str:
    """The canonical name: ``numpy`` is ``numpy:0``, ``cpu`` the best installed host backend.

    Args:
        name: ``backend``, ``backend:index``, ``backend:alias`` or ``cpu``.

    Raises:
        ArgumentError: it is not a device name.
        BackendNotFound, BackendUnavailable: no such backend, or it cannot be used.
        DeviceError: the backend has no device of that alias.
    """
    found = _names.get(name)
    if found is None:
        with _lock:
            found = _resolve(name)
            _names[name] = found
    return found


def open_device(name: str) -> runtime.OpenDevice:
    """The open device of a name; opened at the first call, by whichever thread.

    Raises:
        BackendNotFound, BackendUnavailable, DeviceError: see `resolve_device_name`.
    """
    found = _devices.get(name)
    if found is not None and found.lost is None:
        return found
    canonical = resolve_device_name(name)
    with _lock:
        found = _devices.get(canonical)
        if found is None or _may_reopen(found):
            info = device_info(canonical)
            backend = load_backend(canonical.partition(":")[0])
            found = runtime.OpenDevice(canonical, info, backend, backend.open(info))
            _devices[canonical] = found
            _tell_listeners()
        _devices[name] = found
    return found


def on_device_change(listener: Callable[[], None]) -> None:
    """Calls ``listener`` whenever a device was opened or closed: what was kept of it is stale."""
    _listeners.append(listener)


def device_info(name: str) -> runtime.DeviceInfo:
    """What the probe said about a device.

    Raises:
        BackendNotFound, BackendUnavailable: see `resolve_device_name`.
        DeviceError: the backend has no device of that number.
    """
    canonical = resolve_device_name(name)
    backend, _, index = canonical.partition(":")
    infos = probe_backend(backend)
    for info in infos:
        if info.index == int(index):
            return info
    raise _no_device(backend, canonical, infos)


def is_host(name: str) -> bool:
    """Whether a device's memory is host memory."""
    found = _hosts.get(name)
    if found is None:
        found = device_info(name).kind == "host"
        _hosts[name] = found
    return found


def accelerators() -> list[str]:
    """Every device that is an accelerator: cuda first, then the others by name, opencl last."""
    found = []
    for entry in backends(probe=True):
        if entry.state == "available":
            infos = probe_backend(entry.name)
            found += [(entry.name, info.index) for info in infos if info.kind == "accelerator"]
    found.sort(key=lambda item: (_LAST.get(item[0], 1), *item))
    return [f"{name}:{index}" for name, index in found]


def close_devices(backend: str = "") -> None:
    """Closes the open devices of a backend, or all of them, and forgets what names resolved to."""
    with _lock:
        for device in runtime.open_devices():
            if not backend or device.name.partition(":")[0] == backend:
                device.close()
        for name, device in list(_devices.items()):
            if not backend or device.name.partition(":")[0] == backend:
                del _devices[name]
        _names.clear()
        _hosts.clear()
        _passed_over.clear()
        _tell_listeners()


def _tell_listeners() -> None:
    for listener in _listeners:
        listener()


def _may_reopen(device: runtime.OpenDevice) -> bool:
    # A fatal fault leaves the hardware usable by a new session; a fork does not.
    return bool(getattr(device.lost, "fatal", False))


def _resolve(name: str) -> str:
    backend, colon, rest = name.partition(":")
    if not backend or (colon and not rest) or ":" in rest:
        raise ArgumentError(
            f"{name!r} is not a device name",
            where=f"device {name!r}",
            fix='write it like "cpu", "numpy:0" or "cuda:1"',
        )
    if backend == "cpu":
        backend = _best_host()
    load = _known_backend(backend, name)
    if not rest or rest.isdecimal():
        return f"{backend}:{int(rest or 0)}"
    for info in probe_backend(load):
        if rest in info.aliases or rest == info.uid:
            return f"{backend}:{info.index}"
    raise _no_device(backend, name, probe_backend(load))


def _known_backend(backend: str, name: str) -> str:
    for entry in backends():
        if entry.name == backend and entry.state in ("installed", "available"):
            return backend
    try:
        load_backend(backend)
    except DeviceError as error:
        error.where = error.where or f"device {name!r}"
        raise
    return backend


def _best_host() -> str:
    states = {entry.name: entry for entry in backends()}
    for backend in _HOSTS:
        if backend not in states or states[backend].state == "disabled":
            continue
        try:
            probe_backend(backend)
        except (BackendNotFound, BackendUnavailable) as error:
            if backend not in _passed_over:
                _passed_over.add(backend)
                warnings.warn(
                    f"cpu does not mean {backend}:0 although it is installed: {error.what}. "
                    f"{error.fix}",
                    RuntimeWarning,
                    stacklevel=4,
                )
            continue
        return backend
    raise BackendUnavailable(
        "no host backend works", where="device 'cpu'", fix="pip install realta-numpy"
    )


def _no_device(backend: str, name: str, infos: tuple[runtime.DeviceInfo, ...]) -> DeviceError:
    shown = ", ".join(
        f"{backend}:{info.index} ({info.name}"
        + (f", also {backend}:{info.aliases[0]})" if info.aliases else ")")
        for info in infos
    )
    return DeviceError(
        f"the backend {backend!r} has no device {name.partition(':')[2]}",
        where=f"device {name!r}",
        fix=f"it has {shown}",
    )


runtime.set_device_resolver(open_device)
