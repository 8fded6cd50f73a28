"""BLAS: core's rule that our own calls run on one thread."""

from realta.runtime import one_thread

__all__ = ["one_thread"]
