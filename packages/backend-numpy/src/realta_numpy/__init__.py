"""The NumPy backend: op by op, and fused into blocked NumPy code."""

from realta_numpy.backend import NumpyBackend, plugin

__all__ = ["NumpyBackend", "plugin"]
