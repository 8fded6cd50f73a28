"""Explaining: `explain`, which says what would run for a tensor, a function or a graph, and why."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from realta.compilation import CompiledFunction
from realta.context import GraphRealizationContext, RecordingContext, TracedGraph, cut_out
from realta.errors import ArgumentError
from realta.fusion import Explanation, explain_plan
from realta.graph import Graph
from realta.runtime import graph_device, normal_form, plan_for
from realta.tensor import Tensor
from realta.tree import leaves

__all__ = ["explain"]


def explain(subject: Any, *args: Any, **kwargs: Any) -> Explanation:
    """The kernels that would run, with their ops, source lines, bytes, and why they are not one.

    Args:
        subject: an unrealized tensor, a lazy context, a compiled function, a graph, or a function
            (with its arguments), which is traced but not run.
        args: arguments of a function.
        kwargs: keyword arguments of a function.

    Returns:
        An `Explanation`: data with ``.text()`` and ``.to_dict()``; printing it shows the text.

    Raises:
        ArgumentError: the subject is none of these, or a real tensor, for which nothing would run.
        FusionError: a region that must be one kernel cannot be.
    """
    return explain_graph(_graph_of(subject, args, kwargs))


def explain_graph(graph: Graph) -> Explanation:
    """What would run for a graph as it was recorded."""
    device = graph_device(graph)
    return explain_plan(plan_for(normal_form(graph, device), device))


def _graph_of(subject: Any, args: Any, kwargs: Any) -> Graph:
    if isinstance(subject, Graph):
        return subject
    if isinstance(subject, TracedGraph):
        return subject.finish()
    if isinstance(subject, CompiledFunction):
        return subject.graph
    if isinstance(subject, RecordingContext):
        return subject.graph
    if isinstance(subject, Tensor):
        if subject.is_real:
            raise ArgumentError(
                "this tensor is real already, so nothing would run for it",
                fix="explain a pending tensor, or the function that makes it",
            )
        return cut_out(subject._context, [subject._value]).graph
    if callable(subject):
        return _traced(subject, args, kwargs)
    raise ArgumentError(
        f"{type(subject).__name__} cannot be explained",
        fix="give a tensor, a context, a function with arguments, a compiled function or a graph",
    )


def _traced(function: Callable[..., Any], args: Any, kwargs: Any) -> Graph:
    name = getattr(function, "__name__", "graph")
    traced = TracedGraph(name, context=None)
    context: GraphRealizationContext = traced.context
    with context:
        result = function(*args, **kwargs)
        traced.output(*[leaf for leaf in leaves(result) if isinstance(leaf, Tensor)])
        context.moves.restore()
    return traced.finish()
