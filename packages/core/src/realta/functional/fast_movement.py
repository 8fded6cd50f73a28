"""Fast movement: bare calls that move elements meet the compiled call by type and arguments.

What such a call costs is what is done besides the moving, so the lookup is all there is: the key is
the type of the tensor and the arguments as they are written. Results are bit for bit those of the
general path, from whose programs the calls are learnt.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from realta.context import current
from realta.functional.arguments import same_version
from realta.functional.replay import Replay, RunTimeIndex, call_key
from realta.functional.shared_parts import shared_part
from realta.runtime import Storage
from realta.runtime.units import SMALL_BYTES
from realta.runtime.wrappers import execute_wrappers
from realta.tensor import Tensor
from realta.types import DTYPES

__all__ = ["fast_movement", "fast_row"]

_new: Final = object.__new__
_get_context: Final = current.get
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
        watched = kwargs or execute_wrappers or _get_context() is not None
        if watched or x.__class__ is not Tensor:
            return general(x, *args, **kwargs)
        try:
            key = (x._type, *[a if a.__class__ is int else _frozen(a) for a in args])
        except TypeError:
            return general(x, *args)
        found = calls.get(key)
        if found is None:
            result = general(x, *args)
            if key not in calls and enabled():
                calls[key] = _learnt((x, *args), replays)
            return result
        direct, result_type, device, launches = found
        held = x._held
        if direct is None:
            return same_version(x)
        if result_type.nbytes > SMALL_BYTES:
            # The storage itself stands for its memory, which the result goes on sharing.
            held = x._storage
            if held is None or held.launch is not None:
                return general(x, *args)
        elif held.__class__ is Storage:
            # An unfinished launch may hold an error, which the general path raises.
            held = held.handle if held.launch is None else None
        if held is None:
            return general(x, *args)
        result = _new(Tensor)
        result._held = direct(held)
        result._type = result_type
        result._value = result._context = None
        device.launches += launches
        return result

    return call


def fast_row(
    general: Callable[[Tensor, int], Tensor],
    replays: dict[Any, Any],
    calls: dict[Any, Any],
    enabled: Callable[[], bool],
) -> Callable[[Tensor, int], Tensor]:
    """``x[position]`` by one program for every position.

    Args:
        general: takes a real tensor with static extents, outside every context.
        replays: where ``general`` remembers its programs, by a position that is a parameter.
        calls: where the fast calls are remembered; it is emptied with ``replays``.
        enabled: whether calls may be remembered.
    """

    def call(x: Tensor, position: int) -> Tensor:
        type_ = x._type
        found = calls.get(type_)
        if found is None:
            result = general(x, position)
            if type_ not in calls and enabled():
                calls[type_] = _learnt_row(x, replays)
            return result
        direct, extent, first, result_type, device, launches = found
        held = x._held
        if held.__class__ is Storage:
            held = held.handle if held.launch is None else None
        if held is None or execute_wrappers or not -extent <= position < extent:
            return general(x, position)
        place = _array(position)
        result = _new(Tensor)
        result._held = direct(held, place) if first else direct(place, held)
        result._type = result_type
        result._value = result._context = None
        device.launches += launches
        return result

    return call


def _array(position: int) -> Any:
    return np.array(position, np.int64)


def _learnt_row(x: Tensor, replays: dict[Any, Any]) -> Any:
    found = call_key((x, RunTimeIndex(0)), {}, True)
    replay: Replay | None = replays.get(found[0]) if found is not None else None
    if replay is None or replay.program is None or replay.late:
        return None
    program = replay.program
    # An array is a handle only where the session takes arrays as they are.
    if program.direct is None or not hasattr(program.device.session, "adopt"):
        return None
    if len(replay.sources) != 2 or replay.first not in (0, 1):
        return None
    extent, first = x._type.static_shape[0], replay.first == 0
    result_type = program.output_types[0]
    return program.direct, extent, first, result_type, program.device, program.launches


def _learnt(args: tuple[Any, ...], replays: dict[Any, Any]) -> Any:
    """What makes the call again: one program from the tensor to the result, or None."""
    found = call_key(args, {}, False)
    replay: Replay | None = replays.get(found[0]) if found is not None else None
    if replay is None or replay.sequence is not None:
        return None
    program = replay.program
    if program is None:  # nothing is moved
        return (None, args[0]._type, None, 0) if replay.results == [(False, 0)] else None
    alone = replay.first == 0 and len(replay.sources) == 1 and replay.results == [(True, 0)]
    if not alone or replay.late:
        return None
    result_type = program.output_types[0]
    if result_type.nbytes > SMALL_BYTES:
        part = shared_part(program)
        return None if part is None else (part, result_type, program.device, 0)
    if program.direct is None:
        return None
    return program.direct, result_type, program.device, program.launches
