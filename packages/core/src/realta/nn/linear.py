"""Linear: an affine layer."""

from __future__ import annotations

from math import sqrt
from typing import Any

from realta import random
from realta.functional import linear
from realta.nn.module import Module
from realta.tensor import Tensor

__all__ = ["Linear"]


class Linear(Module):
    """``x @ weight.T + bias``.

    Args:
        in_dim: extent of the last axis of the input.
        out_dim: extent of the last axis of the result.
        bias: whether there is a bias.
        dtype: of the parameters; the default float if left out.
        device: where they live; the default device if left out.

    Weights are drawn uniformly from ±1/sqrt(in_dim) (LeCun et al. 1998, as PyTorch does); under
    ``lazy()`` nothing is drawn or allocated until a weight is asked for.
    """

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self, in_dim: int, out_dim: int, *, bias: bool = True, dtype: Any = None, device: Any = None
    ) -> None:
        bound = 1.0 / sqrt(in_dim) if in_dim > 0 else 1.0
        limits = (-bound, bound)
        self.weight = random.uniform((out_dim, in_dim), limits, dtype=dtype, device=device)
        self.bias = random.uniform((out_dim,), limits, dtype=dtype, device=device) if bias else None

    @property
    def in_dim(self) -> int:
        """Extent of the last axis of the input."""
        return int(self.weight.shape[1])

    @property
    def out_dim(self) -> int:
        """Extent of the last axis of the result."""
        return int(self.weight.shape[0])

    def forward(self, x: Tensor) -> Tensor:
        """The layer applied to a tensor of shape (..., in_dim)."""
        return linear(x, self.weight, self.bias)
