"""The NumPy backend: op by op, and fused into blocked NumPy code."""

from realta_numpy.backend import NumpyBackend, plugin
from realta_numpy.threads import set_num_threads

__all__ = ["NumpyBackend", "plugin", "set_num_threads"]
