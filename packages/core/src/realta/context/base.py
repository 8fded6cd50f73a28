"""RecordingContext: what eager, lazy and graph contexts share: recording, sources, live tensors."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextvars import Token
from sys import _getframe, getrefcount
from types import CodeType, TracebackType
from typing import Any, ClassVar, Final, Literal, Self

from realta.context.location import caller, caller_location
from realta.context.scope import activate, deactivate
from realta.context.seed import RandomState
from realta.errors import RealizationError, RealtaError
from realta.graph import Graph, Input, Location, Node, Region, Value, call_text, live_handles
from realta.ops import NO_ATTRS, Attributes, OpDef, OpKind
from realta.types import TensorType, tensor_type, uint32

__all__ = ["DEFAULT_NODE_BUDGET", "DrawInput", "RecordingContext", "ScalarInput", "TensorHandle"]

DEFAULT_NODE_BUDGET: Final = 1_000_000
_UNCOUNTED: Final = frozenset({OpKind.CREATION, OpKind.RANDOM})
_FOLLOWERS: Final = frozenset({"cast", "transfer"})
_COMPACT_AT: Final = 1024
_UNREAD: Final = 4
"""References to a source that no op reads: the table's, the pair's, the loop's and the call's."""
_new: Final = object.__new__
_ref: Final = weakref.ref


class ScalarInput(Input):
    """A Python number given at run time, so that another number does not recompile anything.

    Attributes:
        scalar: the number as the user wrote it.
    """

    __slots__ = ("scalar",)

    def __init__(self, scalar: bool | float, array: Any, type: TensorType) -> None:
        super().__init__(type, "", array)
        self.scalar = scalar


class DrawInput(Input):
    """The random state of one draw: the counter it took when it was recorded.

    Attributes:
        stream: where the next call of a compiled body takes its counter from.
    """

    __slots__ = ("stream",)

    def __init__(self, stream: RandomState, device: str) -> None:
        super().__init__(tensor_type(uint32, (4,), device), "", stream.words(stream.take()))
        self.stream = stream


class TensorHandle:
    """What contexts know about a tensor: its type and the version it names.

    Attributes:
        _type: type of the tensor.
        _storage: the storage of a real tensor, else None.
        _value: the value of an unrealized tensor, else None.
        _context: the context that can realize it, else None.
    """

    __slots__ = ("__weakref__", "_context", "_storage", "_type", "_value")

    _type: TensorType
    _storage: Any
    _value: Any
    _context: Any

    def _settle(self) -> bool:
        """Takes over the storage of a value that became real meanwhile; whether the tensor is real."""
        if self._storage is not None:
            return True
        value = self._value
        if value is None or value.payload is None or isinstance(value, Input):
            return False
        self._storage = value.payload
        self._value = None
        self._context = None
        return True


class RecordingContext:
    """Records ops into a graph; subclasses say when it runs.

    Args:
        name: shown in errors and in `explain`.
        fuse: fusion policy of the region it opens.
        numerics: ``"exact"`` or ``"fast"``.
        on_sync: what realizing one of its own tensors while it is open does.
        node_budget: pending nodes beyond which newly recorded work is realized early.
    """

    kind: ClassVar[str] = "context"

    def __init__(
        self,
        name: str = "",
        *,
        fuse: Literal["may", "must", "never"] = "may",
        numerics: Literal["exact", "fast"] = "exact",
        on_sync: Literal["error", "split"] = "split",
        node_budget: int | None = DEFAULT_NODE_BUDGET,
    ) -> None:
        self.name = name or self.kind
        self.numerics = numerics
        self.on_sync = on_sync
        self.node_budget = node_budget
        self.opened_at = caller_location()
        self.region: Region | None = None
        if fuse != "may" or numerics != "exact":
            self.region = Region(self.name, fuse, numerics, self.opened_at)
        self.lock = threading.RLock()
        self.pending: list[weakref.ref[Any]] = []
        self.splits: list[str] = []
        self._compact_at = _COMPACT_AT
        self._caller: CodeType | None = None
        self._recorded = 0
        self._warned = False
        self._depth = 0
        self._owner: int | None = None
        self._tokens: list[Token[RecordingContext | None]] = []
        self._sources: dict[int, Input] = {}

    # -- entering and leaving ---------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        """Whether a ``with`` block of it is running."""
        return self._depth > 0

    def describe(self) -> str:
        """How errors name it: ``lazy context 'encoder'``."""
        label = "" if self.name == self.kind else f" {self.name!r}"
        return f"the {self.kind} context{label}"

    def __enter__(self) -> Self:
        thread = threading.get_ident()
        if self._depth and self._owner != thread:
            raise RealizationError(
                f"{self.describe()} is open in another thread",
                where=f"opened at {self.opened_at}",
                fix="open a context of its own in each thread",
            )
        self._check_entry()
        if not self._depth:
            self._owner = thread
            self.opened_at = caller_location()
        self._depth += 1
        self._tokens.append(activate(self))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        deactivate(self, self._tokens[-1])
        self._tokens.pop()
        self._depth -= 1
        if not self._depth:
            self._owner = None
            self._leave(error)

    def _check_entry(self) -> None:
        """Refuses an entry that makes no sense for this kind of context."""

    def _leave(self, error: BaseException | None) -> None:
        """Called when the outermost block is left, after the context stopped being current."""

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
            ShapeError, DTypeError, ArgumentError: the operands do not fit; names the call and the line.
            RealizationError: an operand cannot be used here.
        """
        values = tuple(
            [
                t._value if t._context is self and t._storage is None else self.value_of(t)
                for t in operands
            ]
        )
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
        if op.kind not in _UNCOUNTED and not self._follows_creation(op, values):
            self._recorded += 1
        return node

    def record_pair(
        self, op: OpDef, first: Any, second: Any, types: tuple[TensorType, ...], handle: Any
    ) -> None:
        """Records a binary op on operands that fit, and makes ``handle`` its result: the hot path.

        The same as `record` and `adopt` with the checks that the caller has made left out.
        """
        a = first._value if first._context is self and first._storage is None else None
        if a is None:
            a = self.value_of(first)
        b = second._value if second._context is self and second._storage is None else None
        if b is None:
            b = self.value_of(second)
        a.uses += 1
        b.uses += 1
        frame = _getframe(2)
        code = frame.f_code
        if code is not self._caller:
            place = caller()
            self._caller = code if place is not None and place[0] is code else None
        else:
            place = (code, frame.f_lasti)
        node = _new(Node)
        node.op = op
        node.operands = (a, b)
        node.attrs = NO_ATTRS
        node.types = types
        node.type = handle._type = types[0]
        node.where = place
        node.region = self.region
        node.payload = node._outputs = handle._storage = None
        node.uses = 0
        handle._value = node
        handle._context = self
        node.handles = reference = _ref(handle)
        self._recorded += 1
        pending = self.pending
        pending.append(reference)
        if len(pending) >= self._compact_at:
            self._compact()
        if self.node_budget is not None and self._recorded > self.node_budget:
            self._over_budget(handle)

    def _follows_creation(self, op: OpDef, values: tuple[Value, ...]) -> bool:
        if op.name not in _FOLLOWERS:
            return False
        source = values[0]
        return isinstance(source, Node) and source.op.kind in _UNCOUNTED

    def adopt(self, handle: Any, value: Value) -> None:
        """Makes ``handle`` a tensor of this context that names ``value``."""
        reference = weakref.ref(handle)
        handle._type = value.type
        handle._storage = None
        handle._value = value
        handle._context = self
        if value.handles is None:
            value.handles = reference
        else:
            value.add_handle(reference)
        pending = self.pending
        pending.append(reference)
        if len(pending) >= self._compact_at:
            self._compact()
        if self.node_budget is not None and self._recorded > self.node_budget:
            self._over_budget(handle)

    def move(self, handle: Any, value: Value) -> None:
        """Moves a handle to a new version."""
        self.adopt(handle, value)

    def value_of(self, handle: Any) -> Value:
        """The value by which this context reads a tensor; snapshots the version it names now.

        Raises:
            RealizationError: the tensor belongs to a graph, or to an open region that forbids it.
        """
        if handle._context is self and not handle._settle():
            return handle._value  # type: ignore[no-any-return]
        if not handle._settle():
            handle._context.demand_from(self, handle)
            handle._settle()
        return self.source_of(handle._storage)

    def source_of(self, storage: Any) -> Input:
        """The parameter that stands for a storage; one per storage."""
        found = self._sources.get(id(storage))
        if found is None or found.payload is not storage:
            found = Input(storage.type, "", storage)
            self._sources[id(storage)] = found
        return found

    def _compact(self) -> None:
        """Forgets tensors that died or became real; amortised over appends."""
        kept = []
        for reference in self.pending:
            handle = reference()
            if handle is not None and handle._context is self and not handle._settle():
                kept.append(reference)
        self.pending = kept
        self._forget_sources()
        self._compact_at = max(_COMPACT_AT, 2 * len(kept))

    def _forget_sources(self) -> None:
        """Lets go of captured storages that no pending op reads any more."""
        for key in [k for k, v in self._sources.items() if getrefcount(v) <= _UNREAD]:
            del self._sources[key]

    def live(self) -> list[Any]:
        """Its unrealized tensors that are alive, in the order of recording."""
        with self.lock:
            self._compact()
            return [t for t in (r() for r in self.pending) if t is not None]

    @property
    def graph(self) -> Graph:
        """What is pending: a graph with the live tensors as outputs."""
        tensors = self.live()
        return pending_graph(self.name, [t._value for t in tensors])

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
                where=self.describe(),
                fix="realize it first, or use it in an op, which captures it",
            )
        return self.source_of(handle._storage)

    def add_mutable_source(self, handle: Any) -> Input:
        """Like `add_source`: stores move the handle to a new version, so one kind of source is enough."""
        return self.add_source(handle)


def pending_graph(
    name: str, outputs: Sequence[Value], rename: Mapping[Value, str] | None = None
) -> Graph:
    """The graph that computes ``outputs`` from captured storages, parameters and realized values."""
    sources: dict[Value, None] = {}
    nodes = collect(outputs, sources)
    return Graph(name, tuple(sources), outputs, nodes, dict(rename or {}))


def collect(
    outputs: Sequence[Value],
    sources: dict[Value, None],
    stop: Callable[[Value], bool] | None = None,
) -> list[Node]:
    """The nodes that unrealized ``outputs`` need, operands first; fills ``sources`` in order of first use.

    A value with a payload is a source. No recursion; linear in nodes and edges.
    """
    order: list[Node] = []
    done: set[Node] = set()
    stack: list[Any] = list(reversed(outputs))
    while stack:
        item = stack.pop()
        if type(item) is tuple:
            order.append(item[0])
            continue
        if item.payload is not None or isinstance(item, Input) or (stop is not None and stop(item)):
            sources.setdefault(item)
            continue
        node: Node = item if isinstance(item, Node) else item.node
        if node in done:
            continue
        done.add(node)
        stack.append((node,))
        stack.extend(reversed(node.operands))
    return order


def has_live_handle(value: Value) -> bool:
    """Whether a tensor alive names this value."""
    # A handle that was moved to a newer version no longer names this one.
    return value.handles is not None and any(t._value is value for t in live_handles(value))
