"""GraphRealizationContext: recording ahead of time, where tensors never become real."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn

from realta.context.base import RecordingContext, make_real
from realta.context.graph_record import GraphRecord
from realta.context.handle import new_handle, rebind
from realta.context.inputs import DrawInput, ExternalInput
from realta.context.location import caller_location
from realta.context.moves import MoveLog
from realta.context.seed import RandomState
from realta.errors import ArgumentError, RealizationError
from realta.graph import Graph, Input, Value
from realta.runtime import poisoned_storage
from realta.types import TensorType

if TYPE_CHECKING:
    from realta.runtime import Storage

__all__ = ["GraphRealizationContext"]


class GraphRealizationContext(RecordingContext):
    """Records into a graph for later compilation; any attempt to realize raises.

    A real tensor used inside becomes a captured parameter by reference; a pending lazy one is
    realized first. Tensors stored to inside are put back when the context is left.

    Args:
        graph: the graph to record into; a new one if left out.
        name: name of a new graph.
        fuse: fusion policy of the ops.
        numerics: ``"exact"`` or ``"fast"``.

    Attributes:
        moves: which tensors were stored to so far.
        weights: by name, tensors that the function being traced declared and that are given when it
            is compiled; None where nobody could give them.
    """

    kind: ClassVar[str] = "graph"

    def __init__(
        self,
        graph: GraphRecord | None = None,
        *,
        name: str = "",
        fuse: Literal["may", "must", "never"] = "may",
        numerics: Literal["exact", "fast"] = "exact",
    ) -> None:
        super().__init__(
            name or (graph.name if graph is not None else ""),
            fuse=fuse, numerics=numerics, on_sync="error", node_budget=None,
        )  # fmt: skip
        self.traced = graph if graph is not None else GraphRecord(self.name)
        self.moves = MoveLog()
        self._captured: dict[int, tuple[Any, Input]] = {}
        self._externals: dict[int, tuple[Any, Input]] = {}
        self.weights: dict[str, Any] | None = None

    def _leave(self, error: BaseException | None) -> None:
        self.moves.restore()

    def move(self, handle: Any, value: Value) -> None:
        """Moves a handle for as long as the graph is recorded."""
        self.moves.note(handle)
        self.adopt(handle, value)

    def move_to_storage(self, handle: Any, storage: Storage) -> None:
        """Moves a handle for as long as the graph is recorded."""
        self.moves.note(handle)
        self._externals.pop(id(handle), None)
        super().move_to_storage(handle, storage)

    def last_token(self) -> list[Value]:
        """The token of the effect that was recorded last."""
        return self.traced.effects[-1:]

    def note_effect(self, token: Value) -> None:
        """Keeps an effect: each call of the graph runs it."""
        self.traced.effects.append(token)

    def draw(self, stream: RandomState, device: str) -> DrawInput:
        """The random state of a draw: each call of the graph takes a counter for it."""
        return DrawInput(stream, device)

    def declare(self, handle: Any, name: str) -> ExternalInput:
        """Lets an input of that name stand for a tensor, which each call binds anew.

        The tensor need not be real and does not become so.
        """
        made = ExternalInput(handle._type, name)
        self._externals[id(handle)] = (handle, made)  # the handle too, as in `source_of`
        return made

    def declare_weight(self, name: str, type: TensorType) -> Any:
        """A tensor without a value that is given by name when what is recorded is compiled.

        Raises:
            ArgumentError: nothing is being compiled, or the name has another type already.
        """
        if self.weights is None:
            raise ArgumentError(
                "a weight is declared in a function that is being compiled",
                fix="call it inside a function given to realta.compile",
            )
        known = self.weights.get(name)
        if known is None:
            missing = ArgumentError(
                f"the weight {name!r} of {self.name} was never given",
                where=str(caller_location()),
                fix=f"compile with weights={{{name!r}: tensor}}, or call load_weights",
            )
            known = self.weights[name] = new_handle()
            rebind(known, poisoned_storage(type, missing))
            self.declare(known, name)
        if known._type is not type:
            raise ArgumentError(
                f"the weight {name!r} is {known._type}, and is declared again as {type}",
                fix="declare it once, or under two names",
            )
        return known

    def value_of(self, handle: Any) -> Value:
        """The value by which the graph reads a tensor.

        Raises:
            RealizationError: it belongs to another graph, or to an open region that forbids it.
        """
        owner, value = handle._context, handle._value
        if isinstance(owner, GraphRealizationContext) and owner.traced is self.traced:
            return value  # type: ignore[no-any-return]
        external = self._externals.get(id(handle))
        if external is not None:
            return external[1]
        make_real(handle, self)
        return self.source_of(handle)

    def source_of(self, handle: Any) -> Input:
        """The parameter of a captured tensor: one for each tensor, since each may be stored to."""
        known = self._captured.get(id(handle))
        if known is not None and known[1].payload is handle._storage:
            return known[1]
        made = Input(handle._storage.type, "", handle._storage)
        self._captured[id(handle)] = (handle, made)  # the handle too, so that its number is its own
        return made

    def captured(self) -> list[tuple[Any, Input]]:
        """The tensors read from outside, and the inputs that stand for them."""
        return [*self._captured.values(), *self._externals.values()]

    def demand(self, handles: Sequence[Any]) -> NoReturn:
        """Raises: tensors of a graph are never real.

        Raises:
            RealizationError: always.
        """
        raise RealizationError(
            f"a tensor of the graph {self.name!r} has no value: it is computed when the graph is "
            "called",
            where=str(caller_location()),
            fix="call the compiled graph with real tensors; choose with F.where inside a graph",
        )

    def demand_from(self, inner: RecordingContext, handle: Any) -> NoReturn:
        """Raises like `demand`, naming the other context.

        Raises:
            RealizationError: always.
        """
        raise RealizationError(
            f"a tensor of the graph {self.name!r} is used in {inner.describe()}",
            where=str(caller_location()),
            fix="use it only while its graph is being recorded",
        )

    def realize_all(self) -> NoReturn:
        """Raises like `demand`."""
        self.demand(())

    @property
    def graph(self) -> Graph:
        """The graph as recorded so far."""
        return self.traced.finish()
