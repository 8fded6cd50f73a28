"""Deadly: backends for worker processes, some of which do not survive what they are asked."""

import os
import signal
import time

from realta.backend import DeviceInfo, OpByOpBackend
from realta.backend.reference import Reference
from realta.types import bool_, float32, int32, int64
from realta_conformance.device import open_backend

RIGHT = Reference.kernels


def dies(node, x):
    os.kill(os.getpid(), signal.SIGKILL)


def hangs(node, x):
    time.sleep(3600)


def exits(node, x):
    os._exit(3)


class Deadly(OpByOpBackend):
    """Adds, multiplies and does something to `neg`."""

    dtypes = frozenset({bool_, int32, int64, float32})

    def __init__(self, name, neg, exclusive=False):
        self.name = name
        self.kernels = {"add": RIGHT["add"], "mul": RIGHT["mul"], "neg": neg}
        self.exclusive = exclusive

    def probe(self):
        return (DeviceInfo(0, "deadly", kind="host", exclusive=self.exclusive),)


NEGS = {"healthy": RIGHT["neg"], "dies": dies, "hangs": hangs, "exits": exits}


def opened(name):
    """The device of that name, for workers and for tests."""
    kind = name.partition(":")[0]
    if kind == "unopened":
        raise RuntimeError("the lamp is off")
    if kind == "exclusive":
        return open_backend(Deadly("exclusive", RIGHT["neg"], exclusive=True))
    return open_backend(Deadly(kind, NEGS[kind]))
