"""module_dataclass: modules whose constructor is written from their fields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar, dataclass_transform, overload

from realta.context import caller_location
from realta.errors import ArgumentError
from realta.nn.module import Module

__all__ = ["module_dataclass"]

M = TypeVar("M", bound=Module)


@overload
def module_dataclass(cls: type[M], /) -> type[M]: ...
@overload
def module_dataclass(
    cls: None = None, /, *, repr: bool = False, **options: Any
) -> Callable[[type[M]], type[M]]: ...
@dataclass_transform()
def module_dataclass(cls: Any = None, /, *, repr: bool = False, **options: Any) -> Any:
    """Makes a subclass of `Module` a dataclass: fields with tensors and modules are its tree.

    ::

        @nn.module_dataclass
        class Scale(nn.Module):
            factor: Tensor

            def forward(self, x):
                return x * self.factor

    Args:
        cls: the class.
        repr: whether it prints like a dataclass; else like a module, with its parameters.
        options: further arguments of `dataclasses.dataclass`; modules are compared by identity
            unless ``eq=True`` is given.

    Raises:
        ArgumentError: the class is no subclass of `Module`.
    """

    def decorate(given: Any) -> Any:
        if not (isinstance(given, type) and issubclass(given, Module)):
            raise ArgumentError(
                f"module_dataclass is for subclasses of Module, got {given!r}",
                where=str(caller_location()),
                fix="write class Name(nn.Module), or use dataclasses.dataclass",
            )
        return dataclass(repr=repr, **{"eq": False, **options})(given)

    return decorate if cls is None else decorate(cls)
