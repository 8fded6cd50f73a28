"""The other op families: loaded when an op is first asked for that `realta.ops.families` lacks."""

from realta.ops import (
    attention,
    contraction,
    draws,
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
)

__all__ = [
    "attention",
    "contraction",
    "draws",
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
]
