"""GraphRealizationContext and TracedGraph: recording ahead of time, where tensors never become real."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any, ClassVar, Literal, Self

from realta.context.base import RecordingContext, pending_graph
from realta.context.location import caller_location
from realta.context.moves import MoveLog
from realta.errors import ArgumentError, RealizationError
from realta.graph import Graph, Input, Value
from realta.types import TensorType

__all__ = ["GraphRealizationContext", "TracedGraph"]


class GraphRealizationContext(RecordingContext):
    """Records into a graph for later compilation; any attempt to realize raises.

    A real tensor used inside becomes a captured parameter by reference; a pending lazy one is realized
    first.

    Args:
        graph: the graph to record into; a new one if left out.
        name: name of a new graph.
        fuse: fusion policy of the ops.
        numerics: ``"exact"`` or ``"fast"``.
    """

    kind: ClassVar[str] = "graph"

    def __init__(
        self,
        graph: TracedGraph | None = None,
        *,
        name: str = "",
        fuse: Literal["may", "must", "never"] = "may",
        numerics: Literal["exact", "fast"] = "exact",
    ) -> None:
        super().__init__(
            name or (graph.name if graph is not None else ""),
            fuse=fuse, numerics=numerics, on_sync="error", node_budget=None,
        )  # fmt: skip
        self.traced = graph if graph is not None else TracedGraph(self.name, context=self)
        self.moves = MoveLog()

    def move(self, handle: Any, value: Value) -> None:
        """Moves a handle for the rest of the trace; the trace puts it back and returns the new version."""
        self.moves.note(handle)
        self.adopt(handle, value)

    def demand(self, handles: Sequence[Any]) -> None:
        """Raises: tensors of a graph are never real.

        Raises:
            RealizationError: always.
        """
        raise RealizationError(
            f"a tensor of the graph {self.name!r} has no value: it is computed when the graph is called",
            where=str(caller_location()),
            fix="compile the graph and call it with real tensors; branch with F.where inside a graph",
        )

    def demand_from(self, inner: RecordingContext, handle: Any) -> None:
        """Raises like `demand`, naming the other context.

        Raises:
            RealizationError: always.
        """
        raise RealizationError(
            f"a tensor of the graph {self.name!r} is used in {inner.describe()}",
            where=str(caller_location()),
            fix="use it only while its graph is being recorded",
        )

    def realize_all(self) -> None:
        """Raises like `demand`."""
        self.demand(())

    @property
    def graph(self) -> Graph:
        """The graph as recorded so far."""
        return self.traced.finish()


class TracedGraph:
    """A graph that is being written by ordinary tensor code.

    ::

        graph = Graph("double", input_types=[TensorType("float32", (2,))])
        with graph:
            (x,) = graph.inputs
            graph.output(x.tensor * 2)
        double = realta.load_graph(graph)

    Args:
        name: name of the graph.
        input_types: types of its parameters, in order.
        names: names of the parameters; ``arg0``, ``arg1`` … if left out.
    """

    def __init__(
        self,
        name: str = "graph",
        input_types: Sequence[TensorType] = (),
        *,
        names: Sequence[str] = (),
        context: GraphRealizationContext | None = None,
    ) -> None:
        if names and len(names) != len(input_types):
            raise ArgumentError(
                f"graph {name!r} has {len(input_types)} input types and {len(names)} names",
                fix="give one name to each input, or none",
            )
        self.name = name
        given = list(names) or [f"arg{n}" for n in range(len(input_types))]
        self.inputs: tuple[Input, ...] = tuple(
            [Input(t, label) for t, label in zip(input_types, given, strict=True)]
        )
        self.context = context if context is not None else GraphRealizationContext(self)
        self._outputs: list[Value] = []

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
        """Declares the results: tensors recorded in this graph, or graph values."""
        self._outputs = [r if isinstance(r, Value) else self.context.value_of(r) for r in results]

    def finish(self) -> Graph:
        """The finished graph: declared inputs first, then captured tensors, then what the outputs need."""
        found = pending_graph(self.name, self._outputs)
        declared = set(self.inputs)
        captured = [v for v in found.inputs if v not in declared]
        names = {v: f"captured{n}" for n, v in enumerate(captured) if not found.input_name(v)}
        return Graph(self.name, (*self.inputs, *captured), found.outputs, found.nodes, names)

    def __str__(self) -> str:
        return str(self.finish())
