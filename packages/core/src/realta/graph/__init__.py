"""The graph IR: values, nodes, graphs, the builder, verifier, printer, parser, containers."""

from __future__ import annotations

import copyreg
from typing import TYPE_CHECKING, Any

from realta.graph.builder import Builder, call_text
from realta.graph.graph import (
    Graph,
    all_nodes,
    compares_exactly,
    graph_key,
    has_effects,
    topological,
)
from realta.graph.values import Input, Location, Node, Output, Region, Value, live_handles, node_of
from realta.on_demand import on_demand

if TYPE_CHECKING:
    from realta.graph.parser import parse
    from realta.graph.printer import print_graph
    from realta.graph.serialize import (
        Container,
        dump_graph,
        large_constants,
        load_graph_file,
        read_container,
        restore_graph,
        save_graph,
        write_container,
    )
    from realta.graph.verifier import verify

__all__ = [
    "Builder",
    "Container",
    "Graph",
    "Input",
    "Location",
    "Node",
    "Output",
    "Region",
    "Value",
    "all_nodes",
    "call_text",
    "compares_exactly",
    "dump_graph",
    "graph_key",
    "has_effects",
    "large_constants",
    "live_handles",
    "load_graph_file",
    "node_of",
    "parse",
    "print_graph",
    "read_container",
    "restore_graph",
    "save_graph",
    "topological",
    "verify",
    "write_container",
]

__getattr__ = on_demand(
    __name__,
    {
        "parser": ("parse",),
        "printer": ("print_graph",),
        "serialize": (
            "Container",
            "dump_graph",
            "large_constants",
            "load_graph_file",
            "read_container",
            "reduce_graph",
            "restore_graph",
            "save_graph",
            "write_container",
        ),
        "verifier": ("verify",),
    },
)


def _reduced(graph: Graph) -> tuple[Any, ...]:
    found: tuple[Any, ...] = __getattr__("reduce_graph")(graph)
    return found


# A graph is as deep as its longest chain, and pickle recurses over what it is not told about.
copyreg.pickle(Graph, _reduced)
