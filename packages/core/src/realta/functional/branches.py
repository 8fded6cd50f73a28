"""Branches: traces the functions of control flow and wires what they read into its operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from realta.context import BranchContext, RecordingContext, caller_location
from realta.errors import ArgumentError, RealtaError
from realta.functional.arguments import as_tensor
from realta.graph import Graph, Input, Node, Value
from realta.ops import ConstantData, get_op
from realta.passes.rewriter import copy_node
from realta.tensor import Tensor, wrap
from realta.types import TensorType, is_weak

__all__ = ["Branch", "Wiring", "constant_node", "described", "items", "trace_branch"]


@dataclass(slots=True)
class Branch:
    """A function of control flow that was traced.

    Attributes:
        context: what it was traced in.
        label: what errors call it.
        results: its results.
        stored: tensors from outside that it stored to, with their last versions, by `id`.
    """

    context: BranchContext
    label: str
    results: list[Value]
    stored: dict[int, tuple[Tensor, Value]]

    @property
    def has_effects(self) -> bool:
        """Whether it does more than give results."""
        return bool(self.context.traced.effects)


def described(role: str, function: Any) -> str:
    """A function as errors name it: ``then_fn (model.py:12)``."""
    code = getattr(function, "__code__", None)
    return role if code is None else f"{role} ({code.co_filename}:{code.co_firstlineno})"


def items(results: Any, label: str) -> list[Any]:
    """What a function returned, as a list: nothing, one tensor, or a sequence of them.

    Raises:
        ArgumentError: it is nested, or no tensor and no number.
    """
    if results is None:
        return []
    found = list(results) if isinstance(results, (list, tuple)) else [results]
    for item in found:
        if not (isinstance(item, (Tensor, Value, np.ndarray, np.generic)) or is_weak(item)):
            raise ArgumentError(
                f"{label} returned {type(item).__name__}",
                where=str(caller_location()),
                fix="return a tensor, a number, or a flat list or tuple of them",
            )
    return found


def trace_branch(
    outer: RecordingContext,
    role: str,
    function: Callable[..., Any],
    types: Sequence[TensorType] = (),
    convert: Callable[[int, Any], Any] | None = None,
) -> Branch:
    """Traces a function; every tensor that it stores to is as it was afterwards.

    Args:
        outer: the context that control flow is recorded in.
        role: what the function is: ``then_fn``.
        function: takes a tensor for each type.
        types: types of its parameters.
        convert: what becomes of a result that is no tensor, by its number.

    Raises:
        ArgumentError: it cannot be called, or returns something else than tensors.
    """
    if not callable(function):
        raise ArgumentError(
            f"{role} is {type(function).__name__}",
            where=str(caller_location()),
            fix="pass a function",
        )
    label = described(role, function)
    context = BranchContext(outer, role, types)
    with context:
        handles = [wrap(context, value) for value in context.traced.inputs]
        try:
            found = items(function(*handles), label)
        except RealtaError as error:
            error.at(f"{label}, traced at {caller_location()}")
            raise
        results = []
        for number, item in enumerate(found):
            if convert is not None and not isinstance(item, Tensor):
                item = convert(number, item)
            results.append(item if isinstance(item, Value) else context.value_of(as_tensor(item)))
        stored = {id(handle): (handle, value) for handle, value in context.written()}
    return Branch(context, label, results, stored)


def constant_node(value: Any, device: str) -> Node:
    """A constant of an array: the token that comes after nothing, or a number of steps."""
    op = get_op("constant")
    return Node(op, (), op.make_attrs({"value": ConstantData(np.asarray(value)), "device": device}))


@dataclass(slots=True)
class Wiring:
    """The operands of control flow, and which input of its graphs each of them is.

    Attributes:
        outer: the context that control flow is recorded in.
        operands: its operands so far, in order.
        places: the number of an operand by the key of a capture.
        streams: the number of the operand that is the state of a random stream.
    """

    outer: RecordingContext
    operands: list[Value] = field(default_factory=list)
    places: dict[Any, int] = field(default_factory=dict)
    streams: dict[int, int] = field(default_factory=dict)

    def add(self, value: Value, key: Any = None) -> int:
        """Adds an operand; returns its number."""
        if key is not None:
            self.places[key] = len(self.operands)
        self.operands.append(value)
        return len(self.operands) - 1

    def read(self, branch: Branch, graph: Graph, stored: frozenset[int] = frozenset()) -> None:
        """Adds what a branch reads from outside, and the state of each stream it draws from."""
        for capture in branch.context.captures(graph, stored):
            if capture.key not in self.places:
                self.add(capture.outer, capture.key)
        for draw in branch.context.draws:
            if id(draw.stream) not in self.streams:
                number = self.add(self.outer.draw(draw.stream, draw.type.device))
                self.streams[id(draw.stream)] = number

    def closed(
        self,
        branch: Branch,
        graph: Graph,
        *,
        path: int,
        stored: frozenset[int] = frozenset(),
        iteration: int | None = None,
        advance: bool = False,
        token: str | None = None,
    ) -> Graph:
        """A branch's graph as an attribute: it reads its inputs, one for each operand, only.

        Args:
            branch: the branch.
            graph: what it recorded; the first inputs of the result are its parameters.
            path: its number among the graphs of the op.
            stored: tensors told from others of the same version.
            iteration: the number of the operand that counts steps; None if there are none.
            advance: whether the next number of steps is a further output.
            token: the device of a token that is a further output, behind the effects inside.
        """
        context = branch.context
        inputs = [Input(value.type) for value in self.operands]
        new: dict[Value, Value] = dict(zip(context.traced.inputs, inputs, strict=False))
        for capture in context.captures(graph, stored):
            new[capture.source] = inputs[self.places[capture.key]]
        nodes = self._states(context, inputs, new, path, iteration)
        for node in graph.nodes:
            made = copy_node(node, tuple([new[v] for v in node.operands]))
            nodes.append(made)
            new.update(zip(node.outputs, made.outputs, strict=True))
        outputs = [new[v] for v in graph.outputs]
        if advance and iteration is not None:
            one = constant_node(np.uint32(1), inputs[iteration].type.device)
            nodes += [one, Node(get_op("add"), (inputs[iteration], one))]
            outputs.append(nodes[-1])
        if token is not None:
            nodes.append(constant_node(np.zeros(0, bool), token))
            outputs.append(nodes[-1])
        return Graph(context.name, inputs, outputs, nodes)

    def _states(
        self,
        context: BranchContext,
        inputs: Sequence[Input],
        new: dict[Value, Value],
        path: int,
        iteration: int | None,
    ) -> list[Node]:
        """The states of a branch's draws, worked out from those of the streams."""
        nodes: list[Node] = []
        numbers: dict[int, int] = {}
        counts: dict[str, Value] = {}
        for draw in context.draws:
            state: Value = inputs[self.streams[id(draw.stream)]]
            device = draw.type.device
            state = _moved(state, device, nodes)
            if device not in counts:
                counts[device] = self._count(inputs, iteration, device, nodes)
            number = numbers.get(id(draw.stream), 0)
            numbers[id(draw.stream)] = number + 1
            op = get_op("philox_branch")
            attrs = op.make_attrs({"path": path, "draw": number})
            node = Node(op, (state, counts[device]), attrs)
            nodes.append(node)
            new[draw] = node
        return nodes

    def _count(
        self, inputs: Sequence[Input], iteration: int | None, device: str, nodes: list[Node]
    ) -> Value:
        if iteration is not None:
            return _moved(inputs[iteration], device, nodes)
        nodes.append(constant_node(np.uint32(0), device))
        return nodes[-1]


def _moved(value: Value, device: str, nodes: list[Node]) -> Value:
    if value.type.device == device:
        return value
    op = get_op("transfer")
    nodes.append(Node(op, (value,), op.make_attrs({"device": device})))
    return nodes[-1]
