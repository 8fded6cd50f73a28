"""Normalization: the passes that bring a graph into the form in which backends get it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from realta.graph import Graph, Node
from realta.passes.base import Pass, Pipeline
from realta.passes.canonicalize import Canonicalize
from realta.passes.cse import CommonSubexpressions
from realta.passes.dce import DeadCodeElimination
from realta.passes.decompose import Decompose
from realta.passes.evaluate import Evaluate
from realta.passes.fold import Fold
from realta.passes.inside import Inside
from realta.passes.rewriter import detach

__all__ = ["normal_passes", "normalize"]


def normalize(
    graph: Graph,
    *,
    keeps: Callable[[Node], bool],
    evaluate: Evaluate | None = None,
    numerics: Literal["exact", "fast"] = "exact",
    debug: bool | None = None,
    watch: Callable[[str, Graph], None] | None = None,
) -> Graph:
    """The normal form of a graph, computing the same bits.

    The result shares no value with the graph (see `detach`), has the same inputs and outputs in
    number, order and type, and is in order: operands before their users. An output may be an input
    or stand twice.

    Args:
        graph: what was recorded.
        keeps: whether the device takes this composite whole; all others are expanded.
        evaluate: computes one node of constants, through the device; None folds nothing.
        numerics: ``exact`` folds exact ops only.
        debug: verify before and between passes; None asks ``REALTA_DEBUG``.
        watch: called with the name of each pass and the graph that it made.

    Raises:
        VerificationError: when debugging, the graph or what a pass made of it breaks the IR's
            rules.
    """
    passes = normal_passes(keeps, evaluate, numerics)
    return Pipeline(passes, debug, watch).run(detach(graph))


def normal_passes(
    keeps: Callable[[Node], bool],
    evaluate: Evaluate | None = None,
    numerics: Literal["exact", "fast"] = "exact",
) -> tuple[Pass, ...]:
    """The passes of `normalize` in order."""

    def inner() -> tuple[Pass, ...]:
        return normal_passes(keeps, evaluate, numerics)

    folding = () if evaluate is None else (Fold(evaluate, inexact=numerics == "fast"),)
    return (
        DeadCodeElimination(),
        Decompose(keeps),
        *folding,
        CommonSubexpressions(),
        Canonicalize(),
        # What canonicalization made equal.
        CommonSubexpressions(),
        DeadCodeElimination(),
        Inside(keeps, inner),
    )
