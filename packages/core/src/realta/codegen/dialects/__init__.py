"""The dialects that core knows: OpenCL C, plain C and CUDA C++."""

from __future__ import annotations

from realta.codegen.dialects.c import C
from realta.codegen.dialects.cuda import CUDA
from realta.codegen.dialects.opencl import OPENCL

__all__ = ["CUDA", "OPENCL", "C"]
