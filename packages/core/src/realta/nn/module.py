"""Module: a tree of parameters and sub-modules, found by attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Self, TypeVar

from realta.compilation import CompiledFunction, StagedGraph, compile, stage
from realta.context import current, rebind
from realta.errors import ArgumentError
from realta.nn.loading import fitting
from realta.tensor import Tensor

__all__ = ["Module"]

T = TypeVar("T")


class Module:
    """Base of layers and models: define `forward`, set tensors and modules as attributes.

    Tensors anywhere in attributes, lists, tuples and dicts are parameters with dotted names. A
    tensor that stands in two places is one parameter under its first name: tied parameters stay
    tied, whatever is loaded into them.
    """

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def _items(self) -> Iterator[tuple[str, Any]]:
        """Tensors and modules in attributes, containers opened, with dotted names."""
        stack = list(reversed(vars(self).items()))
        while stack:
            name, value = stack.pop()
            if isinstance(value, (Tensor, Module)):
                yield name, value
            elif isinstance(value, (list, tuple)):
                stack.extend((f"{name}.{n}", v) for n, v in reversed(list(enumerate(value))))
            elif isinstance(value, dict):
                stack.extend((f"{name}.{k}", v) for k, v in reversed(list(value.items())))

    @property
    def local_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Its own parameters with their names, those of sub-modules left out."""
        return ((name, v) for name, v in self._items() if isinstance(v, Tensor))

    @property
    def children(self) -> Iterator[tuple[str, Module]]:
        """Its direct sub-modules with their names."""
        return ((name, v) for name, v in self._items() if isinstance(v, Module))

    def _tree(self) -> Iterator[tuple[str, Any]]:
        """All tensors and modules below it in the order of attributes, under each of their names.

        A module inside itself is left out.
        """
        stack: list[tuple[str, Any, tuple[Module, ...]]] = [
            (name, value, (self,)) for name, value in reversed(list(self._items()))
        ]
        while stack:
            name, value, above = stack.pop()
            if not isinstance(value, Module):
                yield name, value
            elif not any(value is outer for outer in above):
                yield name, value
                inner = (*above, value)
                stack.extend((f"{name}.{n}", v, inner) for n, v in reversed(list(value._items())))

    @property
    def descendants(self) -> Iterator[tuple[str, Module]]:
        """All modules below it with their dotted names, each module once."""
        return _once((name, v) for name, v in self._tree() if isinstance(v, Module))

    @property
    def parameters(self) -> Iterator[tuple[str, Tensor]]:
        """All parameters with their dotted names, each tensor once."""
        return _once((name, v) for name, v in self._tree() if isinstance(v, Tensor))

    def state_dict(self) -> dict[str, Tensor]:
        """Parameters by dotted name."""
        return dict(self.parameters)

    def load_state_dict(
        self, state: Mapping[str, Any], strict: bool = True, *, auto_cast: bool = False
    ) -> tuple[list[str], list[str]]:
        """Gives every parameter a new version, all or nothing.

        Args:
            state: tensors or arrays by dotted name. A tied parameter may stand under any of its
                names; the first one found counts.
            strict: whether missing and unknown names are errors.
            auto_cast: whether values are cast to the parameters' dtypes.

        Returns:
            Names that are missing, and names that are unknown.

        Raises:
            ArgumentError: names are missing or unknown and ``strict``.
            ShapeError, DTypeError: a value does not fit its parameter; nothing was loaded.
        """
        names: dict[int, list[str]] = {}
        known = set()
        for name, value in self._tree():
            if isinstance(value, Tensor):
                names.setdefault(id(value), []).append(name)
                known.add(name)
        missing, ready = [], []
        for name, parameter in self.parameters:
            given = next((n for n in names[id(parameter)] if n in state), None)
            if given is None:
                missing.append(name)
            else:
                ready.append((given, parameter))
        unknown = [name for name in state if name not in known]
        if strict and (missing or unknown):
            raise ArgumentError(
                f"the state has {len(missing)} missing and {len(unknown)} unknown names: "
                f"missing {missing[:5]}, unknown {unknown[:5]}",
                where=f"load_state_dict of {type(self).__name__}",
                fix="map the names, or load with strict=False",
            )
        values = [fitting(name, p, state[name], auto_cast) for name, p in ready]
        for (_, parameter), value in zip(ready, values, strict=True):
            _move(parameter, value)
        return missing, unknown

    def map_parameters(self, function: Callable[[str, Tensor], Tensor]) -> Self:
        """Moves every parameter to the version ``function(name, parameter)``, all or nothing.

        Unrealized results stay unrealized. Returns the module.
        """
        moves = [(parameter, function(name, parameter)) for name, parameter in self.parameters]
        for parameter, value in moves:
            _move(parameter, value)
        return self

    def to(self, device: Any) -> Self:
        """Moves all parameters to a device; returns the module."""
        return self.map_parameters(lambda _, parameter: parameter.to(device))

    def trace(self, *types: Any, **static: Any) -> StagedGraph:
        """The graph of a call with tensors of these types; see `realta.stage`."""
        return stage(self, name=type(self).__name__)(*types, **static)

    def compile(self, *types: Any, **static: Any) -> CompiledFunction:
        """A compiled call for tensors of these types; see `realta.compile`."""
        return compile(self, name=type(self).__name__)(*types, **static)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}("]
        lines += [f"  {name}: {tensor.type}" for name, tensor in self.parameters]
        return "\n".join([*lines, ")"]) if len(lines) > 1 else f"{type(self).__name__}()"


def _once(items: Iterable[tuple[str, T]]) -> Iterator[tuple[str, T]]:
    """Each object under the first of its names."""
    seen: set[int] = set()
    for name, value in items:
        if id(value) not in seen:
            seen.add(id(value))
            yield name, value


def _move(parameter: Tensor, value: Tensor) -> None:
    """Moves a parameter's handle to the version that another tensor names."""
    context = current.get()
    if not value._settle():
        value._context.move(parameter, value._value)
    elif context is not None:
        context.move_to_storage(parameter, value._storage)
    else:
        rebind(parameter, value._storage)
