"""Realization contexts: eager regions, lazy blocks and graphs, and which of them is current."""

from realta.context.abandoned import AbandonedRegion
from realta.context.base import DEFAULT_NODE_BUDGET, RecordingContext
from realta.context.branch import BranchContext
from realta.context.default import (
    DefaultContext,
    ambient_context,
    custom_default,
    default_realization_context,
    ensure_context,
    in_graph_context,
    on_default_change,
    set_default_realization_context,
)
from realta.context.demand import Demand, cut_out
from realta.context.eager import EagerRealizationContext
from realta.context.fitting import record_fitting
from realta.context.graph_context import GraphRealizationContext
from realta.context.graph_record import complete_type
from realta.context.handle import TensorHandle, rebind, use_handle_type
from realta.context.inputs import DrawInput, ExternalInput, ScalarInput
from realta.context.lazy import LazyRealizationContext, lazy
from realta.context.location import caller, caller_location, standing_at
from realta.context.pending import pending_graph
from realta.context.plain_function import require_plain_function
from realta.context.scope import current, current_realization_context, realization_context
from realta.context.seed import RandomState, global_state
from realta.context.trace import Trace
from realta.context.traced_graph import TracedGraph

__all__ = [
    "DEFAULT_NODE_BUDGET", "AbandonedRegion", "BranchContext", "DefaultContext", "Demand",
    "DrawInput", "EagerRealizationContext", "ExternalInput", "GraphRealizationContext",
    "LazyRealizationContext", "RandomState",
    "RecordingContext", "ScalarInput", "TensorHandle", "Trace", "TracedGraph", "ambient_context",
    "caller",
    "caller_location", "complete_type", "current", "current_realization_context",
    "custom_default", "cut_out", "default_realization_context", "ensure_context", "global_state",
    "in_graph_context", "lazy",
    "on_default_change", "pending_graph", "realization_context", "rebind", "record_fitting",
    "require_plain_function", "set_default_realization_context", "standing_at", "use_handle_type",
]  # fmt: skip
