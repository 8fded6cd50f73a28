"""Pass and Pipeline: graph to graph steps, each checked before and after when debugging."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from realta.errors import VerificationError
from realta.graph import Graph, verify

__all__ = ["Pass", "Pipeline", "debugging"]


class Pass(Protocol):
    """One rewriting of graphs.

    A pass keeps the inputs and outputs in number and order, their types, every bit of what is
    computed, and on each node that stays the place it came from and its fusion region.
    """

    @property
    def name(self) -> str:
        """Name for reports and tests."""

    def run(self, graph: Graph) -> Graph:
        """The rewritten graph; the same object if there was nothing to do."""


def debugging() -> bool:
    """Whether the environment asks for checks between passes (``REALTA_DEBUG``)."""
    return os.environ.get("REALTA_DEBUG", "") not in ("", "0")


@dataclass(frozen=True, slots=True)
class Pipeline:
    """Passes in order.

    Args:
        passes: what to run.
        debug: verify the graph before the first pass and after each; None asks the environment.
        watch: called with the name of each pass and the graph that it made.
    """

    passes: Sequence[Pass]
    debug: bool | None = None
    watch: Callable[[str, Graph], None] | None = None

    def run(self, graph: Graph) -> Graph:
        """The graph after all passes.

        Raises:
            VerificationError: when debugging, a pass broke the graph; the message names the pass.
        """
        debug = debugging() if self.debug is None else self.debug
        if debug:
            _check(graph, graph, "before the first pass")
        for step in self.passes:
            before = graph
            graph = step.run(before)
            if debug and graph is not before:
                _check(graph, before, f"after the pass {step.name!r}")
            if self.watch is not None:
                self.watch(step.name, graph)
        return graph


def _check(graph: Graph, before: Graph, when: str) -> None:
    try:
        verify(graph)
    except VerificationError as error:
        where = f"{when}, {error.where}" if error.where else when
        raise VerificationError(error.what, where=where, fix=error.fix) from error
    for part in ("inputs", "outputs"):
        have, want = ([str(v.type) for v in getattr(g, part)] for g in (graph, before))
        if have != want:
            raise VerificationError(
                f"the {part} of graph {graph.name!r} have the types {have}, before they had {want}",
                where=when,
                fix="a pass keeps inputs and outputs in number, order and type",
            )
