"""Shared modules: modules whose graph is recorded once for all that are alike."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from realta.compilation.subgraph import Subgraph
from realta.compilation.subgraph import as_subgraph as share
from realta.nn.module import Module
from realta.nn.tree_walk import Entry

__all__ = ["SharedModule", "as_subgraph"]


class SharedModule(Module):
    """A module as a subgraph; in a tree it stands for the module itself, under the same names.

    Args:
        module: the module.
        name: name of its graph; that of its class if left out.
    """

    def __init__(self, module: Module, name: str = "") -> None:
        self.module = module
        self._shared: Subgraph[..., Any] = share(module, name=name)

    def _items(self) -> Iterator[Entry]:
        return self.module._items()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The module's results."""
        return self._shared(*args, **kwargs)


def as_subgraph(fn: Any, *, name: str = "") -> Any:
    """Lets calls of a module or a function share one graph; see `realta.compilation.as_subgraph`.

    ::

        self.layers = [nn.as_subgraph(Layer()) for _ in range(48)]

    Args:
        fn: a module, for which a module is returned; or a function of tensors.
        name: name of the graph; that of the class or the function if left out.
    """
    return SharedModule(fn, name) if isinstance(fn, Module) else share(fn, name=name)
