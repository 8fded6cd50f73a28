"""Realization contexts: eager regions, lazy blocks and graphs, and which of them is current."""

from realta.context.base import (
    DEFAULT_NODE_BUDGET,
    DrawInput,
    RecordingContext,
    ScalarInput,
    TensorHandle,
    pending_graph,
)
from realta.context.default import (
    DefaultContext,
    ambient_context,
    custom_default,
    default_realization_context,
    ensure_context,
    in_graph_context,
    lazy,
    on_default_change,
    set_default_realization_context,
)
from realta.context.demand import Demand, cut_out
from realta.context.eager import EagerRealizationContext
from realta.context.graph_context import GraphRealizationContext, TracedGraph
from realta.context.lazy import LazyRealizationContext
from realta.context.location import caller, caller_location
from realta.context.scope import current, current_realization_context, realization_context
from realta.context.seed import RandomState, global_state

__all__ = [
    "DEFAULT_NODE_BUDGET", "DefaultContext", "Demand", "DrawInput", "EagerRealizationContext",
    "GraphRealizationContext", "LazyRealizationContext", "RandomState", "RecordingContext",
    "ScalarInput", "TensorHandle", "TracedGraph", "ambient_context", "caller", "caller_location", "current",
    "current_realization_context", "custom_default", "cut_out", "default_realization_context",
    "ensure_context", "global_state", "in_graph_context", "lazy", "on_default_change",
    "pending_graph", "realization_context", "set_default_realization_context",
]  # fmt: skip
