"""Containers: modules in a row, by number; called one after the other or not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Self, overload

from realta.nn.module import Module

__all__ = ["ModuleList", "Sequential"]

Layer = Callable[..., Any]


class ModuleList(Module):
    """A list of modules or functions; parameters are named by position, as ``0.weight``.

    Args:
        layers: modules, or functions without parameters.
    """

    def __init__(self, layers: Iterable[Layer] = ()) -> None:
        self._layers = list(layers)

    def _attributes(self) -> Iterable[tuple[str, Any]]:
        own = [(name, value) for name, value in vars(self).items() if name != "_layers"]
        return [*[(str(n), layer) for n, layer in enumerate(self._layers)], *own]

    def append(self, layer: Layer) -> Self:
        """Adds one at the end; returns the list."""
        self._layers.append(layer)
        return self

    def extend(self, layers: Iterable[Layer]) -> Self:
        """Adds several at the end; returns the list."""
        self._layers.extend(layers)
        return self

    def insert(self, index: int, layer: Layer) -> None:
        """Adds one before the position ``index``."""
        self._layers.insert(index, layer)

    def __len__(self) -> int:
        return len(self._layers)

    def __iter__(self) -> Iterator[Layer]:
        return iter(self._layers)

    @overload
    def __getitem__(self, index: int) -> Layer: ...
    @overload
    def __getitem__(self, index: slice) -> Self: ...
    def __getitem__(self, index: int | slice) -> Layer | Self:
        if isinstance(index, int):
            return self._layers[index]
        part = object.__new__(type(self))
        part._layers = self._layers[index]
        return part

    def __setitem__(self, index: int, layer: Layer) -> None:
        self._layers[index] = layer

    def __delitem__(self, index: int | slice) -> None:
        del self._layers[index]


class Sequential(ModuleList):
    """Applies its layers in order.

    Args:
        layers: modules or functions of one tensor.
    """

    def __init__(self, *layers: Layer) -> None:
        super().__init__(layers)

    def forward(self, x: Any) -> Any:
        """The last layer's result."""
        for layer in self._layers:
            x = layer(x)
        return x
