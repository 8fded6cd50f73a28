"""CompiledFunction: a traced function that is called with tensors."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from realta import runtime
from realta.compilation.programs import KEPT, Programs
from realta.compilation.signature import Signature
from realta.compilation.staging import Slot, StagedGraph, stage
from realta.compilation.supplies import Captured, External
from realta.context import (
    EagerRealizationContext,
    GraphRealizationContext,
    caller_location,
    current,
    rebind,
)
from realta.errors import ArgumentError, RealizationError
from realta.functional.arguments import as_tensor
from realta.graph import Graph
from realta.matching import State, matched, state_of
from realta.tensor import Tensor, real_tensor
from realta.tree import Star, flatten, unflatten
from realta.weights import NameMap

__all__ = ["CompiledFunction", "compile"]


def compile(
    fn: Callable[..., Any],
    *,
    weights: Mapping[str, Any] | None = None,
    auto_cast: bool = False,
    name: str = "",
    numerics: Any = "exact",
    donate: Sequence[int] = (),
) -> Callable[..., CompiledFunction]:
    """Compiles a function ahead of time: ``compile(fn)(*types, **static)`` gives a callable.

    Args:
        fn: a function of tensors, traced once; or a module, whose parameters and buffers become
            inputs by name.
        weights: tensors or arrays by name in place of a module's own, which are then never asked
            for; see `CompiledFunction.load_weights`.
        auto_cast: whether these are cast to the parameters' dtypes.
        name: name of the graph; the function's if left out.
        numerics: ``"exact"`` or ``"fast"``.
        donate: numbers of tensor arguments whose memory a call may use up.

    Returns:
        A function of types (nested as the arguments are) and static arguments.
    """
    tracer = stage(fn, name=name)

    def with_types(*types: Any, **static: Any) -> CompiledFunction:
        made = CompiledFunction(tracer(*types, **static), numerics=numerics, donate=donate)
        if weights is not None:
            made.load_weights(weights, auto_cast=auto_cast)
        return made

    return with_types


class CompiledFunction:
    """A compiled graph that is called with tensors.

    Tensors that the function stores to, arguments or captured ones, move to their new versions
    after a successful call, in place where nobody else holds the old one. Weights are inputs by
    name: each call reads the newest version of each.

    Args:
        staged: the traced function.
        numerics: ``"exact"`` or ``"fast"``.
        donate: numbers of tensor arguments whose memory a call may use up.

    Raises:
        ArgumentError: there is no tensor argument of that number.
        RealtaError: it cannot be compiled.
    """

    def __init__(
        self, staged: StagedGraph, *, numerics: Any = "exact", donate: Sequence[int] = ()
    ) -> None:
        self.staged = staged = staged.with_own_externals()
        self.donate = frozenset(donate)
        wrong = [n for n in self.donate if n not in range(len(staged.types))]
        if wrong:
            raise ArgumentError(
                f"{staged.graph.name} has no tensor argument {wrong[0]} to donate",
                where=str(caller_location()),
                fix=f"it has {len(staged.types)}, numbered from 0",
            )
        self.name = staged.graph.name
        self._options = runtime.Options(numerics=numerics, name=self.name)
        self._signature = Signature(self.name, staged.types, _tensor_labels(staged))
        self._programs = Programs(staged.graph, self._options)
        # With tensors in a row, one result and nothing stored, a call needs no trees.
        simple = not staged.stored and not self.donate
        flat = simple and staged.arguments == flatten(((*staged.types,), {}))[1]
        one = staged.results.is_leaf and staged.constants == (Slot,)
        self._flat = len(staged.types) if flat and one else -1
        self._quick: dict[tuple[Any, ...], runtime.Program] = {}
        if self._flat >= 0 and self._programs.static is not None:
            self._quick[staged.types] = self._programs.static

    @property
    def graph(self) -> Graph:
        """The traced graph."""
        return self.staged.graph

    @property
    def program(self) -> runtime.Program:
        """The compiled program.

        Raises:
            ShapeError: dimensions are symbolic, so there is one program for each call's extents.
        """
        return self._programs.only()

    @property
    def weights(self) -> dict[str, Tensor]:
        """What it reads by name: the module's parameters and buffers, or what was loaded."""
        return {external.names[0]: external.tensor for external in self.staged.externals}

    def load_weights(
        self,
        state: State,
        strict: bool = True,
        *,
        auto_cast: bool = False,
        names: NameMap | None = None,
    ) -> tuple[list[str], list[str]]:
        """Lets it read other tensors by name, all or nothing; nothing is compiled or run.

        The module that it was compiled from keeps its own. Arguments, results and errors are those
        of `Module.load_state_dict`.
        """
        where = f"load_weights of {self.name} at {caller_location()}"
        externals = self.staged.externals
        wanted = {name: external.tensor for external in externals for name in external.names}
        pairs, missing, unknown = matched(
            wanted, state_of(state, names, where), strict=strict, auto_cast=auto_cast, where=where
        )
        found = {id(old): new for old, new in pairs}
        for external in externals:
            external.tensor = found.get(id(external.tensor), external.tensor)
        return missing, unknown

    def export(self, path: str | os.PathLike[str]) -> None:
        """Writes it into a file with its weights, for `realta.load` in any process.

        Random draws go on where a private generator is now, and follow the global seed of the
        process that loads it.

        Args:
            path: file; replaced if it exists, whole or not at all.

        Raises:
            SerializationError: arguments or results are nested in a class, or a static argument is
                no plain value.
        """
        # Few programs export, and its imports cost more than those of this layer.
        exporting = importlib.import_module("realta.compilation.exporting")
        options = {"numerics": self._options.numerics, "donate": sorted(self.donate)}
        exporting.write_export(self.staged, options, path)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it with tensors of the declared types and the same static arguments.

        Raises:
            ArgumentError, ShapeError, DTypeError, DeviceError: an argument does not fit; nothing
                ran.
            RealizationError: it is called while a graph is recorded.
        """
        if len(args) == self._flat and not kwargs and current.get() is None:
            found = self._call_quick(args)
            if found is not None:
                return found
        return self._call(args, kwargs)

    def _call_quick(self, args: Any) -> Tensor | None:
        """A call whose types have been seen, with real tensors; None if it is none."""
        inputs: list[Any] = []
        types: list[Any] = []
        for tensor in args:
            if tensor.__class__ is not Tensor or tensor._storage is None:
                return None
            inputs.append(tensor._storage)
            types.append(tensor._type)
        key = tuple(types)
        program = self._quick.pop(key, None)
        if program is None:
            return None
        self._quick[key] = program  # the last one to go
        for supply in self.staged.supplies:
            storage = supply.tensor._storage if supply.__class__ is External else None
            inputs.append(supply.get() if storage is None else storage)
        return real_tensor(program.run(inputs, places=self._programs.places)[0])

    def _call(self, args: Any, kwargs: Any) -> Any:
        context = current.get()
        if isinstance(context, GraphRealizationContext):
            raise RealizationError(
                f"the compiled function {self.name} is called while a graph is recorded",
                where=str(caller_location()),
                fix="call the plain function there, and compile the whole",
            )
        staged = self.staged
        tensors = self._tensors(args, kwargs)
        program = self._programs.get(self._signature.bind(tensors))
        for tensor in tensors:
            tensor._real_storage()
        if self._flat >= 0:
            self._quick[tuple([tensor._type for tensor in tensors])] = program
            if len(self._quick) > KEPT:
                self._quick.pop(next(iter(self._quick)), None)
        self._refuse_aliases(tensors)
        # A region must be able to put back what it stored to.
        keeps = isinstance(context, EagerRealizationContext)
        donated = self.donate if keeps else self.donate | self._unshared(tensors)
        inputs: list[Any] = [tensor._storage for tensor in tensors]
        inputs += [supply.get() for supply in staged.supplies]
        results = program.run(inputs, donated=donated, places=self._programs.places)
        move = rebind if context is None else context.move_to_storage
        for owner, number in staged.stored:
            move(_handle(owner, tensors), results[number])
        found = iter(results)
        leaves = [real_tensor(next(found)) if c is Slot else c for c in staged.constants]
        return unflatten(staged.results, leaves)

    def _unshared(self, tensors: Sequence[Tensor]) -> frozenset[int]:
        """The numbers of inputs that are stored to and that nobody else holds."""
        found = set()
        for owner, _ in self.staged.stored:
            tensor = _handle(owner, tensors)
            if not tensor._settle() or not tensor._storage.device.donates:
                continue
            if runtime.uniquely_held(tensor._storage, 1):
                found.add(owner if isinstance(owner, int) else self._number_of(owner))
        return frozenset(found - {-1})

    def _number_of(self, owner: Tensor | External) -> int:
        """The number of the input that a tensor from outside is; -1 if it is only written."""
        for number, supply in enumerate(self.staged.supplies, len(self.staged.types)):
            if supply is owner or (isinstance(supply, Captured) and supply.tensor is owner):
                return number
        return -1

    def _refuse_aliases(self, tensors: Sequence[Tensor]) -> None:
        """What is stored to may come in under one name only: a trace has a value for each name."""
        for owner, _ in self.staged.stored:
            handle = _handle(owner, tensors)
            for number, tensor in enumerate(tensors):
                own = isinstance(owner, int) and number == owner
                if tensor is handle and not own:
                    raise ArgumentError(
                        f"argument {self._signature.labels[number]} of {self.name} is a tensor "
                        "that the function also has under another name and stores to",
                        where=str(caller_location()),
                        fix="pass copy.copy(tensor), so that each name is a tensor of its own",
                    )

    def _tensors(self, args: Any, kwargs: Any) -> list[Tensor]:
        """The tensor arguments of a call.

        Raises:
            ArgumentError: the arguments are nested otherwise, or a static one differs.
        """
        staged = self.staged
        leaves, tree = flatten((args, kwargs))
        if staged.arguments != tree:
            raise ArgumentError(
                f"{self.name} was compiled for the arguments {_call_text(staged.arguments)}, "
                f"got {_call_text(tree)}",
                where=str(caller_location()),
                fix="pass arguments nested as the types were",
            )
        tensors: list[Tensor] = []
        for label, leaf, expected in zip(staged.labels, leaves, staged.static, strict=True):
            if expected is Slot:
                tensors.append(self._tensor(label, len(tensors), leaf))
            elif type(leaf) is not type(expected) or not _same(leaf, expected):
                raise ArgumentError(
                    f"the static argument {label} of {self.name} was {expected!r}, got {leaf!r}",
                    where=str(caller_location()),
                    fix="compile again for another value",
                )
        return tensors

    def _tensor(self, label: str, number: int, leaf: Any) -> Tensor:
        if isinstance(leaf, Tensor):
            return leaf
        if any(owner == number for owner, _ in self.staged.stored if isinstance(owner, int)):
            raise ArgumentError(
                f"{self.name} stores to its argument {label}, which is no tensor but "
                f"{type(leaf).__name__}",
                where=str(caller_location()),
                fix="pass a tensor, which moves to the new version",
            )
        try:
            return as_tensor(leaf, self.staged.types[number].device)
        except ArgumentError as error:
            error.where = f"argument {label} of {self.name} at {caller_location()}"
            raise

    def __reduce__(self) -> tuple[Any, ...]:
        return (_restored, (self.staged, self._options.numerics, tuple(self.donate)))

    def __repr__(self) -> str:
        types = ", ".join(map(str, self.staged.types))
        return f"<CompiledFunction {self.name}({types})>"


def _restored(staged: StagedGraph, numerics: Any, donate: tuple[int, ...]) -> CompiledFunction:
    return CompiledFunction(staged, numerics=numerics, donate=donate)


def _handle(owner: int | Tensor | External, tensors: Sequence[Tensor]) -> Tensor:
    """The tensor that a store goes to: an argument, a captured one, or one read by name."""
    if isinstance(owner, int):
        return tensors[owner]
    return owner.tensor if isinstance(owner, External) else owner


def _tensor_labels(staged: StagedGraph) -> tuple[str, ...]:
    pairs = zip(staged.labels, staged.static, strict=True)
    return tuple([label for label, leaf in pairs if leaf is Slot])


def _call_text(tree: Any) -> str:
    """Arguments as a call shows them: ``(*, cache={'k': *})``."""
    args, kwargs = unflatten(tree, [Star()] * tree.count)
    shown = [repr(a) for a in args] + [f"{k}={v!r}" for k, v in kwargs.items()]
    return f"({', '.join(shown)})"


def _same(first: Any, second: Any) -> bool:
    """Whether two static arguments of one type are equal; arrays by their elements."""
    found = first == second
    return bool(found.all()) if hasattr(found, "all") else bool(found)
