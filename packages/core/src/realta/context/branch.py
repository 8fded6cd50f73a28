"""BranchContext: records a graph of control flow, which reads the context around it by operands."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple, NoReturn

from realta.context.base import RecordingContext
from realta.context.graph_context import GraphRealizationContext
from realta.context.graph_record import GraphRecord
from realta.context.inputs import DrawInput
from realta.context.location import caller_location
from realta.context.pending import pending_graph
from realta.context.seed import RandomState
from realta.errors import RealizationError
from realta.graph import Graph, Input, Value
from realta.types import TensorType

__all__ = ["BranchContext", "Capture"]


class Capture(NamedTuple):
    """Something that a branch reads from outside.

    Args:
        key: what it is known by: two branches that read the same have the same.
        outer: the value in the context around.
        source: what the branch reads.
    """

    key: Any
    outer: Value
    source: Value


class BranchContext(GraphRealizationContext):
    """Records what a function of `cond` or `while_loop` does.

    Args:
        outer: the context that the control flow is recorded in.
        name: what errors and the printed graph call it.
        types: types of its parameters.

    Attributes:
        draws: its draws, in order.
    """

    kind: ClassVar[str] = "branch"

    def __init__(
        self, outer: RecordingContext, name: str, types: Sequence[TensorType] = ()
    ) -> None:
        super().__init__(GraphRecord(name, types))
        self.outer = outer
        self.numerics = outer.numerics
        self.region = outer.region
        self.draws: list[DrawInput] = []
        self._read: dict[int, tuple[Any, Value, Input]] = {}

    def value_of(self, handle: Any) -> Value:
        """The value by which it reads a tensor: its own, or an input for one from outside.

        Raises:
            RealizationError: the tensor cannot be used here.
        """
        if handle._context is self and handle._value is not None:
            return handle._value  # type: ignore[no-any-return]
        outer = self.outer.value_of(handle)
        known = self._read.get(id(handle))
        if known is not None and known[1] is outer:
            return known[2]
        made = Input(outer.type)
        self._read[id(handle)] = (handle, outer, made)  # the handle too: its number is its own
        return made

    def demand(self, handles: Sequence[Any]) -> NoReturn:
        """Raises: what is traced has no values.

        Raises:
            RealizationError: always.
        """
        raise RealizationError(
            f"a tensor of {self.name} has no value yet: the function is traced, and runs later",
            where=str(caller_location()),
            fix="decide with F.cond, or choose with F.where; F.print shows values when it runs",
        )

    def draw(self, stream: RandomState, device: str) -> DrawInput:
        """The random state of a draw: one that is worked out from the state of the control flow."""
        made = DrawInput(stream, device)
        self.draws.append(made)
        return made

    def reads(self) -> list[tuple[Any, Input]]:
        """The tensors from outside that it read, each with the input that stands for it."""
        return [(handle, made) for handle, _, made in self._read.values()]

    def written(self) -> list[tuple[Any, Value]]:
        """The tensors from outside that it stored to, each with its last version."""
        found = []
        for handle, first in self.moves.moved():
            if first.context is not self:
                found.append((handle, self.value_of(handle)))
        return found

    def recorded(self, outputs: Sequence[Value]) -> Graph:
        """What it recorded: all that the outputs and its effects need."""
        ends = [*self.traced.effects[-1:], *outputs]
        found = pending_graph(self.name, ends)
        return Graph(self.name, found.inputs, outputs, found.nodes)

    def captures(self, graph: Graph, stored: frozenset[int] = frozenset()) -> list[Capture]:
        """What a graph that it recorded reads from outside.

        Args:
            graph: the graph.
            stored: numbers (`id`) of tensors that are told from others of the same version.
        """
        own = {*self.traced.inputs, *self.draws}
        read: dict[Value, tuple[Any, Value]] = {
            made: (handle, outer) for handle, outer, made in self._read.values()
        }
        found = []
        for source in graph.inputs:
            if source in own:
                continue
            # A number, or a value of the graph around that was taken as it is, is both.
            handle, outer = read.get(source, (None, source))
            key = id(handle) if id(handle) in stored else outer
            found.append(Capture(key, outer, source))
        return found
