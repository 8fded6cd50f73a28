"""The OpenCL backend: generated kernels on any OpenCL device."""

from realta_opencl.backend import OpenCLBackend, plugin

__all__ = ["OpenCLBackend", "plugin"]
