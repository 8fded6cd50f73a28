"""Functions: exponentials, logarithms, trigonometry and the like as LLVM IR, for all widths.

A function takes `Lanes` and operands of their float type and returns the result. It is written once
for float32 and float64 (`Lanes.bits` tells which) and for every width, from instructions that have
the same bits in each, so small and large tensors, fused and not, agree bit by bit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from realta_llvm.functions import (
    error_function,
    exponential,
    hyperbolic,
    inverse_hyperbolic,
    inverse_trigonometry,
    logarithm,
    power,
    remainder,
    roots,
    trigonometry,
)
from realta_llvm.text import Value

__all__ = ["FUNCTIONS"]

FUNCTIONS: Final[dict[str, Callable[..., Value]]] = {
    **exponential.FUNCTIONS,
    **logarithm.FUNCTIONS,
    **trigonometry.FUNCTIONS,
    **inverse_trigonometry.FUNCTIONS,
    **hyperbolic.FUNCTIONS,
    **inverse_hyperbolic.FUNCTIONS,
    **error_function.FUNCTIONS,
    **power.FUNCTIONS,
    **remainder.FUNCTIONS,
    **roots.FUNCTIONS,
}
"""By the name of the instruction of the kernel IR: ``function(lanes, x[, y])``."""
