"""Passes: rewriting of graphs that keeps every bit, and the normal form that backends get."""

from realta.passes.base import Pass, Pipeline, debugging
from realta.passes.canonicalize import Canonicalize, simplify
from realta.passes.cse import CommonSubexpressions
from realta.passes.dce import DeadCodeElimination
from realta.passes.decompose import Decompose, expand
from realta.passes.evaluate import Evaluate, evaluate_graph, evaluate_node
from realta.passes.fold import Fold
from realta.passes.normalize import normal_passes, normalize
from realta.passes.rewriter import Rewriter, detach

__all__ = [
    "Canonicalize", "CommonSubexpressions", "DeadCodeElimination", "Decompose", "Evaluate", "Fold",
    "Pass", "Pipeline", "Rewriter", "debugging", "detach", "evaluate_graph", "evaluate_node",
    "expand", "normal_passes", "normalize", "simplify",
]  # fmt: skip
