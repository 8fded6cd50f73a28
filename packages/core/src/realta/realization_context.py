"""Realization contexts: the ten public names that say when and on what tensors become real."""

from __future__ import annotations

from realta.context import (
    EagerRealizationContext,
    GraphRealizationContext,
    LazyRealizationContext,
    default_realization_context,
    ensure_context,
    in_graph_context,
    lazy,
    set_default_realization_context,
)
from realta.random import seed, set_seed

__all__ = [
    "EagerRealizationContext",
    "GraphRealizationContext",
    "LazyRealizationContext",
    "default_realization_context",
    "ensure_context",
    "in_graph_context",
    "lazy",
    "seed",
    "set_default_realization_context",
    "set_seed",
]  # fmt: skip
