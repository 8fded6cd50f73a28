"""Module: a tree of parameters and sub-modules, found by attribute."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.tensor import Tensor, real_tensor

__all__ = ["Module"]


class Module:
    """Base of layers and models: define `forward`, set tensors and modules as attributes.

    Tensors anywhere in attributes, lists, tuples and dicts are parameters with dotted names. A tensor
    that stands in two places is one parameter under its first name: tied parameters stay tied.
    """

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module computes."""
        raise NotImplementedError(f"{type(self).__name__} has no forward")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def _items(self) -> Iterator[tuple[str, Any]]:
        """Tensors and modules in attributes, containers opened, with dotted names."""
        stack = [(name, value) for name, value in reversed(list(vars(self).items()))]
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

    @property
    def descendants(self) -> Iterator[tuple[str, Module]]:
        """All modules below it with their dotted names."""
        seen = {id(self)}
        stack = list(reversed(list(self.children)))
        while stack:
            name, module = stack.pop()
            if id(module) in seen:
                continue
            seen.add(id(module))
            yield name, module
            stack.extend((f"{name}.{n}", m) for n, m in reversed(list(module.children)))

    @property
    def parameters(self) -> Iterator[tuple[str, Tensor]]:
        """All parameters with their dotted names, each tensor once."""
        seen: set[int] = set()
        for prefix, module in (("", self), *self.descendants):
            for name, tensor in module.local_parameters:
                if id(tensor) not in seen:
                    seen.add(id(tensor))
                    yield (f"{prefix}.{name}" if prefix else name), tensor

    def state_dict(self) -> dict[str, Tensor]:
        """Parameters by dotted name."""
        return dict(self.parameters)

    def load_state_dict(
        self, state: Mapping[str, Any], strict: bool = True, *, auto_cast: bool = False
    ) -> tuple[list[str], list[str]]:
        """Gives every parameter a new version, all or nothing.

        Args:
            state: tensors or arrays by dotted name.
            strict: whether missing and unknown names are errors.
            auto_cast: whether values are cast to the parameters' dtypes.

        Returns:
            Names that are missing, and names that are unknown.

        Raises:
            ArgumentError: names are missing or unknown and ``strict``.
            ShapeError, DTypeError: a value does not fit its parameter; nothing was loaded.
        """
        parameters = dict(self.parameters)
        missing = [name for name in parameters if name not in state]
        unknown = [name for name in state if name not in parameters]
        if strict and (missing or unknown):
            raise ArgumentError(
                f"the state has {len(missing)} missing and {len(unknown)} unknown names: "
                f"missing {missing[:5]}, unknown {unknown[:5]}",
                where=type(self).__name__,
                fix="map the names, or load with strict=False",
            )
        ready = [
            (parameter, _fitting(name, parameter, state[name], auto_cast))
            for name, parameter in parameters.items()
            if name in state
        ]
        for parameter, value in ready:
            parameter._storage, parameter._type = value._storage, value._type
            parameter._value = parameter._context = None
        return missing, unknown

    def map_parameters(self, function: Callable[[str, Tensor], Tensor]) -> Module:
        """Replaces every parameter's version by ``function(name, parameter)``; returns the module."""
        for parameter, value in [(p, function(n, p)) for n, p in self.parameters]:
            value._real_storage()
            parameter._storage, parameter._type = value._storage, value._type
            parameter._value = parameter._context = None
        return self

    def to(self, device: Any) -> Module:
        """Moves all parameters to a device; returns the module."""
        return self.map_parameters(lambda _, parameter: parameter.to(device))

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__}("]
        lines += [f"  {name}: {tensor.type}" for name, tensor in self.parameters]
        return "\n".join([*lines, ")"]) if len(lines) > 1 else f"{type(self).__name__}()"


def _fitting(name: str, parameter: Tensor, value: Any, auto_cast: bool) -> Tensor:
    tensor = value if isinstance(value, Tensor) else Tensor(value, device=parameter._type.device)
    if tensor.shape != parameter.shape:
        raise ShapeError(
            f"the value for {name!r} has shape {tensor.shape}, the parameter {parameter.shape}",
            where=str(parameter.type),
            fix="load the checkpoint of this model",
        )
    if tensor.dtype is not parameter.dtype:
        if not auto_cast:
            raise DTypeError(
                f"the value for {name!r} is {tensor.dtype}, the parameter {parameter.dtype}",
                where=str(parameter.type),
                fix="load with auto_cast=True, or cast it first",
            )
        tensor = tensor.cast(parameter.dtype)
    if tensor.device != parameter.device:
        tensor = tensor.to(parameter.device)
    return real_tensor(tensor._real_storage())
