"""Explaining: `explain`, which says what would run for a tensor, a function or a graph, and why."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from realta import runtime
from realta.compilation import CompiledFunction, GraphFunction
from realta.context import RecordingContext, TracedGraph, caller_location, cut_out
from realta.errors import ArgumentError
from realta.fusion import Explanation, explain_plan
from realta.graph import Graph, Location, Value, call_text, node_of
from realta.tensor import Tensor
from realta.tree import leaves

__all__ = ["explain"]


def explain(subject: Any, *args: Any, **kwargs: Any) -> Explanation:
    """The kernels that would run, with their ops, source lines, bytes, and why they are not one.

    Args:
        subject: an unrealized tensor, a context, a compiled function, a graph, or a function (with
            its arguments), which is traced but not run.
        args: arguments of a function.
        kwargs: keyword arguments of a function.

    Returns:
        An `Explanation`: data with ``.text()`` and ``.to_dict()``; printing it shows the text, and
        ``.text(source=True)`` the generated code too. Control flow, effects and custom functions
        are no kernels: it lists them apart.
        Its notes say which inner values become real too and for whom, and where a region was
        split.

    Raises:
        ArgumentError: the subject is none of these, or a real tensor, for which nothing would run.
        FusionError: a region that must be one kernel cannot be.
    """
    graph, notes = _graph_of(subject, args, kwargs)
    return replace(explain_graph(graph), notes=notes)


def explain_graph(graph: Graph) -> Explanation:
    """What would run for a graph as it was recorded."""
    device = runtime.graph_device(graph)
    plan = runtime.plan_for(runtime.normal_form(graph, device), device)
    describe = getattr(device.session, "describe", None)
    return explain_plan(plan, describe=describe, by_core=runtime.by_core(device))


def _graph_of(subject: Any, args: Any, kwargs: Any) -> tuple[Graph, tuple[str, ...]]:
    if isinstance(subject, Graph):
        return subject, ()
    if isinstance(subject, TracedGraph):
        return subject.finish(), ()
    if isinstance(subject, CompiledFunction | GraphFunction):
        return subject.graph, ()
    if isinstance(subject, RecordingContext):
        return subject.graph, tuple([f"split: a value was needed at {s}" for s in subject.splits])
    if isinstance(subject, Tensor):
        return _demanded(subject)
    if callable(subject):
        return _traced(subject, args, kwargs), ()
    raise ArgumentError(
        f"{type(subject).__name__} cannot be explained",
        where=str(caller_location()),
        fix="give a tensor, a context, a function with arguments, a compiled function or a graph",
    )


def _demanded(tensor: Tensor) -> tuple[Graph, tuple[str, ...]]:
    if tensor.is_real:
        raise ArgumentError(
            f"a tensor of type {tensor.type} is real already, so nothing would run for it",
            where=str(caller_location()),
            fix="explain a pending tensor, or the function that makes it",
        )
    context = tensor._context
    if not isinstance(context, RecordingContext):
        context.demand((tensor,))  # of an abandoned region: says so
    demand = cut_out(context, [tensor._value])
    return demand.graph, tuple([f"{_place(value)} is kept: {why}" for value, why in demand.kept])


def _place(value: Value) -> str:
    node = node_of(value)
    if node is None:
        return str(value.type)
    text = call_text(node.op, [v.type for v in node.operands])
    place: Location | None = node.location
    return f"{text} at {place}" if place is not None else text


def _traced(function: Callable[..., Any], args: Any, kwargs: Any) -> Graph:
    traced = TracedGraph(getattr(function, "__name__", "graph"))
    with traced:
        result = function(*args, **kwargs)
        traced.output(*[leaf for leaf in leaves(result) if isinstance(leaf, Tensor)])
    return traced.finish()
