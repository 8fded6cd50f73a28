"""operation: makes a function body run in the current context, or as a one-op eager region.

A region of one call is traced once for each combination of operand types and static arguments;
after that the compiled program is found by that key and no graph is built. What a body does may
depend on types and static arguments only, never on values.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar, cast

from realta.context import (
    EagerRealizationContext,
    LazyRealizationContext,
    RecordingContext,
    ambient_context,
    current,
    custom_default,
    on_default_change,
    realization_context,
)
from realta.errors import RealtaError
from realta.functional.calls import describe_call, misuse
from realta.functional.fast_movement import fast_movement
from realta.functional.replay import Replay, call_key, replay_of
from realta.graph import Value
from realta.plugins import on_device_change
from realta.runtime.wrappers import on_wrapper_change
from realta.tensor import Tensor

__all__ = [
    "arithmetic",
    "fast_path_enabled",
    "forget_replays",
    "movement",
    "new_memo",
    "operation",
    "set_fast_path",
    "trace_call",
]

P = ParamSpec("P")
R = TypeVar("R")

_MEMO_LIMIT: Final = 1024
_memos: Final[list[dict[Any, Any]]] = []
_state: Final = {"fast": True}


def fast_path_enabled() -> bool:
    """Whether compiled programs of bare calls are remembered."""
    return _state["fast"] and not custom_default()


def set_fast_path(enabled: bool) -> None:
    """Turns the eager fast path on or off; results are the same bit for bit (a test proves it)."""
    _state["fast"] = enabled
    forget_replays()


def forget_replays() -> None:
    """Empties every memo: after a change of the default context, of ops, or of profiling."""
    for memo in _memos:
        memo.clear()


on_default_change(forget_replays)
on_wrapper_change(forget_replays)  # whoever watches is to see every call
on_device_change(forget_replays)  # a program belongs to the device as it was opened then


def new_memo() -> dict[Any, Any]:
    """A memo that `forget_replays` empties."""
    memo: dict[Any, Any] = {}
    _memos.append(memo)
    return memo


def operation(body: Callable[P, R]) -> Callable[P, R]:
    """Makes a function of tensors run in whatever context is current.

    The function's body may read every argument that is not a tensor: numbers are static.
    """
    return _operation(body, new_memo())


def arithmetic(
    body: Callable[P, R], memo: dict[Any, Any] | None = None, *, name: str = ""
) -> Callable[P, R]:
    """Like `operation`, for bodies whose positional floats are operands and nothing else.

    Such a float is a parameter of the program, so another one does not compile anything. The body
    must hand it to `scalar_like` and must not look at its value.

    Args:
        body: records the function's ops.
        memo: where programs of bare calls are remembered; a new memo if left out.
        name: what errors call it; the body's name if left out.
    """
    return _operation(body, new_memo() if memo is None else memo, name, free=True)


def movement(body: Callable[P, R], *, name: str = "") -> Callable[P, R]:
    """Like `operation`; a bare call with a pending lazy tensor stays pending in its context."""
    memo = new_memo()
    general = _operation(body, memo, name, follows=True)
    return wraps(general)(fast_movement(general, memo, new_memo(), fast_path_enabled))


def _operation(
    body: Callable[P, R],
    memo: dict[Any, Any],
    name: str = "",
    *,
    follows: bool = False,
    free: bool = False,
) -> Callable[P, R]:
    label = name or body.__name__

    @wraps(body)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            if current.get() is not None:
                return body(*args, **kwargs)
            return cast("R", _run_bare(body, memo, follows, free, args, kwargs))
        except RealtaError as error:
            if not error.where:
                error.at(describe_call(label, args, kwargs))
            raise
        except TypeError as error:
            wrong = misuse(body, args, kwargs)
            if wrong is None:
                raise
            raise wrong.at(describe_call(label, args, kwargs)) from error

    return call


def _run_bare(
    body: Callable[..., Any],
    memo: dict[Any, Any],
    follows: bool,
    free: bool,
    args: Any,
    kwargs: Any,
) -> Any:
    if custom_default():
        return _run_ambient(body, args, kwargs)
    found = call_key(args, kwargs, free)
    if found is None:
        pending = _pending_lazy(args) if follows else None
        if pending is not None:
            with realization_context(pending):
                return body(*args, **kwargs)
        _settle_all(args, kwargs)
        found = call_key(args, kwargs, free)
    if found is not None:
        replay: Replay | None = memo.get(found[0])
        if replay is not None:
            return replay.run(found[1], found[2])
    return trace_call(body, memo, found, args, kwargs)


def trace_call(
    body: Callable[..., Any],
    memo: dict[Any, Any],
    found: Any,
    args: Any,
    kwargs: Any,
    donor: Tensor | None = None,
) -> Any:
    """Runs a body as a one-op eager region, and remembers its program.

    Args:
        body: records the call's ops.
        memo: where the program is remembered.
        found: what `call_key` gives, or None for a call that cannot be remembered.
        args: the call's arguments.
        kwargs: the call's keyword arguments.
        donor: a tensor whose buffer the result may take if nobody else holds it.
    """
    context = EagerRealizationContext(body.__name__, on_sync="split", donor=donor)
    with context:
        result = body(*args, **kwargs)
    if found is not None and not context.splits and _state["fast"]:
        replay = replay_of(context, result, found)
        if replay is not None:
            if len(memo) >= _MEMO_LIMIT:
                memo.clear()
            memo[found[0]] = replay
    return result


def _run_ambient(body: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    context = ambient_context()
    with realization_context(context):
        result = body(*args, **kwargs)
    if isinstance(context, EagerRealizationContext):
        context.realize_all()
    return result


def _tensors(items: Any) -> list[Tensor]:
    found = []
    for item in items:
        if isinstance(item, Tensor):
            found.append(item)
        elif isinstance(item, (list, tuple)):
            found.extend(_tensors(item))
    return found


def _pending_lazy(args: Any) -> RecordingContext | None:
    for tensor in _tensors(args):
        if not tensor._settle():
            context = tensor._context
            return context if isinstance(context, LazyRealizationContext) else None
    return None


def _settle_all(args: Any, kwargs: Any) -> None:
    for tensor in _tensors((*args, *kwargs.values())):
        if not tensor._settle():
            tensor.realize()
    for value in args:
        if isinstance(value, Value):
            Tensor.from_graph_value(value)
