"""TracedGraph: a graph that is being written by ordinary tensor code."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from realta.context.graph_context import GraphRealizationContext
from realta.context.graph_record import GraphRecord
from realta.graph import Value

__all__ = ["TracedGraph"]


class TracedGraph(GraphRecord):
    """A graph that is being written by ordinary tensor code.

    ::

        graph = Graph("double", input_types=[TensorType("float32", (2,))])
        with graph:
            (x,) = graph.inputs
            graph.output(x.tensor * 2)
        double = realta.load_graph(graph)

    Args:
        name: name of the graph.
        input_types: types of its parameters, in order; on the default device if they name none.
        names: names of the parameters; ``arg0``, ``arg1`` … if left out.

    Raises:
        ArgumentError: not one name for each input.
    """

    _context: GraphRealizationContext | None = None

    @property
    def context(self) -> GraphRealizationContext:
        """What ``with graph:`` opens."""
        if self._context is None:
            self._context = GraphRealizationContext(self)
        return self._context

    def __enter__(self) -> Self:
        self.context.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.context.__exit__(kind, error, trace)

    def output(self, *results: Any) -> None:
        """Declares the results: tensors recorded in this graph, tensors it captures, its values."""
        self.outputs = [r if isinstance(r, Value) else self.context.value_of(r) for r in results]
