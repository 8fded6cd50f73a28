"""Compilation: ahead-of-time graphs from functions: stage, compile, call, load."""

from realta.compilation.compiled import CompiledFunction, compile
from realta.compilation.loading import GraphFunction, load_graph
from realta.compilation.staging import StagedGraph, stage

__all__ = ["CompiledFunction", "GraphFunction", "StagedGraph", "compile", "load_graph", "stage"]
