"""Discovery: every OpenCL device in a stable order, with the names by which it can be asked for."""

from __future__ import annotations

import re
from typing import Any, Final, NamedTuple

from realta.backend import DeviceInfo, Unavailable

from realta_opencl.drivers import load_pyopencl, platforms

__all__ = ["Found", "find_devices"]

_VENDORS: Final = ("pocl", "intel", "nvidia", "amd", "apple", "oclgrind", "rusticl", "arm")
"""Short names of platforms; a platform is one of these if its name, vendor or version says so."""
_MIXED: Final = re.compile(r"[a-z0-9]+")


class Found(NamedTuple):
    """A device as the driver shows it, and as core does."""

    device: Any
    info: DeviceInfo


def find_devices() -> list[Found] | Unavailable:
    """Every device of every platform: GPUs first, then others, then CPUs; by platform and name.

    The order does not depend on that in which the loader finds drivers, so that ``opencl:0`` is the
    same device in each process.
    """
    known = platforms()
    if isinstance(known, Unavailable):
        return known
    cl = load_pyopencl()
    found = []
    refused = []
    for platform in known:
        try:
            devices = platform.get_devices()
        except cl.Error as error:
            refused.append(f"{platform.name} shows no device ({error})")
            continue
        found += [(_order(cl, device, n), device) for n, device in enumerate(devices)]
    if not found:
        why = "; ".join(refused) or f"{len(known)} platform(s) without a device"
        return Unavailable(
            f"no OpenCL device was found: {why}",
            "check that the driver fits the hardware with clinfo, and that you may use the device",
        )
    found.sort(key=lambda item: item[0])
    return [Found(device, _info(n, device)) for n, (_, device) in enumerate(found)]


def _order(cl: Any, device: Any, number: int) -> tuple[int, str, str, str, int]:
    kinds = (cl.device_type.GPU, cl.device_type.ACCELERATOR, cl.device_type.CPU)
    rank = next((n for n, kind in enumerate(kinds) if device.type & kind), len(kinds))
    platform = device.platform
    return rank, platform.name, platform.version, device.name.strip(), number


def _info(index: int, device: Any) -> DeviceInfo:
    platform = device.platform
    return DeviceInfo(
        index,
        f"{device.name.strip()} ({platform.name.strip()})",
        uid=_uid(device),
        aliases=_aliases(device),
        kind="accelerator",
        memory_bytes=int(device.global_mem_size),
    )


def _uid(device: Any) -> str:
    """What the driver calls the device, if it does."""
    try:
        return f"pci-{device.pci_bus_id_nv:02x}-{device.pci_slot_id_nv:02x}"
    except Exception:
        # Each driver has its own extension for this, and most have none.
        return ""


def _aliases(device: Any) -> tuple[str, ...]:
    """The short name of the platform, then the words of the platform's and device's names."""
    platform = device.platform
    about = f"{platform.name} {platform.vendor} {platform.version}".lower()
    short = [name for name in _VENDORS if re.search(rf"(?<![a-z]){name}(?![a-z])", about)]
    words = _MIXED.findall(f"{platform.name} {device.name}".lower())
    plain = [word for word in words if len(word) > 2 and not word.isdecimal()]
    return tuple(dict.fromkeys([*short, *plain]))
