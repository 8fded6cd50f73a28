"""Workloads: what is computed, on which inputs, and what NumPy says the result is.

Every peer computes the same formulas on the same inputs, which come from a seeded normal
distribution, and is compared with `Workload.expected` before it is timed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["DRAWN", "SHIFT", "SLOPE", "WORKLOADS", "Workload"]

Array = NDArray[Any]

SEED = 20_260
DRAWN = 10_000_000  # W12
SLOPE, SHIFT = 1.5, 0.25  # W1's a and b
EPSILON = 1e-5
TANH_SCALE, TANH_CUBIC = 0.7978845608028654, 0.044715  # sqrt(2/pi) and the cubic term of gelu


@dataclass(frozen=True, slots=True)
class Workload:
    """One computation.

    Attributes:
        id: the name in every table.
        what: the formula and the shape.
        shapes: shapes of the float32 inputs.
        expected: the formula in plain NumPy, one fresh array an operation; None for random draws,
            whose moments are compared with those of the normal distribution.
        peers: who computes it unless a check says otherwise.
        tolerance: largest absolute difference from `expected` that counts as the same result.
        window: seconds that one peer is measured without interruption.
    """

    id: str
    what: str
    shapes: tuple[tuple[int, ...], ...]
    expected: Callable[..., Array] | None
    peers: tuple[str, ...]
    tolerance: float = 2e-5
    window: float = 0.15

    def inputs(self) -> list[Array]:
        """Draws the inputs; the same ones in every process."""
        generator = np.random.default_rng(SEED)
        return [generator.standard_normal(shape, dtype=np.float32) for shape in self.shapes]


def chain(x: Array) -> Array:
    """W1: relu(a·x + b) · sigmoid(x) − 0.5."""
    relu = np.maximum(x * np.float32(SLOPE) + np.float32(SHIFT), np.float32(0))
    sigmoid = np.float32(1) / (np.float32(1) + np.exp(-x))
    result: Array = relu * sigmoid - np.float32(0.5)
    return result


def gelu(x: Array) -> Array:
    """W2: the tanh form of gelu (Hendrycks and Gimpel, arXiv:1606.08415)."""
    inner = np.float32(TANH_SCALE) * (x + np.float32(TANH_CUBIC) * (x * x * x))
    result: Array = np.float32(0.5) * x * (np.float32(1) + np.tanh(inner))
    return result


def softmax(x: Array) -> Array:
    """W3: softmax along the last axis."""
    shifted = np.exp(x - x.max(axis=-1, keepdims=True))
    result: Array = shifted / shifted.sum(axis=-1, keepdims=True)
    return result


def layer_norm(x: Array, weight: Array, bias: Array) -> Array:
    """W4: layer norm along the last axis."""
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = (centred * centred).mean(axis=-1, keepdims=True)
    result: Array = centred / np.sqrt(variance + np.float32(EPSILON)) * weight + bias
    return result


def add(t: Array, u: Array) -> Array:
    """W8a: one addition."""
    return t + u


def twenty(x: Array, y: Array) -> Array:
    """W8b: five times multiply, add, maximum with zero, subtract."""
    z = x
    for _ in range(5):
        z = np.maximum(z * y + x, np.float32(0)) - y
    return z


def sum_first(x: Array) -> Array:
    """W5a: sums along the first axis."""
    result: Array = x.sum(axis=0, dtype=np.float64).astype(np.float32)
    return result


def sum_last(x: Array) -> Array:
    """W5b: sums along the last axis."""
    result: Array = x.sum(axis=1, dtype=np.float64).astype(np.float32)
    return result


def sum_all(x: Array) -> Array:
    """W5c: the sum of everything."""
    return np.asarray(x.sum(dtype=np.float64), np.float32)


def attention(q: Array, k: Array, v: Array) -> Array:
    """W10: softmax(q·kᵀ / sqrt(64)) · v for each head."""
    return softmax(q @ k.transpose(0, 2, 1) * np.float32(q.shape[-1] ** -0.5)) @ v


def transpose_add(x: Array, y: Array) -> Array:
    """W11: a transposed matrix plus another."""
    return x.T + y


LARGE = ("copy", "numpy", "torch", "torch.compile", "realta", "realta region")

WORKLOADS = {
    workload.id: workload
    for workload in (
        Workload("W1", "relu(x·a + b)·sigmoid(x) − 0.5, 10M", ((10_000_000,),), chain, LARGE),
        Workload("W2", "gelu (tanh), 10M", ((10_000_000,),), gelu, LARGE),
        Workload("W3", "softmax, 4096×4096, last axis", ((4096, 4096),), softmax, LARGE),
        Workload(
            "W4", "layer norm, 8192×1024", ((8192, 1024), (1024,), (1024,)), layer_norm, LARGE
        ),
        Workload("W5a", "sum along axis 0, 4096×4096", ((4096, 4096),), sum_first, LARGE, 2e-3),
        Workload("W5b", "sum along axis 1, 4096×4096", ((4096, 4096),), sum_last, LARGE, 2e-3),
        Workload("W5c", "sum of all, 4096×4096", ((4096, 4096),), sum_all, LARGE, 5e-2),
        Workload(
            "W10", "attention, 8 heads of 512×64", ((8, 512, 64),) * 3, attention, LARGE, 1e-4
        ),
        Workload("W11", "x.T + y, 4096×4096", ((4096, 4096),) * 2, transpose_add, LARGE),
        Workload("W12", f"{DRAWN} normal draws", (), None, LARGE),
        Workload(
            "W8a",
            "one add of 10 elements",
            ((10,), (10,)),
            add,
            ("numpy", "torch", "torch inference", "realta"),
            window=0.08,
        ),
        Workload(
            "W8b",
            "20 small operations on 10 elements",
            ((10,), (10,)),
            twenty,
            ("numpy", "torch", "torch.compile", "realta"),
            window=0.08,
        ),
    )
}
