"""Loading: callables from finished graphs, open ones and graph files."""

from __future__ import annotations

import os
from typing import Any

import realta.graph as graphs
from realta import runtime
from realta.compilation.programs import Programs
from realta.compilation.signature import Signature
from realta.compilation.supplies import supply_of
from realta.context import DrawInput, TracedGraph, caller_location
from realta.errors import ArgumentError
from realta.functional.arguments import as_tensor
from realta.graph import Graph
from realta.plugins import current_device, open_device
from realta.tensor import Tensor, real_tensor

__all__ = ["GraphFunction", "load_graph"]


def load_graph(
    source: Graph | TracedGraph | str | os.PathLike[str], *, allow_custom: bool = False
) -> GraphFunction:
    """A callable from a finished graph, an open one, or a graph file.

    Args:
        source: the graph, or the path of a container that `save_graph` wrote.
        allow_custom: whether custom calls in a file may carry code, which a session may run.

    Returns:
        A function of tensors, one for each input, that returns the result or a tuple of them.

    Raises:
        SerializationError: the file cannot be read, or carries code that is not allowed.
    """
    if isinstance(source, TracedGraph):
        return GraphFunction(source.finish())
    # Reading files is imported when a file is read.
    if isinstance(source, Graph):
        return GraphFunction(source)
    return GraphFunction(graphs.load_graph_file(source, allow_custom=allow_custom))


class GraphFunction:
    """A graph as a function of tensors.

    Args:
        graph: its inputs without a bound value are the arguments; draws take a counter a call.
    """

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.__name__ = graph.name
        given = [v for v in graph.inputs if v.payload is None and not isinstance(v, DrawInput)]
        types = tuple([value.type for value in given])
        labels = tuple([f"%{graph.input_name(v) or n}" for n, v in enumerate(given)])
        self._signature = Signature(graph.name, types, labels)
        arguments = set(given)
        self._supplies = [None if v in arguments else supply_of(v) for v in graph.inputs]
        self._programs: dict[str, Programs] = {}

    def __call__(self, *args: Any) -> Any:
        """Runs the graph.

        Raises:
            ArgumentError: not one tensor for each input.
            ShapeError, DTypeError, DeviceError: a tensor does not fit its input.
        """
        wanted = self._signature.types
        if len(args) != len(wanted):
            raise ArgumentError(
                f"the graph {self.graph.name!r} takes {len(wanted)} tensors, got {len(args)}",
                where=str(caller_location()),
                fix="pass one tensor for each input",
            )
        tensors = [as_tensor(a, t.device) for a, t in zip(args, wanted, strict=True)]
        names = self._signature.bind(tensors)
        programs = self._programs_on(tensors)
        given = iter([tensor._real_storage() for tensor in tensors])
        inputs = [next(given) if s is None else s.get() for s in self._supplies]
        found = programs.get(names).run(inputs, places=programs.places)
        results = [real_tensor(storage) for storage in found]
        return results[0] if len(results) == 1 else tuple(results)

    def _programs_on(self, tensors: list[Tensor]) -> Programs:
        """The programs for the device of the arguments: types of a graph need not name one."""
        device = tensors[0]._type.device if tensors else current_device()
        found = self._programs.get(device)
        if found is None:
            options = runtime.Options(name=self.graph.name)
            found = self._programs[device] = Programs(self.graph, options, open_device(device))
        return found

    def __repr__(self) -> str:
        return f"<GraphFunction {self.graph.name}>"
