"""Devices: names that are none, backends that are missing, disabled, broken or without hardware."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import realta
from realta import Tensor
from realta.backend import DeviceInfo, OpByOpBackend, Unavailable
from realta.plugins import close_devices, register_backend, unregister_backend

from tests.errors.catalogue import Place, wrong
from tests.errors.plugins import install


@contextmanager
def registered(backend: OpByOpBackend) -> Iterator[str]:
    register_backend(backend)
    try:
        yield f"{backend.name}:0"
    finally:
        close_devices(backend.name)
        unregister_backend(backend.name)


class Accelerator(OpByOpBackend):
    """A device whose memory is not the host's."""

    name = "faraway"
    kernels = {"add": lambda node, x, y: x + y}

    def probe(self) -> list[DeviceInfo]:
        return [DeviceInfo(0, "far away")]


class Absent(OpByOpBackend):
    """A backend whose hardware is not there."""

    name = "absent"
    kernels = {}

    def probe(self) -> Unavailable:
        return Unavailable("no driver was found", "install the driver from its vendor")


@wrong("an unknown backend, with those that are installed and those that cannot be used")
def _(place: Place) -> object:
    install(place, "realta-ancient", "ancient", group="realta.backends.v0")
    install(place, "realta-cracked", "cracked", source="raise RuntimeError('library too old')\n")
    place.undo.setenv("REALTA_PLUGINS", "ancient,cracked")
    realta.backends(probe=True)
    return Tensor([1.0], device="warp:1")


@wrong("a backend that can be installed")
def _(place: Place) -> object:
    # A function of that name hides the module from attribute look-up.
    place.undo.setattr(sys.modules["realta.plugins.backends"], "_PUBLISHED", ("holodeck",))
    place.undo.setenv("REALTA_PLUGINS", "off")
    return Tensor([1.0], device="holodeck")


@wrong("a name that is close to an installed one")
def _(place: Place) -> object:
    place.undo.setenv("REALTA_PLUGINS", "off")
    return Tensor([1.0], device="refrence")


@wrong("what is no device name")
def _(place: Place) -> object:
    return Tensor([1.0], device="numpy:0:1")


@wrong("a device of another number")
def _(place: Place) -> object:
    return Tensor([1.0], device="reference:3")


@wrong("a backend that the environment disables")
def _(place: Place) -> object:
    place.undo.setenv("REALTA_PLUGINS", "off")
    return Tensor([1.0], device="numpy")


@wrong("a plugin whose import raises")
def _(place: Place) -> object:
    install(place, "realta-cracked", "cracked", source="raise RuntimeError('library too old')\n")
    return Tensor([1.0], device="cracked")


@wrong("a plugin that needs what is not installed")
def _(place: Place) -> object:
    install(place, "realta-needy", "needy", source="import a_module_that_nobody_has\n")
    return Tensor([1.0], device="needy")


@wrong("a plugin without the backend it names")
def _(place: Place) -> object:
    source = (
        "from realta.backend import hookimpl\n\n@hookimpl\ndef realta_backends():\n    return []\n"
    )
    install(place, "realta-empty", "empty", source=source)
    return Tensor([1.0], device="empty")


@wrong("a plugin for another contract")
def _(place: Place) -> object:
    install(place, "realta-ancient", "ancient", group="realta.backends.v0")
    return Tensor([1.0], device="ancient")


@wrong("two distributions of one name")
def _(place: Place) -> object:
    install(place, "realta-twin", "twin")
    install(place, "other-twin", "twin")
    return Tensor([1.0], device="twin")


@wrong("a backend without its hardware")
def _(place: Place) -> object:
    with registered(Absent()) as device:
        return Tensor([1.0], device=device)


@wrong("an accelerator and a host in one op")
def _(place: Place) -> object:
    with registered(Accelerator()) as device:
        return Tensor([1.0, 2.0], device=device) + Tensor([1.0, 2.0])


@wrong("an accelerator where there is none")
def _(place: Place) -> object:
    place.undo.setenv("REALTA_PLUGINS", "off")
    return realta.Accelerator(0)


@wrong("an op that a device lacks, where fallback is an error")
def _(place: Place) -> object:
    place.undo.setenv("REALTA_FALLBACK", "error")
    with registered(Accelerator()) as device:
        return Tensor(np.ones(3, np.float32), device=device).exp().numpy()
