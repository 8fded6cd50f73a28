"""PyTorch as a peer, eager and through `torch.compile`, both as shipped.

Default threads, default allocator, default compile options; tensors that ask for no gradients.
`torch inference` is eager PyTorch inside `inference_mode`, which a user has to ask for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from benchmarks.peers import Prepared
from benchmarks.workloads import DRAWN, EPSILON, SHIFT, SLOPE, Workload

__all__ = ["prepare"]

WARM_UP = 3
# Entered for the life of its process; it ends with the object, so the object is kept.
INFERENCE = torch.inference_mode()


def chain(x: torch.Tensor) -> torch.Tensor:
    """W1."""
    return torch.relu(x * SLOPE + SHIFT) * torch.sigmoid(x) - 0.5


def gelu(x: torch.Tensor) -> torch.Tensor:
    """W2."""
    return torch.nn.functional.gelu(x, approximate="tanh")


def softmax(x: torch.Tensor) -> torch.Tensor:
    """W3."""
    return torch.softmax(x, dim=-1)


def layer_norm(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
    """W4."""
    return torch.nn.functional.layer_norm(x, (x.shape[-1],), weight, bias, EPSILON)


def sum_first(x: torch.Tensor) -> torch.Tensor:
    """W5a."""
    return torch.sum(x, dim=0)


def sum_last(x: torch.Tensor) -> torch.Tensor:
    """W5b."""
    return torch.sum(x, dim=1)


def sum_all(x: torch.Tensor) -> torch.Tensor:
    """W5c."""
    return torch.sum(x)


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
    """W10."""
    return torch.nn.functional.scaled_dot_product_attention(q, k, v)


def transpose_add(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """W11."""
    return x.T + y


def draw() -> torch.Tensor:
    """W12."""
    return torch.randn(DRAWN)


def add(t: torch.Tensor, u: torch.Tensor) -> torch.Tensor:
    """W8a."""
    return t + u


def twenty(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """W8b."""
    z = x
    for _ in range(5):
        z = torch.relu(z * y + x) - y
    return z


FORMULAS: dict[str, Callable[..., torch.Tensor]] = {
    "W1": chain,
    "W2": gelu,
    "W3": softmax,
    "W4": layer_norm,
    "W5a": sum_first,
    "W5b": sum_last,
    "W5c": sum_all,
    "W10": attention,
    "W11": transpose_add,
    "W12": draw,
    "W8a": add,
    "W8b": twenty,
}


def prepare(peer: str, workload: Workload) -> Prepared:
    """Makes the tensors and, for `torch.compile`, compiles and warms up."""
    if peer == "torch inference" and not torch.is_inference_mode_enabled():
        INFERENCE.__enter__()
    compute = FORMULAS[workload.id]
    if peer == "torch.compile":
        torch.compiler.reset()
        compute = torch.compile(compute)
    tensors = [torch.from_numpy(array) for array in workload.inputs()]
    for _ in range(WARM_UP):
        compute(*tensors)
    names: dict[str, Any] = dict(zip("xyz", tensors, strict=False))
    if workload.id == "W8a":
        statement = "result = x + y"
    else:
        statement = f"result = compute({', '.join(names)})"
        names["compute"] = compute
    return Prepared(statement, names, lambda: compute(*tensors).numpy())
