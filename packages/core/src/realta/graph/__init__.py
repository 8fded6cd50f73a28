"""The graph IR: values, nodes, graphs, the builder, the verifier, the printer, the parser, containers."""

from realta.graph.builder import Builder, call_text
from realta.graph.graph import Graph, graph_key, topological
from realta.graph.values import Input, Location, Node, Output, Region, Value, live_handles, node_of

__all__ = [
    "Builder", "Graph", "Input", "Location", "Node", "Output", "Region", "Value", "call_text",
    "graph_key", "live_handles", "node_of", "topological",
]  # fmt: skip
