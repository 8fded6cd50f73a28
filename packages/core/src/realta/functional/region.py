"""Regions: `functional`, which makes a function one fusion region with a policy."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, Literal, ParamSpec, TypeVar, overload

from realta.context import (
    EagerRealizationContext,
    Trace,
    caller_location,
    current,
    require_plain_function,
)
from realta.errors import ArgumentError
from realta.graph import Region

__all__ = ["functional"]

P = ParamSpec("P")
R = TypeVar("R")

_CHOICES: Final = {
    "fuse": ("may", "must", "never"),
    "numerics": ("exact", "fast"),
    "on_sync": ("error", "split"),
}


@overload
def functional(fn: Callable[P, R], /) -> Callable[P, R]: ...
@overload
def functional(
    *,
    fuse: Literal["may", "must", "never"] = "may",
    numerics: Literal["exact", "fast"] = "exact",
    on_sync: Literal["error", "split"] = "error",
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def functional(
    fn: Callable[..., Any] | None = None,
    /,
    *,
    fuse: Literal["may", "must", "never"] = "may",
    numerics: Literal["exact", "fast"] = "exact",
    on_sync: Literal["error", "split"] = "error",
) -> Any:
    """Makes the body of a function one region, which joins the current context or runs as a graph.

    Args:
        fn: the function; arguments and results may be any nesting of tensors and other things.
        fuse: ``"may"``; ``"must"``: one kernel, or a `FusionError` that names the op that split it;
            ``"never"``: a kernel for each op.
        numerics: ``"exact"`` or ``"fast"``.
        on_sync: what realizing one of the region's own tensors inside does: ``"error"``, or
            ``"split"``, which runs what is recorded and goes on.

    Raises:
        ArgumentError: an async function or a generator, or an unknown choice.
    """
    for name, value in (("fuse", fuse), ("numerics", numerics), ("on_sync", on_sync)):
        if value not in _CHOICES[name]:
            raise ArgumentError(
                f"functional has no {name}={value!r}",
                where=str(caller_location()),
                fix=f"use one of {', '.join(_CHOICES[name])}",
            )

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        return _region(function, fuse, numerics, on_sync)

    return decorate if fn is None else decorate(fn)


def _region(
    function: Callable[..., Any], fuse: Any, numerics: Any, on_sync: Any
) -> Callable[..., Any]:
    require_plain_function(function, "F.functional")
    name = getattr(function, "__name__", "region")
    plain = fuse == "may" and numerics == "exact"

    @wraps(function)
    def region(*args: Any, **kwargs: Any) -> Any:
        context = current.get()
        if context is None:
            opened = EagerRealizationContext(name, fuse=fuse, numerics=numerics, on_sync=on_sync)
            opened.trace = Trace()
            opened.begin()
            try:
                result = function(*args, **kwargs)
            except BaseException as error:
                opened.__exit__(type(error), error, error.__traceback__)
                raise
            opened.__exit__(None, None, None)
            return result
        if plain:
            # It asks for nothing of its own, so it stays within the region that is open.
            return function(*args, **kwargs)
        outer = context.region
        context.trace = None
        context.region = Region(name, fuse, numerics, caller_location())
        try:
            return function(*args, **kwargs)
        finally:
            context.region = outer

    return region
