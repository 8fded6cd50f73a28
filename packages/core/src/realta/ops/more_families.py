"""The other op families: loaded when an op is first asked for that `realta.ops.families` lacks."""

from realta.ops import (
    attention,
    contraction,
    convolution,
    draws,
    group_norm,
    guard,
    indexing,
    normalization,
    placement,
    random,
    reduction,
    scan,
    selection,
    sorting,
    statistics,
    window,
)

__all__ = [
    "attention",
    "contraction",
    "convolution",
    "draws",
    "group_norm",
    "guard",
    "indexing",
    "normalization",
    "placement",
    "random",
    "reduction",
    "scan",
    "selection",
    "sorting",
    "statistics",
    "window",
]
