"""The kernel toolkit: kernel IR, its interpreter, schedules, lowering and rendering.

Provisional until 1.0: a removal is announced one minor version ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from realta.on_demand import on_demand

if TYPE_CHECKING:
    from realta.codegen.dialect import CDialect, VectorSyntax
    from realta.codegen.dialects import CUDA, OPENCL, C
    from realta.codegen.index_width import index_bits
    from realta.codegen.interpreter import interpret, interpret_lowered
    from realta.codegen.ir import (
        Allocate,
        Apply,
        Assign,
        Barrier,
        Buffer,
        Compare,
        Const,
        Declare,
        Expr,
        Fold,
        FromIndex,
        If,
        Kernel,
        Let,
        Load,
        Loop,
        Statement,
        Store,
        Tree,
        Var,
    )
    from realta.codegen.lowered import Launch, Lowered, Temporary
    from realta.codegen.lowering import lower
    from realta.codegen.printer import print_kernel
    from realta.codegen.profile import CPU_PROFILE, GPU_PROFILE, LOOP_PROFILE, DeviceProfile
    from realta.codegen.rendering import KernelSignature, render, signature, translation_unit
    from realta.codegen.verifier import verify_kernel
    from realta.codegen.writer import KernelWriter

__all__ = [
    "CPU_PROFILE",
    "CUDA",
    "GPU_PROFILE",
    "LOOP_PROFILE",
    "OPENCL",
    "Allocate",
    "Apply",
    "Assign",
    "Barrier",
    "Buffer",
    "C",
    "CDialect",
    "Compare",
    "Const",
    "Declare",
    "DeviceProfile",
    "Expr",
    "Fold",
    "FromIndex",
    "If",
    "Kernel",
    "KernelSignature",
    "KernelWriter",
    "Launch",
    "Let",
    "Load",
    "Loop",
    "Lowered",
    "Statement",
    "Store",
    "Temporary",
    "Tree",
    "Var",
    "VectorSyntax",
    "index_bits",
    "interpret",
    "interpret_lowered",
    "lower",
    "print_kernel",
    "render",
    "signature",
    "translation_unit",
    "verify_kernel",
]

__getattr__ = on_demand(
    __name__,
    {
        "dialect": ("CDialect", "VectorSyntax"),
        "dialects": ("C", "CUDA", "OPENCL"),
        "index_width": ("index_bits",),
        "interpreter": ("interpret", "interpret_lowered"),
        "ir": (
            "Allocate", "Apply", "Assign", "Barrier", "Buffer", "Compare", "Const", "Declare",
            "Expr", "Fold", "FromIndex", "If", "Kernel", "Let", "Load", "Loop", "Statement",
            "Store", "Tree", "Var",
        ),
        "lowered": ("Launch", "Lowered", "Temporary"),
        "lowering": ("lower",),
        "printer": ("print_kernel",),
        "profile": ("CPU_PROFILE", "GPU_PROFILE", "LOOP_PROFILE", "DeviceProfile"),
        "rendering": ("KernelSignature", "render", "signature", "translation_unit"),
        "verifier": ("verify_kernel",),
        "writer": ("KernelWriter",),
    },
)  # fmt: skip
