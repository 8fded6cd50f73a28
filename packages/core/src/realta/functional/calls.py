"""Calls: how errors show a call, and what they say of arguments that a function does not take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, signature
from typing import Any, Final

from realta.context import caller_location
from realta.errors import ArgumentError
from realta.functional.habits import KEYWORD_HABITS
from realta.graph import Value
from realta.tensor import Tensor

__all__ = ["describe_call", "misuse"]

_WIDEST: Final = 40
"""Characters of one argument in an error."""
_MOST: Final = 4
"""Elements of a sequence that an error shows."""


def _shown(value: Any) -> str:
    if isinstance(value, (Tensor, Value)):
        return str(value.type)
    if type(value) in (list, tuple):
        parts = [_shown(v) for v in value[:_MOST]] + ["..."] * (len(value) > _MOST)
        inner = ", ".join(parts)
        if type(value) is list:
            return f"[{inner}]"
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    text = repr(value) if not hasattr(value, "__array__") else type(value).__name__
    return text if len(text) <= _WIDEST else text[: _WIDEST - 3] + "..."


def describe_call(name: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> str:
    """The call with types in place of tensors: ``add(f32[2,3], 1) at model.py:12``."""
    shown = [_shown(a) for a in args] + [f"{k}={_shown(v)}" for k, v in kwargs.items()]
    return f"{name}({', '.join(shown)}) at {caller_location()}"


def misuse(
    body: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> ArgumentError | None:
    """What is wrong with arguments that do not fit a function's signature; None if they fit."""
    expected = signature(body)
    try:
        expected.bind(*args, **kwargs)
    except TypeError as mismatch:
        what = str(mismatch)
    else:
        return None
    name = body.__name__
    fix = f"call it as {name}{_plain(expected)}"
    for keyword in kwargs:
        ours = KEYWORD_HABITS.get(keyword)
        if keyword not in expected.parameters and ours in expected.parameters:
            what, fix = f"{name} has no argument {keyword!r}", f"write {ours}= instead"
            break
    spread = all(type(a) is int for a in args[1:])
    if len(args) > len(expected.parameters) and spread and "dims" in expected.parameters:
        numbers = ", ".join(map(str, args[1:]))
        fix = f"give the axes as one list, as in {name}(x, [{numbers}])"
    return ArgumentError(f"{name}: {what}" if name not in what else what, fix=fix)


def _plain(expected: Signature) -> str:
    """A signature without annotations."""
    names = [p.replace(annotation=Parameter.empty) for p in expected.parameters.values()]
    return str(Signature(names))
