"""Storing: moves a handle to a new version, in place where nobody else holds the buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from realta import runtime
from realta.context import (
    EagerRealizationContext,
    RecordingContext,
    ambient_context,
    current,
    custom_default,
    realization_context,
)
from realta.functional.operation import arithmetic, fast_path_enabled, new_memo, trace_call
from realta.functional.replay import Replay, call_key
from realta.tensor import Tensor

__all__ = ["store"]

_memos: dict[Any, tuple[Callable[..., Tensor], dict[Any, Any]]] = {}


def store(
    x: Tensor,
    update: Callable[..., Tensor],
    *args: Any,
    instead: Callable[..., bool] | None = None,
) -> None:
    """Moves ``x`` to the version that ``update(x, *args)`` gives.

    Whoever read ``x`` before keeps what they read. If it fails, ``x`` names what it named before.

    Args:
        x: the handle to move.
        update: records the new version; depends on types and static arguments only, floats among
            its positional arguments being operands.
        args: its other arguments.
        instead: ``instead(x, *args)`` is called without a context, where no program for these
            arguments is known; it may store in another way and say so.
    """
    function, memo = _remembered(update)
    context = current.get()
    if context is not None:
        context.move(x, function(x, *args)._value)
        return
    if custom_default():
        _store_ambient(ambient_context(), x, function, args)
        return
    if not x._settle():
        x.realize()
    found = call_key((x, *args), {}, True) if fast_path_enabled() else None
    replay: Replay | None = memo.get(found[0]) if found is not None else None
    if replay is None and found is not None and instead is not None and instead(x, *args):
        return
    if found is None or replay is None:
        new = trace_call(function, memo, found, (x, *args), {}, donor=x)
    else:
        # The handle's reference is known; anything beyond it is another reader of this version.
        alone = x._storage.device.donates and runtime.uniquely_held(x._storage, 1)
        donated = frozenset({replay.first}) if alone and replay.first is not None else frozenset()
        new = replay.run(found[1], found[2], donated)
    x._storage = new._storage


def _store_ambient(
    context: RecordingContext, x: Tensor, function: Callable[..., Tensor], args: Any
) -> None:
    with realization_context(context):
        context.move(x, function(x, *args)._value)
    if isinstance(context, EagerRealizationContext):
        context.realize_all()


def _remembered(update: Callable[..., Tensor]) -> tuple[Callable[..., Tensor], dict[Any, Any]]:
    found = _memos.get(update)
    if found is None:
        memo = new_memo()
        found = _memos[update] = (arithmetic(update, memo, name="setitem"), memo)
    return found
