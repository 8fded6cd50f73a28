"""Compilation: ahead-of-time graphs from functions: stage, compile, call, export, load."""

from typing import TYPE_CHECKING

from realta.compilation.compiled import CompiledFunction, compile
from realta.compilation.loading import GraphFunction, load_graph
from realta.compilation.staging import StagedGraph, stage
from realta.compilation.subgraph import as_subgraph
from realta.on_demand import on_demand

if TYPE_CHECKING:
    from realta.compilation.importing import load

__all__ = [
    "CompiledFunction", "GraphFunction", "StagedGraph", "as_subgraph", "compile", "load",
    "load_graph", "stage",
]  # fmt: skip

__getattr__ = on_demand(__name__, {"importing": ("load",)})
