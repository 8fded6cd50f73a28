"""Staging: traces a function into a graph, with how arguments and results are arranged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from realta.compilation.supplies import External, Supply, supply_of
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
        stored: what the function stored to: the number of a tensor argument, a captured tensor, or
            one that is read by name; with the number of the output that is its new version.
        externals: what is read by name, also where the function does not read it.
    """

    graph: Graph
    arguments: TreeDef
    labels: tuple[str, ...]
    static: tuple[Any, ...]
    types: tuple[TensorType, ...]
    results: TreeDef
    constants: tuple[Any, ...]
    supplies: tuple[Supply, ...]
    stored: tuple[tuple[int | Tensor | External, int], ...]
    externals: tuple[External, ...] = ()

    def with_own_externals(self) -> StagedGraph:
        """The same, with own cells for what is read by name: what is put there is nobody else's."""
        own = {id(cell): replace(cell) for cell in self.externals}

        def swap(thing: Any) -> Any:
            return own.get(id(thing), thing)

        return replace(
            self,
            externals=tuple(own.values()),
            supplies=tuple([swap(supply) for supply in self.supplies]),
            stored=tuple([(swap(owner), number) for owner, number in self.stored]),
        )

    def __str__(self) -> str:
        return str(self.graph)


def stage(fn: Callable[..., Any], *, name: str = "") -> Callable[..., StagedGraph]:
    """Traces a function without compiling: ``stage(fn)(*types, **static)``.

    Tracing leaves every tensor as it was, also those that the function stores to.

    Args:
        fn: a function of tensors, or a module, whose parameters and buffers become inputs by name.
        name: name of the graph; the function's if left out.

    Returns:
        A function of types (nested as the arguments are) and static arguments.

    Raises:
        ArgumentError: a tensor is given in place of its type, or the function returns something
            other than tensors, numbers, text and None.
    """

    def with_types(*types: Any, **static: Any) -> StagedGraph:
        return _Trace(fn, name or getattr(fn, "__name__", type(fn).__name__), types, static).run()

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
        self.externals = _externals(fn)
        self.traced.context.weights = {}
        for external in self.externals:
            self.traced.context.declare(external.tensor, external.names[0])

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

    def _add_declared(self, context: GraphRealizationContext) -> None:
        taken = {name for external in self.externals for name in external.names}
        for name, tensor in (context.weights or {}).items():
            if name in taken:
                raise ArgumentError(
                    f"{self.name} declares the weight {name!r}, which its module has too",
                    where=str(caller_location()),
                    fix="call one of them something else",
                )
            self.externals = (*self.externals, External((name,), tensor))

    def _finish(self, context: GraphRealizationContext, result: Any) -> StagedGraph:
        self._add_declared(context)
        found, results = flatten(result)
        constants = tuple([self._constant(leaf) for leaf in found])
        outputs = [
            leaf if isinstance(leaf, Value) else context.value_of(leaf)
            for leaf, constant in zip(found, constants, strict=True)
            if constant is Slot
        ]
        stored: list[tuple[int | Tensor | External, int]] = []
        for handle, owner in self._stored(context):
            stored.append((owner, len(outputs)))
            outputs.append(handle._value)
        self.traced.outputs = outputs
        graph = self.traced.finish()
        moved = {id(owner) for owner, _ in stored}
        named = {id(external.tensor): external for external in self.externals}
        known: dict[int, Supply] = {}
        for handle, value in context.captured():
            if id(handle) in named:
                known[id(value)] = named[id(handle)]
            elif id(handle) in moved:
                known[id(value)] = supply_of(value, handle)
        rest = graph.inputs[len(self.types) :]
        supplies = [known.get(id(v)) or supply_of(v) for v in rest]
        static = tuple([Slot if isinstance(x, TensorType) else x for x in self.leaves])
        return StagedGraph(
            graph, self.tree, self.labels, static, self.types, results, constants,
            tuple(supplies), tuple(stored), self.externals,
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

    def _stored(
        self, context: GraphRealizationContext
    ) -> list[tuple[Tensor, int | Tensor | External]]:
        """Tensors from outside that were stored to, each with its argument's number if any."""
        owners: dict[int, int | External] = {id(e.tensor): e for e in self.externals}
        owners |= {id(handle): n for n, handle in enumerate(self.handles)}
        found: list[tuple[Tensor, int | Tensor | External]] = []
        for handle, first in context.moves.moved():
            if id(handle) in owners:
                found.append((handle, owners[id(handle)]))
            elif first.storage is not None:
                found.append((handle, handle))
        return found


def _labels(arguments: tuple[Any, Any]) -> tuple[str, ...]:
    """``0``, ``1.weight`` … for positional arguments, the name for keyword arguments."""
    return tuple([path.partition(".")[2] for path in paths(arguments)])


def _externals(fn: Any) -> tuple[External, ...]:
    """What a module's trace reads by name; nothing for other functions."""
    listed = getattr(fn, "__realta_externals__", None)
    names: dict[int, list[str]] = {}
    tensors: dict[int, Tensor] = {}
    for name, tensor in ({} if listed is None else listed()).items():
        names.setdefault(id(tensor), []).append(name)
        tensors[id(tensor)] = tensor
    return tuple([External(tuple(names[key]), tensor) for key, tensor in tensors.items()])
