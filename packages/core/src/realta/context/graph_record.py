"""GraphRecord: the inputs and outputs of a graph that is being recorded."""

from __future__ import annotations

from collections.abc import Sequence

from realta.context.inputs import DrawInput, ExternalInput
from realta.context.location import caller_location
from realta.context.pending import pending_graph
from realta.errors import ArgumentError, VerificationError
from realta.graph import Graph, Input, Value
from realta.plugins import current_device, device_of
from realta.types import TensorType

__all__ = ["GraphRecord", "complete_type"]


def complete_type(type: TensorType) -> TensorType:
    """The type on the default device where it names none; an alias gives its device's own name."""
    name = device_of(type.device).name if type.device else current_device()
    return type if name == type.device else type.with_device(name)


class GraphRecord:
    """What a graph starts from and ends in, while tensor code writes what is between.

    Args:
        name: name of the graph.
        input_types: types of its parameters, in order; on the default device if they name none.
        names: names of the parameters; ``arg0``, ``arg1`` … if left out.

    Attributes:
        inputs: the parameters.
        outputs: the results declared so far.
        effects: the tokens of effects recorded so far, which stay whether they are read or not.

    Raises:
        ArgumentError: not one name for each input.
    """

    def __init__(
        self,
        name: str = "graph",
        input_types: Sequence[TensorType] = (),
        *,
        names: Sequence[str] = (),
    ) -> None:
        if names and len(names) != len(input_types):
            raise ArgumentError(
                f"graph {name!r} has {len(input_types)} input types and {len(names)} names",
                where=str(caller_location()),
                fix="give one name to each input, or none",
            )
        self.name = name
        given = list(names) or [f"arg{n}" for n in range(len(input_types))]
        types = [complete_type(t) for t in input_types]
        self.inputs: tuple[Input, ...] = tuple(
            [Input(t, label) for t, label in zip(types, given, strict=True)]
        )
        self.outputs: list[Value] = []
        self.effects: list[Value] = []

    def finish(self) -> Graph:
        """The finished graph: declared inputs, then captured tensors, then what outputs need.

        Raises:
            VerificationError: it reads a parameter of another graph.
        """
        found = pending_graph(self.name, [*self.effects[-1:], *self.outputs])
        declared = set(self.inputs)
        captured = [v for v in found.inputs if v not in declared]
        names: dict[Value, str] = {}
        for number, value in enumerate(captured):
            if value.payload is None and not isinstance(value, DrawInput | ExternalInput):
                raise VerificationError(
                    f"the graph {self.name!r} reads %{found.input_name(value)}: {value.type}, "
                    "which is a parameter of another graph",
                    where=f"the graph {self.name!r}, finished at {caller_location()}",
                    fix="use only values of this graph; pass the other graph's results as inputs",
                )
            if not found.input_name(value):
                names[value] = f"captured{number}"
        return Graph(self.name, (*self.inputs, *captured), self.outputs, found.nodes, names)

    def __str__(self) -> str:
        return str(self.finish())
