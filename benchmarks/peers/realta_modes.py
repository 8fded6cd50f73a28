"""Realta as a peer: compiled ahead of time, as a region, and eager; and on OpenCL devices.

The device is `numpy:0` unless REALTA_BENCH_DEVICE names another, or the peer does.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import realta
from realta import F

from benchmarks.peers import Prepared
from benchmarks.workloads import DRAWN, EPSILON, SHIFT, SLOPE, Workload

__all__ = ["DEVICE", "FORMULAS", "prepare"]

DEVICE = os.environ.get("REALTA_BENCH_DEVICE", "numpy:0")
DEVICES = {"realta llvm": "llvm:0", "realta pocl": "opencl:pocl", "realta intel": "opencl:intel"}
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


def sum_first(x: realta.Tensor) -> realta.Tensor:
    """W5a."""
    return F.sum(x, axis=0)


def sum_last(x: realta.Tensor) -> realta.Tensor:
    """W5b."""
    return F.sum(x, axis=1)


def sum_all(x: realta.Tensor) -> realta.Tensor:
    """W5c."""
    return F.sum(x)


def attention(q: realta.Tensor, k: realta.Tensor, v: realta.Tensor) -> realta.Tensor:
    """W10."""
    return F.attention(q, k, v)


def transpose_add(x: realta.Tensor, y: realta.Tensor) -> realta.Tensor:
    """W11."""
    return F.matrix_transpose(x) + y


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
    "W5a": sum_first,
    "W5b": sum_last,
    "W5c": sum_all,
    "W10": attention,
    "W11": transpose_add,
    "W8a": add,
    "W8b": twenty,
}


def compiled(workload: Workload, device: str = DEVICE) -> Callable[..., realta.Tensor]:
    """Compiles a workload's formula for its shapes."""
    types = [realta.TensorType("float32", shape, device) for shape in workload.shapes]
    formula = FORMULAS.get(workload.id) or partial(realta.random.normal, (DRAWN,), device=device)
    program: Callable[..., realta.Tensor] = realta.compile(formula)(*types)
    return program


def prepare(peer: str, workload: Workload) -> Prepared:
    """Moves the inputs to the device, compiles or makes a region, and warms up."""
    device = DEVICES.get(peer, DEVICE)
    tensors = [realta.Tensor(array, device=device) for array in workload.inputs()]
    names: dict[str, Any] = dict(zip("xyz", tensors, strict=False))
    if workload.id == "W8a":
        return Prepared("result = x + y", names, lambda: (tensors[0] + tensors[1]).numpy())
    if peer == "realta region":
        compute = F.functional(FORMULAS[workload.id])
    else:
        compute = compiled(workload, device)
    for _ in range(WARM_UP):
        compute(*tensors).realize()
    # A device may still be computing when the call returns; a host never is.
    wait = ".realize()" if peer in DEVICES and peer != "realta llvm" else ""
    statement = f"result = compute({', '.join(names)}){wait}"
    return Prepared(statement, names | {"compute": compute}, lambda: compute(*tensors).numpy())
