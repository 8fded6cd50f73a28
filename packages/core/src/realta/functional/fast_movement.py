"""Fast movement: bare calls that move elements meet the compiled call by type and arguments.

What such a call costs is what is done besides the moving, so the lookup is all there is: the key is
the type of the tensor and the arguments as they are written. Results are bit for bit those of the
general path, from whose programs the calls are learnt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from realta.context import current
from realta.functional.array_parts import (
    IN_ORDER,
    Show,
    array_parts,
    deferred_tensor,
    lies_in_order,
    showing,
)
from realta.functional.large_parts import large_part
from realta.functional.replay import Replay, call_key
from realta.runtime import Storage
from realta.runtime.deferred import filled
from realta.runtime.units import SMALL_BYTES
from realta.runtime.wrappers import execute_wrappers
from realta.tensor import Tensor, real_tensor
from realta.types import DTYPES

__all__ = ["fast_movement"]

_new: Final = object.__new__
_get_context: Final = current.get
_Array: Final = np.ndarray
_ONLY_INTS: Final = frozenset({int}).issuperset
_PLAIN: Final = frozenset({int, str, type(None), type(Ellipsis), *map(type, DTYPES)})


def _frozen(argument: Any) -> Any:
    """An argument as part of a key; raises TypeError for one that has no place in a key."""
    kind = argument.__class__
    if kind in _PLAIN:
        return argument
    if kind is slice:
        start, stop, step = argument.start, argument.stop, argument.step
        if start.__class__ in _PLAIN and stop.__class__ in _PLAIN and step.__class__ in _PLAIN:
            return (slice, start, stop, step)
    elif kind is tuple or kind is list:
        return (tuple, *[a if a.__class__ in _PLAIN else _frozen(a) for a in argument])
    raise TypeError(kind)


def fast_movement(
    general: Callable[..., Any],
    replays: dict[Any, Any],
    calls: dict[Any, Any],
    enabled: Callable[[], bool],
) -> Callable[..., Any]:
    """A function of one tensor and static arguments: the fast way where it applies.

    Args:
        general: the function for all arguments.
        replays: where ``general`` remembers its programs.
        calls: where the fast calls are remembered; it is emptied with ``replays``.
        enabled: whether calls may be remembered.
    """

    def call(x: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs or execute_wrappers or x.__class__ is not Tensor or _get_context() is not None:
            return general(x, *args, **kwargs)
        type_ = x._type
        try:
            if len(args) == 1:
                argument = args[0]
                kind = argument.__class__
                if kind in _PLAIN:
                    key: Any = (type_, argument)
                elif (kind is tuple or kind is list) and (
                    argument[0].__class__ is int and argument[1].__class__ is int
                    if len(argument) == 2
                    else _ONLY_INTS(map(type, argument))
                ):
                    key = (type_, tuple(argument))
                else:
                    key = (type_, _frozen(argument))
            else:
                key = (type_, *[_frozen(a) for a in args]) if args else type_
        except TypeError:
            return general(x, *args)
        found = calls.get(key)
        if found is None:
            result = general(x, *args)
            if key not in calls and enabled():
                calls[key] = _learnt((x, *args), replays)
            return result
        show, ordered, direct, large, result_type, device, launches = found
        held = x._held
        if held.__class__ is Storage:
            if held.launch is not None and filled(held) is None:
                # An unfinished launch may hold an error, which the general path raises.
                return general(x, *args)
            if large is not None:
                return large(held, general, args)
            held = held.handle
        if show is not None and held.__class__ is _Array and held.shape == type_.shape:
            held = show(held)
            if not ordered:
                return deferred_tensor(result_type, device, IN_ORDER, held)
        elif direct is not None and held is not None:
            held = direct(held)
            device.launched += launches
        else:
            return general(x, *args)
        result = _new(Tensor)
        result._held = held
        result._type = result_type
        result._value = result._context = None
        return result

    return call


def _learnt(args: tuple[Any, ...], replays: dict[Any, Any]) -> Any:
    """What makes the call again: one program from the tensor to the result, or nothing at all."""
    found = call_key(args, {}, False)
    replay: Replay | None = replays.get(found[0]) if found is not None else None
    if replay is None or replay.sequence is not None:
        return _NO_WAY
    program = replay.program
    if program is None:  # nothing is moved
        same = replay.results == [(False, 0)]
        return (None, True, None, _same, args[0]._type, None, 0) if same else _NO_WAY
    alone = replay.first == 0 and len(replay.sources) == 1 and replay.results == [(True, 0)]
    if not alone or replay.late:
        return _NO_WAY
    type_, device = program.output_types[0], program.device
    given = program.source.inputs[0].type
    steps = None if device.is_async else showing(program.source)
    if type_.nbytes > SMALL_BYTES:
        large = None
        if steps is not None and hasattr(device.session, "adopt"):
            large = large_part(program, steps)
        return None, True, None, large, type_, device, 0
    if steps is None or array_parts(given) is None:
        return None, True, program.direct, None, type_, device, program.launches
    show, ordered = _in_turn(steps), lies_in_order(given, steps)
    return show, ordered, program.direct, None, type_, device, program.launches


_NO_WAY: Final = (None, True, None, None, None, None, 0)


def _same(storage: Storage, general: Any, args: Any) -> Tensor:
    return real_tensor(storage)


def _in_turn(steps: Sequence[Show]) -> Show:
    """The steps as one function."""
    if len(steps) == 1:
        return steps[0]

    def show(x: Any) -> Any:
        for step in steps:
            x = step(x)
        return x

    return show
