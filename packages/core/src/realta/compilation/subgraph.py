"""Subgraphs: functions whose graph is recorded once and called by all that are alike."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import update_wrapper
from typing import Any, Final, Generic, ParamSpec, TypeVar

from realta.compilation.dependence import Dependence
from realta.compilation.staging import Slot
from realta.context import (
    BranchContext,
    GraphRealizationContext,
    LazyRealizationContext,
    RandomState,
    RecordingContext,
    caller_location,
    current,
)
from realta.errors import ArgumentError, CompilationError, RealtaError
from realta.graph import Graph, Input, Value
from realta.ops import Attributes, get_op
from realta.passes import debugging
from realta.passes.rewriter import copy_node
from realta.plugins import current_device, current_dtype
from realta.tensor import Tensor, wrap
from realta.tree import TreeDef, flatten, unflatten

__all__ = ["Subgraph", "as_subgraph"]

P = ParamSpec("P")
R = TypeVar("R")

_PLAIN: Final = (bool, int, float, str, type(None))
_KEPT: Final = 256
"""Calls that a context knows; the oldest goes first."""


def as_subgraph(fn: Callable[P, R], *, name: str = "") -> Subgraph[P, R]:
    """Lets calls of a function share one graph: layers of the same structure cost what one costs.

    While a graph is recorded or in a lazy block, the function is traced at its first call; later
    calls that depend on the same take what was traced and read their own tensors: arguments,
    parameters of a module, captured ones. Tracing and compiling then take hardly longer for 48
    layers than for one. Elsewhere it is just called. Results are the same bit for bit.

    What a call depends on is found by walking all that the function refers to: types of tensors,
    other arguments and attributes by value, closures, defaults, and globals. Python code inside
    runs once for calls that are alike.

    Args:
        fn: a function of tensors, or a module.
        name: name of the graph; the function's or the class's if left out.
    """
    return Subgraph(fn, name or getattr(fn, "__name__", type(fn).__name__))


class Subgraph(Generic[P, R]):
    """A function that shares the graphs of its calls; see `as_subgraph`.

    Args:
        fn: the function.
        name: name of its graphs.
    """

    def __init__(self, fn: Callable[P, R], name: str) -> None:
        self.fn = fn
        self.name = name
        listed = getattr(fn, "__realta_externals__", None)
        if listed is not None:
            self.__realta_externals__ = listed
        if hasattr(fn, "__name__"):
            update_wrapper(self, fn, updated=())

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """The function's results.

        Raises:
            ArgumentError: while a graph is recorded it returned something other than tensors,
                numbers, text and None.
        """
        context = current.get()
        if not isinstance(context, (GraphRealizationContext, LazyRealizationContext)):
            return self.fn(*args, **kwargs)
        return _shared_call(context, self.fn, self.name, args, kwargs)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<Subgraph {self.name}>"


@dataclass(slots=True)
class _Place:
    """Where an operand comes from at each call, or a store goes to: a tensor the key lists.

    Args:
        number: which one.
    """

    number: int


@dataclass(slots=True)
class _Body:
    """A graph that calls share.

    Attributes:
        attrs: the attributes of its calls, the same object for all of them.
        operands: what each operand is: a tensor of the call, a draw, or a value that is the same.
        draws: the stream and device of each draw, in the order in which they take counters.
        results: tree of the results.
        constants: the constant at each leaf of that tree, `Slot` where a tensor goes.
        stored: what the outputs behind the results are stored to.
        captured: tensors that the walk did not reach; they are the same for all calls.
    """

    attrs: Attributes
    operands: list[_Place | Value | int]
    draws: list[tuple[RandomState, str]]
    results: TreeDef
    constants: tuple[Any, ...]
    stored: list[_Place]
    captured: list[Tensor]


class _Bodies:
    """What calls in one context share.

    Attributes:
        known: bodies by what they depend on, with what the key names by number; None for those
            that cannot be shared.
        attrs: the attributes of calls by their graph: equal graphs are one.
    """

    def __init__(self) -> None:
        self.known: dict[Any, tuple[_Body | None, list[Any]]] = {}
        self.attrs: dict[Graph, Attributes] = {}


def _shared_call(
    context: RecordingContext, fn: Callable[..., Any], name: str, args: Any, kwargs: Any
) -> Any:
    needs = Dependence()
    needs.add((fn, args, kwargs))
    region = context.region
    key = (current_device(), current_dtype(), id(region), context.numerics, needs.key)
    if context.bodies is None:
        context.bodies = _Bodies()
    bodies: _Bodies = context.bodies
    found = bodies.known.get(key)
    if found is None:
        body = _Trace(context, fn, name, needs).run(args, kwargs)
        while len(bodies.known) >= _KEPT:
            del bodies.known[next(iter(bodies.known))]
        bodies.known[key] = (body, [region, *needs.kept])
    else:
        body = found[0]
        if debugging():
            _check_same(body, _Trace(context, fn, name, needs).run(args, kwargs), name)
    return fn(*args, **kwargs) if body is None else _record(context, body, needs.tensors)


def _record(context: RecordingContext, body: _Body, tensors: list[Tensor]) -> Any:
    """Records a call of a body with these tensors."""
    handles = [*tensors, *body.captured]
    states = [context.draw(stream, device) for stream, device in body.draws]
    operands: list[Value] = []
    for source in body.operands:
        if isinstance(source, _Place):
            operands.append(context.value_of(handles[source.number]))
        else:
            operands.append(states[source] if isinstance(source, int) else source)
    node = context.record_values(get_op("call"), tuple(operands), body.attrs)
    outputs = iter(node.outputs)
    leaves = [wrap(context, next(outputs)) if c is Slot else c for c in body.constants]
    for place in body.stored:
        context.move(handles[place.number], next(outputs))
    return unflatten(body.results, leaves)


class _Trace:
    """One tracing of a body.

    Args:
        context: where it is called.
        fn: the function.
        name: name of the graph.
        needs: what the call depends on.
    """

    def __init__(
        self, context: RecordingContext, fn: Callable[..., Any], name: str, needs: Dependence
    ) -> None:
        self.context = context
        self.fn = fn
        self.name = name
        self.branch = BranchContext(context, name)
        self.numbers = {id(tensor): n for n, tensor in enumerate(needs.tensors)}
        self.captured: list[Tensor] = []

    def run(self, args: Any, kwargs: Any) -> _Body | None:
        """The body; None if it has effects, which cannot be shared."""
        branch = self.branch
        with branch:
            try:
                found, results = flatten(self.fn(*args, **kwargs))
            except RealtaError as error:
                error.at(f"{self.name}, traced at {caller_location()}")
                raise
            constants = tuple([_constant(leaf, self.name) for leaf in found])
            pairs = zip(found, constants, strict=True)
            values = [branch.value_of(leaf) for leaf, constant in pairs if constant is Slot]
            stored = branch.written()
        if branch.traced.effects:
            return None
        graph = branch.recorded([*values, *[value for _, value in stored]])
        closed = _closed(graph, self.name)
        attrs = get_op("call").make_attrs({"body": closed})
        return _Body(
            attrs=self.context.bodies.attrs.setdefault(closed, attrs),
            operands=self._operands(graph),
            draws=[(draw.stream, draw.type.device) for draw in branch.draws],
            results=results,
            constants=constants,
            stored=[self._place(handle) for handle, _ in stored],
            captured=self.captured,
        )

    def _operands(self, graph: Graph) -> list[_Place | Value | int]:
        handles = {source: handle for handle, source in self.branch.reads()}
        draws = {id(draw): n for n, draw in enumerate(self.branch.draws)}
        found: list[_Place | Value | int] = []
        for source in graph.inputs:
            if id(source) in draws:
                found.append(draws[id(source)])
            elif source in handles:
                found.append(self._place(handles[source]))
            else:
                found.append(source)  # a number, which the key has too
        return found

    def _place(self, handle: Tensor) -> _Place:
        """The number of a tensor; one that the walk did not reach is the same for all calls."""
        if id(handle) not in self.numbers:
            self.numbers[id(handle)] = len(self.numbers)
            self.captured.append(handle)
        return _Place(self.numbers[id(handle)])


def _constant(leaf: Any, name: str) -> Any:
    if isinstance(leaf, Tensor):
        return Slot
    if isinstance(leaf, _PLAIN):
        return leaf
    raise ArgumentError(
        f"the subgraph {name} returned {type(leaf).__name__}",
        where=str(caller_location()),
        fix="return tensors, numbers, text or None, nested in tuples, lists or dicts",
    )


def _closed(graph: Graph, name: str) -> Graph:
    """The graph on inputs of its own."""
    inputs = [Input(value.type) for value in graph.inputs]
    new: dict[Value, Value] = dict(zip(graph.inputs, inputs, strict=True))
    nodes = []
    for node in graph.nodes:
        made = copy_node(node, tuple([new[v] for v in node.operands]))
        nodes.append(made)
        new.update(zip(node.outputs, made.outputs, strict=True))
    return Graph(name, inputs, [new[v] for v in graph.outputs], nodes)


def _check_same(first: _Body | None, again: _Body | None, name: str) -> None:
    """When debugging: whether a call that is taken for another one records the same."""
    same = first is again is None or (
        first is not None and again is not None and first.attrs == again.attrs
    )
    if not same:
        raise CompilationError(
            f"two calls of the subgraph {name} that seem alike record different graphs",
            where=str(caller_location()),
            fix="let it depend on its arguments and attributes only",
        )
