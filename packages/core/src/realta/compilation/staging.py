"""Staging: traces a function into a graph, with how arguments and results are arranged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from realta.compilation.supplies import Supply, supply_of
from realta.context import GraphRealizationContext, TracedGraph, caller_location, complete_type
from realta.errors import ArgumentError, RealtaError
from realta.graph import Graph, Value
from realta.tensor import Tensor, wrap
from realta.tree import TreeDef, flatten, paths, unflatten
from realta.types import TensorType

__all__ = ["Slot", "StagedGraph", "stage"]

_FROZEN: Final = (bool, int, float, str, type(None))
"""Results that are the same at every call, since a traced function never sees a value."""


class Slot:
    """The place of a tensor in a tree of arguments or results."""


@dataclass(frozen=True, slots=True)
class StagedGraph:
    """A traced function: its graph, and how arguments and results are arranged.

    Attributes:
        graph: inputs are the declared types in order, then what is read from outside, then draws
            and numbers; outputs are the results, then new versions of what was stored to.
        arguments: tree of the call's arguments.
        labels: how errors name each leaf of that tree.
        static: the static argument at each leaf, `Slot` where a tensor goes.
        types: types of the tensor arguments.
        results: tree of the results.
        constants: the constant at each leaf of that tree, `Slot` where a tensor goes.
        supplies: where inputs behind the arguments come from.
        stored: what the function stored to: the number of a tensor argument, or a captured tensor;
            with the number of the output that is its new version.
    """

    graph: Graph
    arguments: TreeDef
    labels: tuple[str, ...]
    static: tuple[Any, ...]
    types: tuple[TensorType, ...]
    results: TreeDef
    constants: tuple[Any, ...]
    supplies: tuple[Supply, ...]
    stored: tuple[tuple[int | Tensor, int], ...]

    def __str__(self) -> str:
        return str(self.graph)


def stage(fn: Callable[..., Any], *, name: str = "") -> Callable[..., StagedGraph]:
    """Traces a function without compiling: ``stage(fn)(*types, **static)``.

    Tracing leaves every tensor as it was, also those that the function stores to.

    Args:
        fn: a function of tensors.
        name: name of the graph; the function's if left out.

    Returns:
        A function of types (nested as the arguments are) and static arguments.

    Raises:
        ArgumentError: a tensor is given in place of its type, or the function returns something
            other than tensors, numbers, text and None.
    """

    def with_types(*types: Any, **static: Any) -> StagedGraph:
        return _Trace(fn, name or getattr(fn, "__name__", "graph"), types, static).run()

    return with_types


class _Trace:
    """One tracing of a function."""

    def __init__(self, fn: Callable[..., Any], name: str, args: Any, kwargs: Any) -> None:
        self.fn = fn
        self.name = name
        self.leaves, self.tree = flatten((args, kwargs))
        self.labels = _labels((args, kwargs))
        for label, leaf in zip(self.labels, self.leaves, strict=True):
            if isinstance(leaf, Tensor):
                raise ArgumentError(
                    f"argument {label} of {name} is a tensor of type {leaf.type}, where tracing "
                    "takes the type",
                    where=str(caller_location()),
                    fix="pass tensor.type here, and the tensor itself when calling",
                )
        self.types = tuple([complete_type(t) for t in self.leaves if isinstance(t, TensorType)])
        self.traced = TracedGraph(name, self.types)
        self.handles: list[Tensor] = []

    def run(self) -> StagedGraph:
        context = self.traced.context
        with context:
            self.handles = [wrap(context, value) for value in self.traced.inputs]
            supply = iter(self.handles)
            leaves = [next(supply) if isinstance(x, TensorType) else x for x in self.leaves]
            args, kwargs = unflatten(self.tree, leaves)
            try:
                result = self.fn(*args, **kwargs)
            except RealtaError as error:
                error.at(f"tracing {self.name} at {caller_location()}")
                raise
            return self._finish(context, result)

    def _finish(self, context: GraphRealizationContext, result: Any) -> StagedGraph:
        found, results = flatten(result)
        constants = tuple([self._constant(leaf) for leaf in found])
        outputs = [
            leaf if isinstance(leaf, Value) else context.value_of(leaf)
            for leaf, constant in zip(found, constants, strict=True)
            if constant is Slot
        ]
        stored: list[tuple[int | Tensor, int]] = []
        for handle, owner in self._stored(context):
            stored.append((owner, len(outputs)))
            outputs.append(handle._value)
        self.traced.outputs = outputs
        graph = self.traced.finish()
        moved = {id(owner) for owner, _ in stored}
        kept = {id(value): handle for handle, value in context.captured() if id(handle) in moved}
        supplies = [supply_of(v, kept.get(id(v))) for v in graph.inputs[len(self.types) :]]
        static = tuple([Slot if isinstance(x, TensorType) else x for x in self.leaves])
        return StagedGraph(
            graph, self.tree, self.labels, static, self.types, results, constants,
            tuple(supplies), tuple(stored),
        )  # fmt: skip

    def _constant(self, leaf: Any) -> Any:
        if isinstance(leaf, Tensor | Value):
            return Slot
        if isinstance(leaf, _FROZEN):
            return leaf
        raise ArgumentError(
            f"{self.name} returned {type(leaf).__name__}",
            where=str(caller_location()),
            fix="return tensors, numbers, text or None, nested in tuples, lists or dicts",
        )

    def _stored(self, context: GraphRealizationContext) -> list[tuple[Tensor, int | Tensor]]:
        """Tensors from outside that were stored to, each with its argument's number if any."""
        numbers = {id(handle): n for n, handle in enumerate(self.handles)}
        found: list[tuple[Tensor, int | Tensor]] = []
        for handle, first in context.moves.moved():
            if id(handle) in numbers:
                found.append((handle, numbers[id(handle)]))
            elif first.storage is not None:
                found.append((handle, handle))
        return found


def _labels(arguments: tuple[Any, Any]) -> tuple[str, ...]:
    """``0``, ``1.weight`` … for positional arguments, the name for keyword arguments."""
    return tuple([path.partition(".")[2] for path in paths(arguments)])
