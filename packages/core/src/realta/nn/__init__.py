"""Layers: modules with parameters, built lazily or at once."""

from typing import TYPE_CHECKING

from realta.on_demand import on_demand

if TYPE_CHECKING:
    from realta.nn.container import Sequential
    from realta.nn.linear import Linear
    from realta.nn.module import Module

__all__ = ["Linear", "Module", "Sequential"]

__getattr__ = on_demand(
    __name__,
    {
        "container": ("Sequential",),
        "linear": ("Linear",),
        "module": ("Module",),
    },
)
