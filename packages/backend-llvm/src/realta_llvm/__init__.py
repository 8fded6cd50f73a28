"""The LLVM backend: generated native kernels for processors."""

from realta_llvm.backend import LLVMBackend, plugin

__all__ = ["LLVMBackend", "plugin"]
