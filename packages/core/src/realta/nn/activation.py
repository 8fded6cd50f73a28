"""Activations: elementwise functions as modules, for `Sequential`."""

from __future__ import annotations

from typing import Any

from realta import F
from realta.nn.module import Module
from realta.tensor import Tensor

__all__ = ["GELU", "ReLU", "SiLU", "Sigmoid", "Softmax", "Tanh"]


class ReLU(Module):
    """``max(x, 0)``."""

    def forward(self, x: Any) -> Tensor:
        """The same shape and dtype."""
        return F.relu(x)


class GELU(Module):
    """``x * Phi(x)`` (Hendrycks and Gimpel 2016).

    Args:
        approximate: ``"none"``, ``"tanh"`` or ``"quick"``, as in `F.gelu`.
    """

    def __init__(self, approximate: str = "none") -> None:
        self.approximate = approximate

    def forward(self, x: Any) -> Tensor:
        """The same shape and dtype."""
        return F.gelu(x, self.approximate)


class SiLU(Module):
    """``x * sigmoid(x)``."""

    def forward(self, x: Any) -> Tensor:
        """The same shape and dtype."""
        return F.silu(x)


class Sigmoid(Module):
    """``1 / (1 + exp(-x))``."""

    def forward(self, x: Any) -> Tensor:
        """The same shape and dtype."""
        return F.sigmoid(x)


class Tanh(Module):
    """The hyperbolic tangent."""

    def forward(self, x: Any) -> Tensor:
        """The same shape and dtype."""
        return F.tanh(x)


class Softmax(Module):
    """``exp(x - max) / sum(exp(x - max))`` along an axis.

    Args:
        axis: axis.
    """

    def __init__(self, axis: int = -1) -> None:
        self.axis = axis

    def forward(self, x: Any) -> Tensor:
        """The same shape and dtype."""
        return F.softmax(x, self.axis)
