"""Custom functions: functions of the user that graphs call by name, run by core on host devices."""

from __future__ import annotations

import difflib
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from realta.errors import ExecutionError, RealtaError, UnsupportedOp
from realta.graph import Graph
from realta.records import Record
from realta.runtime.device import resolve_device
from realta.runtime.failure import op_place
from realta.runtime.steps import HostStep

if TYPE_CHECKING:
    from realta.runtime.places import Places
    from realta.runtime.storage import Storage

__all__ = ["CustomFunction", "CustomStep", "custom_function", "register_custom"]


class CustomFunction(Record):
    """A registered function.

    Args:
        name: what graphs call it by.
        function: ``function(*arrays, **parameters)``; returns an array, or a tuple of them.
        mutates: which operands it changes; None: all, where it is called for being changed.
    """

    __slots__ = ("name", "function", "mutates")  # noqa: RUF023  as arguments

    name: str
    function: Callable[..., Any]
    mutates: tuple[int, ...] | None

    def __init__(
        self, name: str, function: Callable[..., Any], mutates: tuple[int, ...] | None = None
    ) -> None:
        self._set(name, function, mutates)


_functions: Final[dict[str, CustomFunction]] = {}


def register_custom(found: CustomFunction) -> None:
    """Registers a function; one of the same name that was registered before is replaced."""
    _functions[found.name] = found


def custom_function(name: str) -> CustomFunction:
    """The function of that name.

    Raises:
        UnsupportedOp: none is registered.
    """
    found = _functions.get(name)
    if found is None:
        near = difflib.get_close_matches(name, _functions, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UnsupportedOp(
            f"no custom function is registered as {name!r}",
            fix=f'{hint}import the module that has it, under @F.register_custom("{name}")',
        )
    return found


class CustomStep(HostStep):
    """Calls a registered function on arrays, checks what it returns, and uploads that."""

    __slots__ = ()

    def run(
        self,
        inputs: list[Storage],
        source: Graph,
        places: Places | None,
        donated: frozenset[int] = frozenset(),
    ) -> list[Storage]:
        attrs = self.node.attrs
        mutates = attrs["mutates"]
        arrays = [x.copy_to_host() if n in mutates else x.numpy() for n, x in enumerate(inputs)]
        try:
            function = custom_function(attrs["name"]).function
            found = function(*arrays, **json.loads(attrs["parameters"]))
        except RealtaError as error:
            raise error.at(op_place(source, self.ordinal, places)) from None
        except Exception as error:
            raise ExecutionError(
                f"the custom function {attrs['name']} raised {type(error).__name__}: {error}",
                where=op_place(source, self.ordinal, places),
                fix="mend the function; tensors that this run was to fill stay unusable",
            ) from error
        results = [*[arrays[n] for n in mutates], *self._returned(found)]
        return self._uploaded(results, inputs, source, places)

    def _returned(self, found: Any) -> list[Any]:
        if found is None:
            return []
        return list(found) if isinstance(found, (tuple, list)) else [found]

    def _uploaded(
        self, results: list[Any], inputs: list[Storage], source: Graph, places: Places | None
    ) -> list[Storage]:
        arrays = [np.asarray(result) for result in results]
        types = self.node.types
        problem = ""
        if len(arrays) != len(types):
            changed = len(self.node.attrs["mutates"])
            problem = f"{len(arrays) - changed} result(s), must be {len(types) - changed}"
        for array, type in zip(arrays, types, strict=False):
            if not problem and (array.dtype, array.shape) != (type.dtype.numpy, type.shape):
                problem = f"{array.dtype}{list(array.shape)}, must be {type}"
        if problem:
            raise ExecutionError(
                f"the custom function {self.node.attrs['name']} returned {problem}",
                where=op_place(source, self.ordinal, places),
                fix="return what out_types says, as NumPy arrays",
            )
        home = inputs[0].device if inputs else None
        stored = []
        for array, type in zip(arrays, types, strict=True):
            device = resolve_device(type.device) if type.device or home is None else home
            # A copy: the function may keep what it returned, and change it later.
            stored.append(device.upload(np.array(array, order="C"), type.with_device(device.name)))
        return stored
