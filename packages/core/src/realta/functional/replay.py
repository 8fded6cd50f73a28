"""Replay: the compiled program of a bare call, and how the next call's arguments feed it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta import runtime
from realta.context import DrawInput, EagerRealizationContext, ScalarInput, caller
from realta.functional.arguments import CONSTANTS
from realta.plugins import Device, chosen_defaults
from realta.runtime import Storage
from realta.tensor import Tensor, real_tensor
from realta.types import DType, TensorType, convert_scalar

__all__ = ["Replay", "RunTimeIndex", "Static", "call_key", "replay_of"]

_STATIC: Final = (str, type(None), DType, Device, TensorType)


def call_key(args: Any, kwargs: Any, free: bool) -> tuple[Any, list[Tensor], list[Any]] | None:
    """What decides the program of a call: operand types and static arguments; with the operands.

    Args:
        args: positional arguments.
        kwargs: keyword arguments.
        free: whether positional floats are operands, whose values decide nothing.

    Returns:
        The key, the tensors, and the numbers that are not part of the key; None where the call
        cannot be remembered: a pending tensor, an argument of unknown kind.
    """
    tensors: list[Tensor] = []
    scalars: list[Any] = []
    # What is left out of a call comes from the defaults, so they decide the program too.
    key: list[Any] = [chosen_defaults()]
    for arg in args:
        part = _part(arg, tensors, scalars, free)
        if part is None:
            return None
        key.append(part)
    for name, arg in kwargs.items():
        part = _part(arg, tensors, scalars, False)
        if part is None:
            return None
        key.append((name, part))
    if len(tensors) > 1:
        # A program that read one storage twice must not serve a call with two different ones.
        storages = [id(t._storage) for t in tensors]
        if len(set(storages)) < len(storages):
            key.append(tuple([storages.index(s) for s in storages]))
    return tuple(key), tensors, scalars


def _part(arg: Any, tensors: list[Tensor], scalars: list[Any], free: bool) -> Any:
    kind = type(arg)
    if kind is Tensor:
        if arg._storage is None and not arg._settle():
            return None
        tensors.append(arg)
        return arg._type
    if kind is float or kind is np.float64:
        # A float operand is a parameter of the program unless it is one of the constants.
        if not free or arg in CONSTANTS:
            return (float, repr(float(arg)))
        scalars.append(arg)
        return float
    if kind is RunTimeIndex:
        scalars.append(arg)
        return kind
    if kind is int or kind is bool:
        return (kind, arg)
    if kind is tuple or kind is list:
        parts = []
        for item in arg:
            part = _part(item, tensors, scalars, False)
            if part is None:
                return None
            parts.append(part)
        return (kind, tuple(parts))
    if kind is slice:
        bounds = (arg.start, arg.stop, arg.step)
        plain = all(type(b) in (int, type(None)) for b in bounds)
        return (kind, bounds) if plain else None
    if isinstance(arg, _STATIC) or arg is Ellipsis or isinstance(arg, type):
        return ("static", kind, arg)
    if isinstance(arg, Static):
        return (kind, arg)
    return None


class RunTimeIndex(int):
    """An int whose value is a parameter of the program, not part of its key."""

    __slots__ = ()


class Static:
    """Base of argument types that are hashable and take part in keys by value (devices)."""

    __slots__ = ()


class Calling(runtime.Places):
    """Where the ops of a call stand that is made again: all at the line that calls.

    The line is looked up when an error asks for it, or when the work outlives the call.

    Args:
        late: whether the work may outlive the call.
    """

    __slots__ = ("_found", "_late")

    def __init__(self, late: bool) -> None:
        self._found: Any = None
        self._late = late

    def where(self, ordinal: int) -> Any:
        """The line that calls."""
        return self._found or caller()

    def keep(self) -> runtime.Places:
        """Looks the line up now."""
        if self._late and self._found is None:
            self._found = caller()
        return self


HERE: Final = Calling(late=False)
"""Serves all calls that fail at once or not at all."""


class Replay:
    """A program with a recipe for its inputs and its result.

    Args:
        program: the compiled program.
        sources: for each program input how to get it from the tensors and scalars of a call.
        shape: how results are arranged: None for one tensor, else the sequence type.
        results: for each result ``(from output?, number)``: an output, or a tensor of the call.
    """

    __slots__ = ("first", "late", "program", "results", "sequence", "sources")

    def __init__(
        self,
        program: runtime.Program | None,
        sources: list[Callable[[list[Tensor], list[Any]], Any]],
        sequence: type | None,
        results: list[tuple[bool, int]],
    ) -> None:
        self.program = program
        self.sources = sources
        self.first: int | None = None
        """Which program input is the call's first tensor, if it is one."""
        self.sequence = sequence
        self.results = results
        self.late = program is not None and program.fails_late
        """Whether a call may fail only when its result is waited for."""

    def run(
        self, tensors: list[Tensor], scalars: list[Any], donated: frozenset[int] = frozenset()
    ) -> Any:
        """Runs it on the operands of a call.

        Args:
            tensors: the call's tensors, in order.
            scalars: the call's numbers, in order.
            donated: numbers of program inputs whose buffers may be used up.
        """
        inputs = [source(tensors, scalars) for source in self.sources]
        program, places = self.program, Calling(late=True) if self.late else HERE
        storages = program.run(inputs, donated=donated, places=places) if program else []
        found = [
            real_tensor(storages[n] if output else tensors[n]._storage)
            for output, n in self.results
        ]
        return found[0] if self.sequence is None else self.sequence(found)


def replay_of(
    context: EagerRealizationContext, result: Any, found: tuple[Any, list[Tensor], list[Any]]
) -> Replay | None:
    """The replay of a call that was just traced and run, or None if it cannot be replayed."""
    _, tensors, scalars = found
    sequence = type(result) if isinstance(result, (tuple, list)) else None
    leaves = [result] if sequence is None else list(result)
    if not all(type(leaf) is Tensor for leaf in leaves):
        return None
    last = context.last_run
    inputs = last[0].inputs if last is not None else ()
    read = {id(v.scalar) for v in inputs if isinstance(v, ScalarInput)}
    if any(id(scalar) not in read for scalar in scalars):
        return None  # the body made something else of a number that is not in the key
    outputs: dict[int, int] = {}
    sources: list[Callable[[list[Tensor], list[Any]], Any]] = []
    program = None
    first = None
    if last is not None:
        graph, program = last
        for value in graph.inputs:
            source = _source_of(value, tensors, scalars)
            if source is None:
                return None
            if tensors and value.payload is tensors[0]._storage:
                first = len(sources)
            sources.append(source)
        outputs = {id(v.payload): n for n, v in enumerate(graph.outputs)}
    arguments = {id(t._storage): n for n, t in enumerate(tensors)}
    results = []
    for leaf in leaves:
        key = id(leaf._storage) if leaf._settle() else 0
        if key in outputs:
            results.append((True, outputs[key]))
        elif key in arguments:
            results.append((False, arguments[key]))
        else:
            return None
    replay = Replay(program, sources, sequence, results)
    replay.first = first
    return replay


def _source_of(
    value: Any, tensors: list[Tensor], scalars: list[Any]
) -> Callable[[list[Tensor], list[Any]], Any] | None:
    if isinstance(value, ScalarInput):
        dtype = value.type.dtype
        places = [n for n, s in enumerate(scalars) if s is value.scalar]
        if len(places) == 1:
            return _scalar_source(places[0], dtype)
        # A number that is part of the key has the same array in every call with that key.
        constant = value.payload
        return (lambda _tensors, _scalars: constant) if not places else None
    if isinstance(value, DrawInput):
        stream = value.stream
        return lambda _tensors, _scalars: stream.draw()
    for n, tensor in enumerate(tensors):
        if tensor._storage is value.payload:
            return _tensor_source(n)
    if isinstance(value.payload, Storage):
        return None
    constant = value.payload
    return lambda _tensors, _scalars: constant


def _tensor_source(n: int) -> Callable[[list[Tensor], list[Any]], Any]:
    return lambda tensors, _scalars: tensors[n]._storage


def _scalar_source(n: int, dtype: DType) -> Callable[[list[Tensor], list[Any]], Any]:
    return lambda _tensors, scalars: convert_scalar(scalars[n], dtype)
