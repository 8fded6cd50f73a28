"""The backend jax, of the graph tier: XLA compiles each graph as a whole, for the processor."""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from realta.backend import SPEC, DeviceInfo, Session, Unavailable, hookimpl

__all__ = ["Jax"]


class Jax:
    """The backend; its one device is ``jax:0``, JAX's first processor device."""

    name = "jax"
    spec = SPEC

    def probe(self) -> Sequence[DeviceInfo] | Unavailable:
        """The processor as JAX sees it. Importing JAX takes longer than importing realta."""
        try:
            devices = importlib.import_module("jax").devices("cpu")
        except (ImportError, RuntimeError) as error:
            return Unavailable(f"JAX does not start: {error}", "pip install --upgrade jax")
        return (DeviceInfo(0, f"XLA on {devices[0].device_kind}", kind="host"),)

    def open(self, device: DeviceInfo) -> Session:
        """A session on the processor."""
        opened: Session = importlib.import_module("realta_jax.session").JaxSession()
        return opened


@hookimpl
def realta_backends() -> list[Jax]:
    """What realta asks a plugin for."""
    return [Jax()]
