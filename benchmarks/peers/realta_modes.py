"""Realta as a peer on one device: compiled ahead of time, as a region, and eager.

The device is `numpy:0` unless REALTA_BENCH_DEVICE names another.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import realta
from realta import F

from benchmarks.peers import Prepared
from benchmarks.workloads import EPSILON, SHIFT, SLOPE, Workload

__all__ = ["DEVICE", "FORMULAS", "prepare"]

DEVICE = os.environ.get("REALTA_BENCH_DEVICE", "numpy:0")
WARM_UP = 3


def chain(x: realta.Tensor) -> realta.Tensor:
    """W1."""
    return F.relu(x * SLOPE + SHIFT) * F.sigmoid(x) - 0.5


def gelu(x: realta.Tensor) -> realta.Tensor:
    """W2."""
    return F.gelu(x, approximate="tanh")


def softmax(x: realta.Tensor) -> realta.Tensor:
    """W3."""
    return F.softmax(x, axis=-1)


def layer_norm(x: realta.Tensor, weight: realta.Tensor, bias: realta.Tensor) -> realta.Tensor:
    """W4."""
    return F.layer_norm(x, weight, bias, EPSILON)


def add(t: realta.Tensor, u: realta.Tensor) -> realta.Tensor:
    """W8a."""
    return t + u


def twenty(x: realta.Tensor, y: realta.Tensor) -> realta.Tensor:
    """W8b."""
    z = x
    for _ in range(5):
        z = F.relu(z * y + x) - y
    return z


FORMULAS: dict[str, Callable[..., realta.Tensor]] = {
    "W1": chain,
    "W2": gelu,
    "W3": softmax,
    "W4": layer_norm,
    "W8a": add,
    "W8b": twenty,
}


def compiled(workload: Workload) -> Callable[..., realta.Tensor]:
    """Compiles a workload's formula for its shapes."""
    types = [realta.TensorType("float32", shape, DEVICE) for shape in workload.shapes]
    program: Callable[..., realta.Tensor] = realta.compile(FORMULAS[workload.id])(*types)
    return program


def prepare(peer: str, workload: Workload) -> Prepared:
    """Moves the inputs to the device, compiles or makes a region, and warms up."""
    tensors = [realta.Tensor(array, device=DEVICE) for array in workload.inputs()]
    names: dict[str, Any] = dict(zip("xyz", tensors, strict=False))
    if workload.id == "W8a":
        return Prepared("result = x + y", names, lambda: (tensors[0] + tensors[1]).numpy())
    if peer == "realta region":
        compute = F.functional(FORMULAS[workload.id])
    else:
        compute = compiled(workload)
    for _ in range(WARM_UP):
        compute(*tensors)
    statement = f"result = compute({', '.join(names)})"
    return Prepared(statement, names | {"compute": compute}, lambda: compute(*tensors).numpy())
