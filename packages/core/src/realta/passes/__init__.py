"""Passes: rewriting of graphs that keeps every bit, and the normal form that backends get."""

from __future__ import annotations

from typing import TYPE_CHECKING

from realta.on_demand import on_demand

if TYPE_CHECKING:
    from realta.passes.base import Pass, Pipeline, debugging
    from realta.passes.canonicalize import Canonicalize, simplify
    from realta.passes.cse import CommonSubexpressions
    from realta.passes.dce import DeadCodeElimination
    from realta.passes.decompose import Decompose, expand
    from realta.passes.evaluate import Evaluate, evaluate_graph, evaluate_node
    from realta.passes.fold import Fold
    from realta.passes.normal_form import normal_passes, normalize
    from realta.passes.rewriter import Rewriter, detach
    from realta.passes.specialize import bind_type, bound_node

__all__ = [
    "Canonicalize",
    "CommonSubexpressions",
    "DeadCodeElimination",
    "Decompose",
    "Evaluate",
    "Fold",
    "Pass",
    "Pipeline",
    "Rewriter",
    "bind_type",
    "bound_node",
    "debugging",
    "detach",
    "evaluate_graph",
    "evaluate_node",
    "expand",
    "normal_passes",
    "normalize",
    "simplify",
]

__getattr__ = on_demand(
    __name__,
    {
        "base": (
            "Pass",
            "Pipeline",
            "debugging",
        ),
        "canonicalize": (
            "Canonicalize",
            "simplify",
        ),
        "cse": ("CommonSubexpressions",),
        "dce": ("DeadCodeElimination",),
        "decompose": (
            "Decompose",
            "expand",
        ),
        "evaluate": (
            "Evaluate",
            "evaluate_graph",
            "evaluate_node",
        ),
        "fold": ("Fold",),
        "normal_form": (
            "normal_passes",
            "normalize",
        ),
        "rewriter": (
            "Rewriter",
            "detach",
        ),
        "specialize": (
            "bind_type",
            "bound_node",
        ),
    },
)
