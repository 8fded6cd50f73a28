"""The CUDA backend: generated kernels on NVIDIA GPUs, compiled by NVRTC."""

from realta_cuda.backend import CudaBackend, plugin

__all__ = ["CudaBackend", "plugin"]
