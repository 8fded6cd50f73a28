"""Matching: values given by name, and the parameters of those names that they are to fill."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from realta.errors import ArgumentError, DTypeError, ShapeError
from realta.interchange import from_numpy
from realta.tensor import Tensor, real_tensor
from realta.weights import NameMap, Paths, TensorFiles, renamed

__all__ = ["State", "fitting", "matched", "state_of"]

State = Mapping[str, Any] | Paths


def state_of(state: State, names: NameMap | None, where: str) -> Mapping[str, Any]:
    """A state by the names it has here; files are opened and read when a name is asked for.

    Args:
        state: values by name, or safetensors files as `realta.load_tensors` takes them.
        names: what its names are called here.
        where: the call, for errors.

    Raises:
        ArgumentError: it is neither, or two names become one.
        SerializationError: a file is damaged.
    """
    given: Any = state
    if not isinstance(given, (Mapping, str, os.PathLike, list, tuple)):
        raise ArgumentError(
            f"a state is a table of tensors by name or a file, got {type(given).__name__}",
            where=where,
            fix="pass a dict, or the path of a safetensors file",
        )
    found = given if isinstance(given, Mapping) else TensorFiles(given)
    return found if names is None else _Renamed(found, renamed(found, names, where))


class _Renamed(dict[str, Any]):
    """A state under other names; values are asked for one by one."""

    def __init__(self, state: Mapping[str, Any], names: Mapping[str, str]) -> None:
        super().__init__(names)
        self._state = state

    def __getitem__(self, name: str) -> Any:
        return self._state[super().__getitem__(name)]


def matched(
    wanted: Mapping[str, Tensor],
    state: Mapping[str, Any],
    *,
    strict: bool,
    auto_cast: bool,
    where: str,
) -> tuple[list[tuple[Tensor, Tensor]], list[str], list[str]]:
    """What each parameter is to become.

    Args:
        wanted: parameters under each of their names; they are not changed and need not be real.
        state: values by name. A tied parameter takes the first of its names that is there.
        strict: whether missing and unknown names are errors.
        auto_cast: whether values are cast to the parameters' dtypes.
        where: the call, for errors.

    Returns:
        Pairs of a parameter and a real tensor of its type; names that are missing; names that are
        unknown.

    Raises:
        ArgumentError: names are missing or unknown and ``strict``.
        ShapeError, DTypeError: a value does not fit.
    """
    names: dict[int, list[str]] = {}
    for name, parameter in wanted.items():
        names.setdefault(id(parameter), []).append(name)
    found = {own[0]: next((n for n in own if n in state), None) for own in names.values()}
    missing = [name for name, given in found.items() if given is None]
    unknown = [name for name in state if name not in wanted]
    if strict and (missing or unknown):
        raise ArgumentError(
            f"the state has {len(missing)} missing and {len(unknown)} unknown names: "
            f"missing {missing[:5]}, unknown {unknown[:5]}",
            where=where,
            fix="map the names, or load with strict=False",
        )
    pairs = [
        (wanted[name], fitting(given, wanted[name], state[given], auto_cast))
        for name, given in found.items()
        if given is not None
    ]
    return pairs, missing, unknown


def fitting(name: str, parameter: Tensor, value: Any, auto_cast: bool) -> Tensor:
    """A real tensor of the parameter's type with the given values.

    Args:
        name: name of the parameter, for errors.
        parameter: what is loaded into; it is not changed and need not be real.
        value: tensor or array.
        auto_cast: whether another dtype is cast.

    Raises:
        ShapeError, DTypeError: the value does not fit.
    """
    device = parameter._type.device
    where = f"loading {name!r}, which is {parameter.type}"
    if isinstance(value, np.ndarray):
        value = from_numpy(value, device=device)
    tensor = value if isinstance(value, Tensor) else Tensor(value, device=device)
    if tensor.shape != parameter.shape:
        raise ShapeError(
            f"the value for {name!r} has shape {tensor.shape}, the parameter {parameter.shape}",
            where=where,
            fix="load the checkpoint of this model",
        )
    if tensor.dtype is not parameter.dtype:
        if not auto_cast:
            raise DTypeError(
                f"the value for {name!r} is {tensor.dtype}, the parameter {parameter.dtype}",
                where=where,
                fix="load with auto_cast=True, or cast it first",
            )
        tensor = tensor.cast(parameter.dtype)
    if tensor._type.device != device:
        tensor = tensor.to(device)
    return real_tensor(tensor._real_storage())
