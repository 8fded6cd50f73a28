"""Failures: launches that raise in the middle of a graph, and allocations that cannot be."""

import gc

import numpy as np
import realta
from realta import F, Tensor
from realta.backend import OpByOpBackend
from realta.plugins import open_device

from tests.errors.catalogue import Place, wrong
from tests.errors.devices import registered


def _break(node: object, x: object) -> object:
    raise ArithmeticError("the unit is on fire")


class Fragile(OpByOpBackend):
    """A device whose exponential fails."""

    name = "fragile"
    kernels = {
        "add": lambda node, x, y: x + y,
        "mul": lambda node, x, y: x * y,
        "broadcast": lambda node, x: np.broadcast_to(x, node.attrs["shape"]),
        "exp": _break,
    }


class Untrue(OpByOpBackend):
    """A device whose addition gives another dtype."""

    name = "untrue"
    kernels = {"add": lambda node, x, y: (x + y).astype(np.float64)}


@wrong("a launch that raises, at the first use of its result")
def _(place: Place) -> object:
    with registered(Fragile()) as device:
        return Tensor([1.0, 2.0], device=device).exp().numpy()


@wrong("a region whose middle raises, at its end")
def _(place: Place) -> object:
    with registered(Fragile()) as device:
        x = Tensor([1.0, 2.0], device=device)
        return F.functional(lambda x: F.exp(x + x) * x)(x)


@wrong("a poisoned tensor, at a later use")
def _(place: Place) -> object:
    with registered(Fragile()) as device:
        x = Tensor([1.0, 2.0], device=device)
        kept = []
        try:
            F.functional(lambda x: kept.append(F.exp(x + x)) or kept[0] * x)(x)
        except realta.errors.ExecutionError:
            return kept[0] + x


@wrong("a lazy launch that raises")
def _(place: Place) -> object:
    with registered(Fragile()) as device:
        with realta.lazy():
            y = F.exp(Tensor([1.0, 2.0], device=device))
        return y.numpy()


@wrong("a backend that gives another dtype")
def _(place: Place) -> object:
    with registered(Untrue()) as device:
        x = Tensor([1.0, 2.0], device=device)
        return (x + x).numpy()


@wrong("an allocation over the limit")
def _(place: Place) -> object:
    pool = open_device("reference:0").pool
    place.undo.setattr(pool, "limit", 1 << 20)
    kept = realta.ones((1000,)) * 2.0
    return kept.sum() + realta.ones((1024, 1024))


@wrong("an allocation that no machine has")
def _(place: Place) -> object:
    gc.collect()
    return realta.zeros((1 << 20, 1 << 20, 64))


@wrong("an upload over the limit")
def _(place: Place) -> object:
    pool = open_device("reference:0").pool
    place.undo.setattr(pool, "limit", 1 << 20)
    return Tensor(np.zeros((1024, 1024)))
