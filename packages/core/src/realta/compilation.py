"""Compilation: ahead-of-time graphs from functions: stage, compile, call; load_graph."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from realta.context import (
    DrawInput,
    GraphRealizationContext,
    TensorHandle,
    TracedGraph,
    caller_location,
    current,
)
from realta.errors import ArgumentError, DeviceError, DTypeError, RealizationError, ShapeError
from realta.functional.arguments import as_tensor
from realta.graph import Graph, Input, Value, load_graph_file
from realta.passes.specialize import specialize
from realta.plugins import current_device
from realta.runtime import Options, Program, Storage, program_for, resolve_device
from realta.tensor import Tensor, real_tensor, wrap
from realta.tree import TreeDef, flatten, unflatten
from realta.types import Dim, Shape, TensorType

__all__ = ["CompiledFunction", "StagedGraph", "compile", "load_graph", "stage"]


@dataclass(frozen=True, slots=True)
class Captured:
    """A tensor that a traced function read from outside.

    Attributes:
        value: the graph input that stands for it.
        handle: the tensor, where its newest version is to be read at every call (stored-to ones).
        storage: the version it named while tracing.
    """

    value: Input
    handle: Any
    storage: Storage


@dataclass(frozen=True, slots=True)
class StagedGraph:
    """A traced function: its graph, and how arguments and results are arranged.

    Attributes:
        graph: inputs are the declared types in order, then captured tensors, then draws and scalars.
        arguments: tree of the call's arguments.
        static: the static argument at each leaf of that tree, a marker where a tensor goes.
        types: types of the tensor arguments.
        results: tree of the results.
        captured: tensors read from outside.
        stored: tensors that the function stored to, with the number of the output that is their new
            version.
    """

    graph: Graph
    arguments: TreeDef
    static: tuple[Any, ...]
    types: tuple[TensorType, ...]
    results: TreeDef
    captured: tuple[Captured, ...]
    stored: tuple[tuple[Any, int], ...]

    def __str__(self) -> str:
        return str(self.graph)


class _Slot:
    """The place of a tensor in an argument tree."""


def _is_type(leaf: Any) -> bool:
    return isinstance(leaf, TensorType)


def stage(fn: Callable[..., Any], *, name: str = "") -> Callable[..., StagedGraph]:
    """Traces a function without compiling: ``stage(fn)(*types, **static)``.

    Args:
        fn: a function of tensors.
        name: name of the graph; the function's if left out.

    Returns:
        A function of types (nested as the arguments are) and static arguments.
    """

    def with_types(*types: Any, **static: Any) -> StagedGraph:
        return _trace(fn, name or getattr(fn, "__name__", "graph"), types, static)

    return with_types


def _complete(type_: TensorType) -> TensorType:
    return type_ if type_.device else type_.with_device(current_device())


def _trace(fn: Callable[..., Any], name: str, args: Any, kwargs: Any) -> StagedGraph:
    leaves, tree = flatten((args, kwargs))
    wrong = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if wrong:
        raise ArgumentError(
            f"{name} is staged for types, but got a tensor of type {wrong[0].type}",
            fix="pass tensor.type, and the tensor itself when calling",
        )
    types = tuple([_complete(leaf) for leaf in leaves if _is_type(leaf)])
    traced = TracedGraph(name, types)
    context = traced.context
    with context:
        inputs = iter(traced.inputs)
        handles = [wrap(context, next(inputs)) if _is_type(leaf) else leaf for leaf in leaves]
        originals = list(handles)
        call_args, call_kwargs = unflatten(tree, handles)
        try:
            result = fn(*call_args, **call_kwargs)
            return _finish(traced, context, types, tree, leaves, originals, result)
        finally:
            context.moves.restore()


def _finish(
    traced: TracedGraph, context: GraphRealizationContext, types: Any, tree: TreeDef,
    leaves: list[Any], handles: list[Any], result: Any,
) -> StagedGraph:  # fmt: skip
    found, results = flatten(result)
    strange = [leaf for leaf in found if not isinstance(leaf, (Tensor, Value))]
    if strange:
        raise ArgumentError(
            f"{traced.name} returned {type(strange[0]).__name__}; a staged function returns tensors",
            fix="return tensors, nested in tuples, lists or dicts",
        )
    outputs = [v if isinstance(v, Value) else context.value_of(v) for v in found]
    stored = []
    for handle, *_ in context.moves.first_versions().values():
        stored.append((_owner(handle, handles), len(outputs)))
        outputs.append(handle._value)
    traced.output(*outputs)
    graph = traced.finish()
    captured = []
    for value in graph.inputs[len(types) :]:
        if isinstance(value.payload, Storage) and isinstance(value, Input):
            captured.append(Captured(value, _handle_of(context, value.payload), value.payload))
    static = tuple([_Slot if _is_type(leaf) else leaf for leaf in leaves])
    return StagedGraph(graph, tree, static, types, results, tuple(captured), tuple(stored))


def _owner(handle: Any, handles: list[Any]) -> Any:
    """The number of the argument that a stored-to handle is, else the captured handle itself."""
    for n, leaf in enumerate([h for h in handles if isinstance(h, TensorHandle)]):
        if leaf is handle:
            return n
    return handle


def _handle_of(context: GraphRealizationContext, storage: Storage) -> Any:
    """The stored-to handle that named a captured version when it was first read, if there is one."""
    for handle, first, _, _ in context.moves.first_versions().values():
        if first is storage:
            return handle
    return None


def compile(
    fn: Callable[..., Any], *, name: str = "", numerics: Any = "exact", donate: Sequence[int] = ()
) -> Callable[..., CompiledFunction]:
    """Compiles a function ahead of time: ``compile(fn)(*types, **static)`` gives a callable.

    Args:
        fn: a function of tensors; traced once.
        name: name of the graph; the function's if left out.
        numerics: ``"exact"`` or ``"fast"``.
        donate: numbers of tensor arguments whose memory a call may use up.

    Returns:
        A function of types (nested as the arguments are) and static arguments.
    """
    tracer = stage(fn, name=name)

    def with_types(*types: Any, **static: Any) -> CompiledFunction:
        return CompiledFunction(tracer(*types, **static), numerics=numerics, donate=donate)

    return with_types


_PROGRAMS: Final = 64
"""Programs for different extents that one compiled function keeps; the oldest goes first."""


class CompiledFunction:
    """A compiled graph that is called with tensors.

    Args:
        staged: the traced function.
        numerics: ``"exact"`` or ``"fast"``.
        donate: numbers of tensor arguments whose memory a call may use up.
    """

    def __init__(
        self, staged: StagedGraph, *, numerics: Any = "exact", donate: Sequence[int] = ()
    ) -> None:
        self.staged = staged
        self.donate = frozenset(donate)
        graph = staged.graph
        self.name = graph.name
        self._options = Options(numerics=numerics, name=graph.name)
        self._program: Program | None = None
        self._programs: dict[Any, Program] = {}
        if all(v.type.is_static for v in graph.inputs):
            self._program = program_for(graph, self._options)
        self._tail = self._rest(graph)
        # With nothing captured, drawn or stored, a call is its arguments and the program.
        simple = not self._tail and not staged.stored and not self.donate
        flat = simple and staged.arguments == flatten(((*staged.types,), {}))[1]
        self._plain = len(staged.types) if flat and staged.results.is_leaf else -1

    def _rest(self, graph: Graph) -> list[Callable[[], Any]]:
        """How each input behind the arguments is got at a call."""
        captured = {c.value: c for c in self.staged.captured}
        found: list[Callable[[], Any]] = []
        for value in graph.inputs[len(self.staged.types) :]:
            entry = captured.get(value)  # type: ignore[call-overload]
            if isinstance(value, DrawInput):
                found.append(_drawn(value))
            elif entry is not None:
                found.append(_newest(entry))
            else:
                found.append(_fixed(value.payload))
        return found

    @property
    def graph(self) -> Graph:
        """The traced graph."""
        return self.staged.graph

    @property
    def program(self) -> Program:
        """The compiled program.

        Raises:
            ShapeError: dimensions are symbolic, so there is one program for each call's shapes.
        """
        if self._program is None:
            raise ShapeError(
                f"{self.name} has symbolic dimensions, so it is compiled when it is called",
                fix="call it first, or compile it for static shapes",
            )
        return self._program

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it with tensors of the declared types and the same static arguments.

        Raises:
            ArgumentError, ShapeError, DTypeError, DeviceError: an argument does not fit.
        """
        if len(args) == self._plain and not kwargs and current.get() is None:
            storages = []
            for tensor, type_ in zip(args, self.staged.types, strict=True):
                if tensor.__class__ is not Tensor or tensor._type is not type_:
                    break
                storage = tensor._storage
                if storage is None:
                    break
                storages.append(storage)
            else:
                return real_tensor(self._program.run(storages)[0])  # type: ignore[union-attr]
        return self._call(args, kwargs)

    def _call(self, args: Any, kwargs: Any) -> Any:
        if isinstance(current.get(), GraphRealizationContext):
            raise RealizationError(
                f"the compiled function {self.name} is called while a graph is recorded",
                where=str(caller_location()),
                fix="call the plain function there; compile the whole",
            )
        tensors = self._checked(args, kwargs)
        storages = [t._real_storage() for t in tensors]
        inputs = [*storages, *[get() for get in self._tail]]
        program = self._program or self._specialized(tensors)
        results = program.run(inputs, donated=self.donate)
        for owner, number in self.staged.stored:
            handle = tensors[owner] if isinstance(owner, int) else owner
            handle._storage, handle._value, handle._context = results[number], None, None
        count = len(results) - len(self.staged.stored)
        return unflatten(self.staged.results, [real_tensor(s) for s in results[:count]])

    def _specialized(self, tensors: Sequence[Tensor]) -> Program:
        names: dict[str, int] = {}
        for wanted, tensor in zip(self.staged.types, tensors, strict=True):
            match_shape(wanted.shape, tensor._type.static_shape, names)
        key = tuple(names.items())
        program = self._programs.get(key)
        if program is None:
            if len(self._programs) >= _PROGRAMS:
                self._programs.pop(next(iter(self._programs)))
            program = program_for(specialize(self.staged.graph, names), self._options)
            self._programs[key] = program
        return program

    def _checked(self, args: Any, kwargs: Any) -> list[Tensor]:
        leaves, tree = flatten((args, kwargs))
        if self.staged.arguments != tree:
            raise ArgumentError(
                f"{self.name} was compiled for arguments nested as {self.staged.arguments}, "
                f"got {tree}",
                where=str(caller_location()),
                fix="pass arguments nested as the types were",
            )
        tensors: list[Tensor] = []
        names: dict[str, int] = {}
        for n, (leaf, expected) in enumerate(zip(leaves, self.staged.static, strict=True)):
            if expected is not _Slot:
                if type(leaf) is not type(expected) or leaf != expected:
                    raise ArgumentError(
                        f"the static argument {n} of {self.name} was {expected!r}, got {leaf!r}",
                        fix="compile again for another value",
                    )
                continue
            tensor = as_tensor(leaf)
            self._check_type(len(tensors), tensor, names)
            tensors.append(tensor)
        return tensors

    def _check_type(self, number: int, tensor: Tensor, names: dict[str, int]) -> None:
        wanted, given = self.staged.types[number], tensor._type
        if given is wanted:
            return
        where = f"argument {number} of {self.name} at {caller_location()}"
        if given.dtype is not wanted.dtype:
            raise DTypeError(
                f"expected {wanted}, got {given}", where=where, fix=f"cast it to {wanted.dtype}"
            )
        if given.device != wanted.device:
            raise DeviceError(
                f"expected {wanted}, got {given}",
                where=where,
                fix=f'move it: t.to("{wanted.device}")',
            )
        try:
            match_shape(wanted.shape, given.static_shape, names)
        except ShapeError as error:
            raise error.at(where) from None


def match_shape(declared: Shape, given: tuple[int, ...], names: dict[str, int]) -> None:
    """Binds the names of a declared shape to the extents of a tensor.

    Args:
        declared: extents; ints, names and expressions of names bound before.
        given: the tensor's extents.
        names: what is bound so far; added to.

    Raises:
        ShapeError: the ranks differ, an extent differs, or a name would be bound to two numbers.
    """
    fix = "pass a tensor of the declared shape"
    if len(declared) != len(given):
        raise ShapeError(f"expected {len(declared)} axes, got shape {given}", fix=fix)
    for axis, (wanted, extent) in enumerate(zip(declared, given, strict=True)):
        if isinstance(wanted, Dim) and str(wanted) in wanted.names:
            wanted = names.setdefault(str(wanted), extent)
            label = f"{declared[axis]}={wanted}"
        else:
            label = str(wanted)
            wanted = wanted.evaluate(names) if isinstance(wanted, Dim) else wanted
        if wanted != extent:
            raise ShapeError(f"axis {axis} is {label}, got an extent of {extent}", fix=fix)


def _drawn(value: DrawInput) -> Callable[[], Any]:
    return lambda: value.stream.words(value.stream.take())


def _newest(entry: Captured) -> Callable[[], Any]:
    handle, storage = entry.handle, entry.storage
    return (lambda: storage) if handle is None else (lambda: handle._real_storage())


def _fixed(payload: Any) -> Callable[[], Any]:
    return lambda: payload


def load_graph(source: Graph | TracedGraph | str | os.PathLike[str]) -> Callable[..., Any]:
    """A callable from a finished graph, an open one, or a graph file.

    Args:
        source: the graph, or the path of a container that `save_graph` wrote.

    Returns:
        A function of tensors, one for each input, that returns the result or a tuple of them.

    Raises:
        SerializationError: the file cannot be read.
    """
    if isinstance(source, TracedGraph):
        graph = source.finish()
    elif isinstance(source, Graph):
        graph = source
    else:
        graph = load_graph_file(source)
    return _callable(graph)


def _callable(graph: Graph) -> Callable[..., Any]:
    given = [v for v in graph.inputs if v.payload is None]

    def call(*args: Any) -> Any:
        if len(args) != len(given):
            raise ArgumentError(
                f"the graph {graph.name!r} takes {len(given)} tensors, got {len(args)}",
                fix="pass one tensor for each input",
            )
        tensors = [as_tensor(a) for a in args]
        device = resolve_device(tensors[0]._type.device if tensors else current_device())
        program = program_for(graph, Options(name=graph.name), device)
        storages = iter([t._real_storage() for t in tensors])
        inputs = [next(storages) if v.payload is None else v.payload for v in graph.inputs]
        results = [real_tensor(s) for s in program.run(inputs)]
        return results[0] if len(results) == 1 else tuple(results)

    call.__name__ = graph.name
    return call
