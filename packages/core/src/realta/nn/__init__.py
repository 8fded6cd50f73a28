"""Layers: modules with parameters, built lazily or at once."""

from realta.nn.container import Sequential
from realta.nn.linear import Linear
from realta.nn.module import Module

__all__ = ["Linear", "Module", "Sequential"]
