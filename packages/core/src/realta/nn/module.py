"""Module: a tree of parameters and sub-modules, with a function of its own: `forward`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from realta.compilation import CompiledFunction, StagedGraph, compile, stage
from realta.context import current, rebind
from realta.matching import State, matched, state_of
from realta.nn.tree_walk import ModuleTree
from realta.plugins import Device, current_device, device_of
from realta.tensor import Tensor
from realta.weights import NameMap

__all__ = ["Module"]


class Module(ModuleTree):
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

    @property
    def device(self) -> Device:
        """Where its first parameter or buffer lives; the default device if it has none."""
        first = next(self._tensors(), None)
        return device_of(current_device()) if first is None else first.value.device

    def state_dict(self) -> dict[str, Tensor]:
        """Parameters and persistent buffers by dotted name."""
        return {entry.name: entry.value for entry in self._tensors() if entry.persistent}

    def load_state_dict(
        self,
        state: State,
        strict: bool = True,
        *,
        auto_cast: bool = False,
        names: NameMap | None = None,
    ) -> tuple[list[str], list[str]]:
        """Gives every parameter and persistent buffer a new version, all or nothing.

        Args:
            state: tensors or arrays by dotted name; or safetensors files: a path, a list of
                paths, or the index of a checkpoint in several files (see `realta.load_tensors`).
                A tied parameter may stand under any of its names; the first one found counts.
            strict: whether missing and unknown names are errors.
            auto_cast: whether values are cast to the parameters' dtypes.
            names: what a name of the state is called here: a table of names, or of prefixes that
                end in a dot; or a function of a name, which returns None for what is left out.

        Returns:
            Names that are missing, and names that are unknown.

        Raises:
            ArgumentError: names are missing or unknown and ``strict``, or two become one.
            ShapeError, DTypeError: a value does not fit its parameter; nothing was loaded.
            SerializationError: a file is damaged; nothing was loaded.
        """
        where = f"load_state_dict of {type(self).__name__}"
        given = state_of(state, names, where)
        pairs, missing, unknown = matched(
            self._named(persistent=True), given, strict=strict, auto_cast=auto_cast, where=where
        )
        for parameter, value in pairs:
            _move(parameter, value)
        return missing, unknown

    def map_parameters(self, function: Callable[[str, Tensor], Tensor]) -> Self:
        """Moves every parameter to the version ``function(name, parameter)``, all or nothing.

        Unrealized results stay unrealized. Buffers stay as they are. Returns the module.
        """
        _move_all([(parameter, function(name, parameter)) for name, parameter in self.parameters])
        return self

    def to(self, device: Any) -> Self:
        """Moves all parameters and buffers to a device; returns the module."""
        _move_all([(entry.value, entry.value.to(device)) for entry in self._tensors()])
        return self

    def trace(self, *types: Any, name: str = "", **static: Any) -> StagedGraph:
        """The graph of a call with tensors of these types; see `realta.stage`.

        Parameters and buffers are inputs by name, whether or not they are real.
        """
        return stage(self, name=name or type(self).__name__)(*types, **static)

    def compile(
        self,
        *types: Any,
        weights: Mapping[str, Any] | None = None,
        auto_cast: bool = False,
        name: str = "",
        numerics: Any = "exact",
        donate: Sequence[int] = (),
        **static: Any,
    ) -> CompiledFunction:
        """A compiled call for tensors of these types; see `realta.compile`.

        Parameters and buffers are inputs by name: what is loaded into the module later counts at
        the next call, without compiling anything. Compiling runs no initializer.

        Args:
            types: types of the arguments of `forward`, nested as these are.
            weights: tensors or arrays by dotted name in place of the module's own, which are
                then never asked for; see `CompiledFunction.load_weights`.
            auto_cast: whether these are cast to the parameters' dtypes.
            name: name of the graph; the class's if left out.
            numerics: ``"exact"`` or ``"fast"``.
            donate: numbers of tensor arguments whose memory a call may use up.
            static: further arguments of `forward`, types or static values.
        """
        compiler = compile(
            self, name=name or type(self).__name__, weights=weights, auto_cast=auto_cast,
            numerics=numerics, donate=donate,
        )  # fmt: skip
        return compiler(*types, **static)

    def _named(self, *, persistent: bool = False) -> dict[str, Tensor]:
        """Its tensors under each of their names."""
        tensors = (entry for entry in self._tree() if isinstance(entry.value, Tensor))
        return {e.name: e.value for e in tensors if e.persistent or not persistent}

    def __realta_externals__(self) -> dict[str, Tensor]:
        """What a trace of the module reads by name: its parameters and buffers."""
        return self._named()

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}("]
        lines += [f"  {entry.name}: {entry.value.type}" for entry in self._tensors()]
        return "\n".join([*lines, ")"]) if len(lines) > 1 else f"{type(self).__name__}()"


def _move_all(moves: Sequence[tuple[Tensor, Tensor]]) -> None:
    for parameter, value in moves:
        _move(parameter, value)


def _move(parameter: Tensor, value: Tensor) -> None:
    """Moves a parameter's handle to the version that another tensor names."""
    context = current.get()
    if not value._settle():
        value._context.move(parameter, value._value)
    elif context is not None:
        context.move_to_storage(parameter, value._storage)
    else:
        rebind(parameter, value._storage)
