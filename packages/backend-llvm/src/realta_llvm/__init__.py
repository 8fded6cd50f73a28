"""The LLVM backend: generated native kernels for processors."""
