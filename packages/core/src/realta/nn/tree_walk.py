"""ModuleTree: what a module consists of: parameters, buffers and sub-modules, by dotted name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from realta.context import caller_location
from realta.errors import ArgumentError
from realta.tensor import Tensor

__all__ = ["Entry", "ModuleTree"]

T = TypeVar("T")

_BUFFERS = "_buffer_names"


class Entry(NamedTuple):
    """One tensor or module of a tree.

    Args:
        name: where it stands, with dots.
        value: a tensor, or a module.
        persistent: whether a tensor belongs to the state dict.
        buffer: whether a tensor is a buffer.
    """

    name: str
    value: Any
    persistent: bool = True
    buffer: bool = False


class ModuleTree:
    """Attributes are the tree: tensors and modules in them, in lists, tuples and dicts.

    A tensor that stands in two places is one parameter under its first name, and a module that
    stands in two places is walked once under each of its names.
    """

    __tree_leaf__ = True
    """A module among the arguments of a function is one argument, also where it is a dataclass."""

    def _attributes(self) -> Iterable[tuple[str, Any]]:
        """What the tree is read from; containers replace it."""
        return vars(self).items()

    def register_buffer(self, name: str, tensor: Tensor, persistent: bool = True) -> None:
        """Sets an attribute to a tensor that is no parameter: a running statistic, a cache.

        Args:
            name: name of the attribute.
            tensor: its value.
            persistent: whether it belongs to the state dict.

        Raises:
            ArgumentError: the name is no identifier, or the value no tensor.
        """
        given: Any = tensor
        if not name.isidentifier() or not isinstance(given, Tensor):
            raise ArgumentError(
                f"a buffer has the name of an attribute and is a tensor, got {name!r} and "
                f"{type(given).__name__}",
                where=f"register_buffer of {type(self).__name__} at {caller_location()}",
                fix='write self.register_buffer("mean", realta.zeros(3))',
            )
        # Modules need not call this class's constructor, so there may be no table yet.
        vars(self).setdefault(_BUFFERS, {})[name] = persistent
        setattr(self, name, tensor)

    def _items(self) -> Iterator[Entry]:
        """Its own tensors and modules, containers opened."""
        buffers = vars(self).get(_BUFFERS, {})
        stack = [(str(n), v) for n, v in reversed(list(self._attributes())) if n != _BUFFERS]
        while stack:
            name, value = stack.pop()
            if isinstance(value, Tensor) and name in buffers:
                yield Entry(name, value, buffers[name], True)
            elif isinstance(value, (Tensor, ModuleTree)):
                yield Entry(name, value)
            elif isinstance(value, (list, tuple)):
                stack.extend((f"{name}.{n}", v) for n, v in reversed(list(enumerate(value))))
            elif isinstance(value, dict):
                stack.extend((f"{name}.{k}", v) for k, v in reversed(list(value.items())))

    def _tree(self) -> Iterator[Entry]:
        """All tensors and modules below it in the order of attributes, under each of their names.

        A module inside itself is left out.
        """
        stack: list[tuple[Entry, tuple[ModuleTree, ...]]] = [
            (entry, (self,)) for entry in reversed(list(self._items()))
        ]
        while stack:
            entry, above = stack.pop()
            module = entry.value
            if not isinstance(module, ModuleTree):
                yield entry
            elif not any(module is outer for outer in above):
                yield entry
                inner = (*above, module)
                stack.extend(
                    (below._replace(name=f"{entry.name}.{below.name}"), inner)
                    for below in reversed(list(module._items()))
                )

    def _tensors(self) -> Iterator[Entry]:
        """All parameters and buffers, each tensor once under the first of its names."""
        return _once(entry for entry in self._tree() if isinstance(entry.value, Tensor))

    @property
    def local_parameters(self) -> Iterator[tuple[str, Tensor]]:
        """Its own parameters with their names, those of sub-modules left out."""
        found = _once(entry for entry in self._items() if isinstance(entry.value, Tensor))
        return ((entry.name, entry.value) for entry in found if not entry.buffer)

    @property
    def parameters(self) -> Iterator[tuple[str, Tensor]]:
        """All parameters with their dotted names, each tensor once."""
        return ((entry.name, entry.value) for entry in self._tensors() if not entry.buffer)

    @property
    def buffers(self) -> Iterator[tuple[str, Tensor]]:
        """All registered buffers with their dotted names, each tensor once."""
        return ((entry.name, entry.value) for entry in self._tensors() if entry.buffer)

    @property
    def children(self) -> Iterator[tuple[str, Any]]:
        """Its direct sub-modules with their names."""
        found = (entry for entry in self._items() if isinstance(entry.value, ModuleTree))
        return ((entry.name, entry.value) for entry in found)

    @property
    def descendants(self) -> Iterator[tuple[str, Any]]:
        """All modules below it with their dotted names, each module once."""
        found = _once(entry for entry in self._tree() if isinstance(entry.value, ModuleTree))
        return ((entry.name, entry.value) for entry in found)


def _once(entries: Iterable[Entry]) -> Iterator[Entry]:
    """Each object under the first of its names."""
    seen: set[int] = set()
    for entry in entries:
        if id(entry.value) not in seen:
            seen.add(id(entry.value))
            yield entry
