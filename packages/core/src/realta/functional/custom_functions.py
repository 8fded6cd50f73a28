"""Custom: functions of yours as ops, by name: registered in Python, or built by a session."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from realta import runtime
from realta.context import caller_location
from realta.errors import ArgumentError, UnsupportedOp
from realta.functional.arguments import as_tensor, recording, to_device
from realta.functional.operation import operation
from realta.ops import get_op
from realta.plugins import device_of
from realta.tensor import Tensor, wrap
from realta.types import DType, TensorType

__all__ = ["custom", "inplace_custom", "register_custom"]

Function = TypeVar("Function", bound=Callable[..., Any])
_PLAIN = (bool, int, float, str)


def register_custom(
    name: str, *, mutates: Sequence[int] | None = None
) -> Callable[[Function], Function]:
    """Registers a function that `custom` and loaded graphs call by name on host devices.

    The function takes the operands as NumPy arrays and the parameters as keyword arguments. It
    returns an array, or a tuple of them. It must depend on nothing else: equal calls are merged,
    and one whose results nobody reads does not run. It may change arrays that it gets from
    `inplace_custom`, and no others.

    ::

        @F.register_custom("vendor.scale")
        def scale(x, *, factor):
            return x * np.float32(factor)

    Args:
        name: its name, with a dot: your package's name, then the function's.
        mutates: which operands it changes when `inplace_custom` calls it; all if left out.

    Returns:
        A decorator that gives the function back.

    Raises:
        ArgumentError: the name has no dot.
    """
    owner, dot, rest = name.partition(".")
    if not (owner and dot and rest):
        raise ArgumentError(
            f"the name of a custom function has a dot, got {name!r}",
            where=f"register_custom at {caller_location()}",
            fix="begin it with your package's name, as in vendor.scale",
        )

    def register(function: Function) -> Function:
        changed = None if mutates is None else tuple(mutates)
        runtime.register_custom(runtime.CustomFunction(name, function, changed))
        return function

    return register


@operation
def custom(
    name: str,
    device: Any,
    values: Sequence[Any],
    out_types: Iterable[TensorType],
    parameters: Mapping[str, Any] | None = None,
    *,
    source: str = "",
) -> list[Tensor]:
    """The results of a custom function.

    Args:
        name: its name.
        device: where it runs; operands move there.
        values: operands: tensors, arrays, numbers.
        out_types: types of the results; on ``device`` if they name none.
        parameters: keyword arguments: bools, ints, floats, text, dtypes.
        source: code for sessions that build kernels; others call what is registered in Python.

    Returns:
        A list of the results.

    Raises:
        UnsupportedOp: nothing is registered under that name, or the device takes no functions.
        ArgumentError: a parameter of another kind.
        ExecutionError: the function failed, or did not return what ``out_types`` says.
    """
    node = _record(name, device, values, out_types, parameters, (), source)
    context = recording()
    return [wrap(context, value) for value in node.outputs]


@operation
def inplace_custom(
    name: str,
    device: Any,
    values: Sequence[Any],
    out_types: Iterable[TensorType] | None = None,
    parameters: Mapping[str, Any] | None = None,
    *,
    source: str = "",
) -> list[Tensor]:
    """Like `custom`, for a function that changes its operands: those tensors move to new versions.

    Whoever read them before keeps what they read, as with every store.

    Args:
        name: its name.
        device: where it runs; operands that it changes must be there.
        values: operands; those that it changes (see `register_custom`) are tensors.
        out_types: types of further results; none if left out.
        parameters: keyword arguments.
        source: code for sessions that build kernels.

    Returns:
        A list of the further results.

    Raises:
        ArgumentError: an operand to change is no tensor, or is elsewhere.
        UnsupportedOp, ExecutionError: as `custom`.
    """
    given = list(values)
    mutates = _changed(name, len(given))
    where = device_of(device).name
    for number in mutates:
        target = given[number] if number < len(given) else None
        if not isinstance(target, Tensor) or target._type.device != where:
            shown = target.type if isinstance(target, Tensor) else type(target).__name__
            raise ArgumentError(
                f"operand {number} of {name} is to be changed, and is {shown}",
                where=f"inplace_custom at {caller_location()}",
                fix=f"pass a tensor on {where}",
            )
    node = _record(name, device, given, out_types or (), parameters, mutates, source)
    context = recording()
    for number, value in zip(mutates, node.outputs, strict=False):
        context.move(given[number], value)
    return [wrap(context, value) for value in node.outputs[len(mutates) :]]


def _changed(name: str, count: int) -> tuple[int, ...]:
    try:
        found = runtime.custom_function(name).mutates
    except UnsupportedOp:  # a session may build it from its source
        found = None
    return tuple(range(count)) if found is None else tuple(sorted(found))


def _record(
    name: str,
    device: Any,
    values: Sequence[Any],
    out_types: Iterable[TensorType],
    parameters: Mapping[str, Any] | None,
    mutates: tuple[int, ...],
    source: str,
) -> Any:
    where = device_of(device).name
    tensors = [to_device(as_tensor(v, where), where) for v in values]
    types = tuple([t if t.device else t.with_device(where) for t in out_types])
    op = get_op("custom_call")
    attrs = op.make_attrs(
        {
            "name": name,
            "types": types,
            "mutates": mutates,
            "parameters": _json(name, parameters or {}),
            "source": source,
        }
    )
    return recording().record(op, tensors, attrs)


def _json(name: str, parameters: Mapping[str, Any]) -> str:
    plain: dict[str, Any] = {}
    for key, value in parameters.items():
        if not isinstance(value, (*_PLAIN, DType)):
            raise ArgumentError(
                f"the parameter {key!r} of {name} is {type(value).__name__}",
                where=f"custom at {caller_location()}",
                fix="pass tensors as values; parameters are bools, ints, floats, text and dtypes",
            )
        plain[key] = value.name if isinstance(value, DType) else value
    return json.dumps(plain, sort_keys=True)
