"""RecordingContext: what eager, lazy and graph contexts share: recording, sources, live tensors."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from sys import getrefcount
from typing import Any, Final, Literal

from realta.context.effect_log import EffectLog
from realta.context.handle import new_handle, rebind
from realta.context.inputs import DrawInput
from realta.context.location import caller, caller_location
from realta.context.opening import Opening
from realta.context.pending import counts_as_pending, pending_graph
from realta.context.seed import RandomState
from realta.context.trace import Trace
from realta.errors import RealizationError, RealtaError
from realta.graph import Graph, Input, Location, Node, Region, Value, call_text
from realta.locks import Lock, RLock
from realta.ops import Attributes, OpDef
from realta.runtime import Storage
from realta.types import TensorType

__all__ = ["DEFAULT_NODE_BUDGET", "YOUNG", "YOUNG_ALONE", "RecordingContext"]

DEFAULT_NODE_BUDGET: Final = 1_000_000
YOUNG: Final = 32
"""Recorded tensors that are held until it is seen which of them live on: most are intermediates
that die at once, and never need a weak reference."""
_COMPACT_AT: Final = 1024
_UNREAD: Final = 4
"""References to a source that no op reads: the table, the pair, the loop, the call."""
YOUNG_ALONE: Final = 3
"""References to a young tensor that nobody holds: the list, the local variable, the call."""
_LOOKED_AT: Final = 64
"""Sources that one demand may look at, on average."""


class RecordingContext(Opening):
    """Records ops into a graph; subclasses say when it runs.

    Args:
        name: shown in errors and in `explain`.
        fuse: fusion policy of the region it opens.
        numerics: ``"exact"`` or ``"fast"``.
        on_sync: what realizing one of its own tensors while it is open does.
        node_budget: pending nodes beyond which newly recorded work is realized early.

    Attributes:
        splits: lines where it was run before its end.
    """

    def __init__(
        self,
        name: str = "",
        *,
        fuse: Literal["may", "must", "never"] = "may",
        numerics: Literal["exact", "fast"] = "exact",
        on_sync: Literal["error", "split"] = "split",
        node_budget: int | None = DEFAULT_NODE_BUDGET,
    ) -> None:
        super().__init__(name)
        self.numerics = numerics
        self.on_sync = on_sync
        self.node_budget = node_budget
        self.region: Region | None = None
        if fuse != "may" or numerics != "exact":
            self.region = Region(self.name, fuse, numerics, self.opened_at)
        self.lock = RLock()
        self.pending: list[weakref.ref[Any]] = []
        self.young: list[Any] = []
        self.splits: list[str] = []
        self._pending_lock = Lock()
        self._compact_at = _COMPACT_AT
        self._recorded = 0
        self._sources: dict[int, Input] = {}
        self._put_off = 0
        self._effects = EffectLog()
        self.trace: Trace | None = None
        """What is written down while it is recorded, where it may be recorded again."""
        self.bodies: Any = None
        """What calls in this context share, kept by the layer above that records them."""

    # -- recording --------------------------------------------------------------------------------

    def record(
        self,
        op: OpDef,
        operands: Sequence[Any],
        attrs: Attributes,
        types: tuple[TensorType, ...] | None = None,
    ) -> Node:
        """Records one op on tensors.

        Raises:
            ShapeError, DTypeError, ArgumentError: the operands do not fit; names call and line.
            RealizationError: an operand cannot be used here.
        """
        found: list[Value] = []
        for handle in operands:
            value = handle._value
            if value is None or handle._context is not self or handle._held is not None:
                value = self.value_of(handle)
            found.append(value)
        return self.record_values(op, tuple(found), attrs, types)

    def record_values(
        self,
        op: OpDef,
        values: tuple[Value, ...],
        attrs: Attributes,
        types: tuple[TensorType, ...] | None = None,
    ) -> Node:
        """Records one op on values of this context's graph; errors as `record`."""
        place = caller()
        if types is None:
            try:
                types = op.result_types(tuple([v.type for v in values]), attrs)
            except RealtaError as error:
                where = call_text(op, [v.type for v in values], attrs)
                if place:
                    where += f" at {Location(*place)}"
                raise error.at(where) from None
        node = Node(op, values, attrs, types=types, where=place, region=self.region)
        for value in values:
            value.uses += 1
        if counts_as_pending(op, values):
            self._recorded += 1
        return node

    def effect(self, op: OpDef, operands: Sequence[Any], attrs: Attributes) -> None:
        """Records an effect on tensors, behind those that this context has yet to run."""
        values = [self.value_of(handle) for handle in operands]
        self.note_effect(self.record_values(op, (*values, *self.last_token()), attrs))

    def last_token(self) -> list[Value]:
        """The token of the effect that was recorded last, if it has yet to run."""
        return [token._value for token in self._effects.pending()[-1:]]

    def note_effect(self, token: Value) -> None:
        """Keeps an effect for when something recorded later, or everything, is realized."""
        self._effects.add(self, self.create_unrealized(token))

    def draw(self, stream: RandomState, device: str) -> DrawInput:
        """The random state of a draw that is recorded now: it takes the stream's next counter."""
        return DrawInput(stream, device, stream.draw())

    def adopt(self, handle: Any, value: Value) -> None:
        """Makes ``handle`` a tensor of this context that names ``value``."""
        self.register_young()
        handle._type = value.type
        handle._held = None
        handle._value = value
        handle._context = self
        self._register(handle, value)
        if len(self.pending) >= self._compact_at:
            self._compact()
        if self.node_budget is not None and self._recorded > self.node_budget:
            self._over_budget(handle)

    def _register(self, handle: Any, value: Value) -> None:
        reference = weakref.ref(handle)
        if value.handles is None:
            value.handles = reference
        else:
            value.add_handle(reference)
        self.pending.append(reference)

    def register_young(self) -> None:
        """Registers those of the tensors recorded last that somebody holds; forgets the others."""
        young = self.young
        if not young:
            return
        with self._pending_lock:
            # Another thread may append meanwhile, behind what is looked at here.
            count = len(young)
            for n in range(count):
                handle = young[n]
                if getrefcount(handle) > YOUNG_ALONE and handle._context is self:
                    value = handle._value
                    if value is not None:
                        self._register(handle, value)
            handle = None
            del young[:count]
        if len(self.pending) >= self._compact_at:
            self._compact()

    def _leave(self, error: BaseException | None) -> None:
        self.register_young()

    def create_unrealized(self, value: Value) -> Any:
        """A new tensor of this context that names a value of its graph."""
        handle = new_handle()
        self.adopt(handle, value)
        return handle

    def move(self, handle: Any, value: Value) -> None:
        """Moves a handle to a new version that is a value of this context."""
        self.adopt(handle, value)

    def move_to_storage(self, handle: Any, storage: Storage) -> None:
        """Moves a handle to a new version that is real."""
        rebind(handle, storage)

    def value_of(self, handle: Any) -> Value:
        """The value by which this context reads a tensor; snapshots the version it names now.

        Raises:
            RealizationError: it belongs to a graph, or to an open region that forbids it.
        """
        value = handle._value
        if value is not None and handle._context is self and not handle._settle():
            return value  # type: ignore[no-any-return]
        make_real(handle, self)
        return self.source_of(handle)

    def source_of(self, handle: Any) -> Input:
        """The parameter that stands for a real tensor; one for each storage."""
        storage = handle._storage
        found = self._sources.get(id(storage))
        if found is None or found.payload is not storage:
            found = Input(storage.type, "", storage)
            self._sources[id(storage)] = found
        return found

    def _compact(self) -> None:
        """Forgets tensors that died or became real; amortised over appends."""
        self.register_young()
        with self._pending_lock:
            # Another thread may append meanwhile, behind what is looked at here.
            seen = list(self.pending)
            kept: dict[int, weakref.ref[Any]] = {}
            for reference in seen:
                handle = reference()
                if handle is not None and handle._context is self and not handle._settle():
                    kept[id(handle)] = reference
            self.pending[: len(seen)] = kept.values()
            self._compact_at = max(_COMPACT_AT, 2 * len(kept))
            self._forget_sources()

    def _forget_sources(self, *, now: bool = True) -> None:
        """Lets go of captured storages that no pending op reads any more.

        Args:
            now: False lets it be put off, so that it costs little beside what many calls do.
        """
        self._put_off += 1
        if not now and self._put_off * _LOOKED_AT < len(self._sources):
            return
        self._put_off = 0
        for key, source in list(self._sources.items()):
            if getrefcount(source) <= _UNREAD:
                self._sources.pop(key, None)

    def live(self) -> list[Any]:
        """Its unrealized tensors that are alive, in the order of recording."""
        self._compact()
        return [t for t in (r() for r in list(self.pending)) if t is not None]

    @property
    def graph(self) -> Graph:
        """What is pending: a graph with the live tensors as outputs."""
        values = [t._value for t in self.live()]
        return pending_graph(self.name, [v for v in values if v is not None])

    def _over_budget(self, handle: Any) -> None:
        """What happens past the node budget; contexts that run nothing ignore it."""

    # -- realizing --------------------------------------------------------------------------------

    def demand(self, handles: Sequence[Any]) -> None:
        """Makes tensors of this context real."""
        raise NotImplementedError

    def demand_from(self, inner: RecordingContext, handle: Any) -> None:
        """Makes a tensor real that another context reads."""
        self.demand((handle,))

    def realize_all(self) -> None:
        """Makes every live tensor of this context real."""
        self.demand(self.live())

    def add_source(self, handle: Any) -> Input:
        """The parameter by which this context reads a real tensor; the tensor stays real.

        Raises:
            RealizationError: the tensor is not real.
        """
        if not handle._settle():
            raise RealizationError(
                "only a real tensor can be a source of a graph",
                where=f"{self.describe()}, {caller_location()}",
                fix="realize it first, or use it in an op, which captures it",
            )
        return self.source_of(handle)

    def add_mutable_source(self, handle: Any) -> Input:
        """Like `add_source`; stores make new versions, so that one kind of source is enough."""
        return self.add_source(handle)


def make_real(handle: Any, reader: RecordingContext) -> None:
    """Makes a tensor real that a context other than its own reads."""
    if not handle._settle():
        owner = handle._context
        if owner is not None:  # None: another thread has just made it real
            owner.demand_from(reader, handle)
            handle._settle()
