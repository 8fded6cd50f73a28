"""Sequential: modules and functions applied one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from realta.nn.module import Module

__all__ = ["Sequential"]


class Sequential(Module):
    """Applies its layers in order.

    Args:
        layers: modules or functions of one tensor.
    """

    def __init__(self, *layers: Callable[..., Any]) -> None:
        self.layers = list(layers)

    def forward(self, x: Any) -> Any:
        """The last layer's result."""
        for layer in self.layers:
            x = layer(x)
        return x

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Callable[..., Any]]:
        return iter(self.layers)

    def __getitem__(self, index: int) -> Callable[..., Any]:
        return self.layers[index]
