"""Threads: core's pool of host workers."""

from realta.runtime import Workers, workers

__all__ = ["Workers", "workers"]
