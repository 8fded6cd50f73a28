"""Checks: the rows that are promised together, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from benchmarks.rows import (
    Row,
    cold_start,
    groups,
    growth,
    imports,
    left_behind,
    memory,
    microseconds,
    milliseconds,
    ratio,
    tracing,
    workload_row,
)
from benchmarks.workloads import WORKLOADS

__all__ = ["CHECKS", "FIRST_LIGHT", "LLVM", "OPENCL", "SURFACE", "Check"]

FIRST_LIGHT: tuple[Row, ...] = (
    workload_row("W1", 1.0, "torch.compile"),
    workload_row("W2", 1.0, "torch.compile"),
    workload_row("W3", 1.0, "torch.compile"),
    workload_row("W4", 1.1, "torch.compile"),
    workload_row("W8a", 0.8, "torch", "eager"),
    workload_row("W8b", 1.1, "numpy"),
    Row("W3-groups", "kernels of W3 in explain()", 1, "kernels", groups("W3")),
    Row("cold-start", "process start to the first W1 result", 1.45, "× numpy", cold_start),
    Row("flat-bytes", "left by 20 000 small eager operations", 4096, "bytes", left_behind("bytes")),
    Row(
        "flat-objects",
        "left by 20 000 small eager operations",
        20,
        "objects",
        left_behind("objects"),
    ),
    Row("growth", "300 000 chained operations over 100 000, worst step", 4.5, "×", growth),
    Row("import", "import realta", 1.35, "× numpy", imports),
    Row("memory", "peak of W1 beyond its input (its output is 40 MB)", 45, "MB", memory),
    Row("tracing", "recording a node lazily", 2, "µs / pace", tracing),
)

RUNTIMES = ("realta pocl", "realta intel")
"""Two independent OpenCL implementations; the better one counts."""


def opencl_row(workload: str, target: float, beside: str) -> Row:
    """Makes the row of a workload on the better of the two OpenCL runtimes."""
    return workload_row(workload, target, beside, "OpenCL on the CPU", RUNTIMES)


def ahead_row(workload: str, copies: float, peer: str) -> Row:
    """Makes the row that asks for a quarter of the time of a compiler as it is shipped.

    Where such a compiler takes less than four times what the workload's own row allows, that is
    enough: a quarter of it may be less than a copy.
    """
    name = {"torch.compile": f"ahead-{workload}", "jax": f"ahead-jax-{workload}"}[peer]
    return Row(
        name,
        f"{WORKLOADS[workload].what}, OpenCL on the CPU",
        1.0,
        f"× {peer} / 4, or {copies:g} copies if longer",
        workload=workload,
        who=RUNTIMES,
        beside=peer,
        share=0.25,
        floor=copies,
    )


_COPIES: Final = {"W1": 1.5, "W2": 1.5, "W3": 1.8}
OPENCL: tuple[Row, ...] = (
    *(opencl_row(name, copies, "copy") for name, copies in _COPIES.items()),
    opencl_row("W4", 1.4, "copy"),
    opencl_row("W5a", 1.3, "read"),
    opencl_row("W5b", 1.3, "read"),
    opencl_row("W5c", 1.3, "read"),
    opencl_row("W10", 1.2, "torch"),
    opencl_row("W11", 0.75, "torch.compile"),
    opencl_row("W12", 0.3, "torch"),
    *(
        ahead_row(name, copies, peer)
        for peer in ("torch.compile", "jax")
        for name, copies in _COPIES.items()
    ),
    Row(
        "codegen",
        "generating the code of one kernel",
        5,
        "ms / pace",
        milliseconds("codegen", "worst"),
    ),
    Row(
        "warm",
        "first kernel, disk cache warm",
        150,
        "ms / pace",
        milliseconds("first_kernel", "warm"),
    ),
    Row(
        "cold",
        "first kernel, no disk cache",
        1300,
        "ms / pace",
        milliseconds("first_kernel", "cold"),
    ),
    Row(
        "launch",
        "Python per launch of a compiled graph",
        0.003,
        "ms / pace",
        milliseconds("launches", "python"),
    ),
)
_OTHERS = ("numpy", "torch", "torch.compile", "jax", *RUNTIMES)
OPENCL_PEERS = {
    **dict.fromkeys(("W1", "W2", "W3", "W4", "W10", "W11"), ("copy", *_OTHERS)),
    **dict.fromkeys(("W5a", "W5b", "W5c"), ("read", *_OTHERS)),
    "W12": _OTHERS,
}


SURFACE: tuple[Row, ...] = (
    Row(
        "metadata",
        "indexing, reshape and the like, the worst: beyond twice NumPy's time",
        1,
        "µs / pace",
        microseconds("metadata", "worst"),
    ),
    Row(
        "cast",
        "float to int cast of 10 elements",
        4,
        "µs / pace",
        microseconds("small_calls", "cast"),
    ),
    Row(
        "region",
        "a region of 20 operations: trace, hash, cache hit, run",
        60,
        "µs / pace",
        microseconds("small_calls", "region"),
    ),
    Row(
        "call",
        "a compiled call beyond its kernels",
        10,
        "µs / pace",
        microseconds("small_calls", "call"),
    ),
    Row(
        "new-extents",
        "new extents of a known structure, an encoder of 6 layers: beyond the call itself",
        1,
        "ms / pace",
        milliseconds("new_extents", "median"),
    ),
    Row(
        "encoder-compile",
        "Module.compile of an encoder of 6 layers on numpy:0",
        1000,
        "ms / pace",
        milliseconds("minilm", "compile"),
    ),
    Row(
        "minilm",
        "time of a MiniLM batch on numpy:0",
        1.4286,
        "× torch eager",
        ratio("minilm", "beside_torch"),
    ),
)


def llvm_row(workload: str, target: float, beside: str) -> Row:
    """Makes the row of a workload on the processor."""
    return workload_row(workload, target, beside, "llvm:0", ("realta llvm",))


LLVM: tuple[Row, ...] = (
    llvm_row("W1", 1.15, "copy"),
    llvm_row("W2", 1.2, "copy"),
    llvm_row("W3", 1.15, "copy"),
    llvm_row("W4", 1.15, "copy"),
    llvm_row("W5a", 1.05, "read"),
    llvm_row("W5b", 1.05, "read"),
    llvm_row("W5c", 1.05, "read"),
    llvm_row("W8a", 0.8, "torch"),
    llvm_row("W10", 1.0, "torch"),
    llvm_row("W11", 0.27, "torch.compile"),
    llvm_row("W12", 0.13, "torch"),
)
_BESIDE: Final = ("numpy", "torch", "torch.compile", "realta llvm")
LLVM_PEERS = {
    **dict.fromkeys(("W1", "W2", "W3", "W4", "W10", "W11"), ("copy", *_BESIDE)),
    **dict.fromkeys(("W5a", "W5b", "W5c"), ("read", *_BESIDE)),
    "W8a": ("numpy", "torch", "realta llvm"),
    "W12": _BESIDE,
}


@dataclass(frozen=True, slots=True)
class Check:
    """Rows that are promised together.

    Attributes:
        rows: the promises.
        peers: by workload, who computes it, where that is not `Workload.peers`.
    """

    rows: tuple[Row, ...]
    peers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


CHECKS = {
    "first-light": Check(FIRST_LIGHT),
    "llvm": Check(LLVM, LLVM_PEERS),
    "opencl": Check(OPENCL, OPENCL_PEERS),
    "surface": Check(SURFACE),
}
