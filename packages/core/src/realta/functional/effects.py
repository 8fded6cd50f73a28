"""Effects: printing and assertions that run once, in order, before what is recorded after them."""

from __future__ import annotations

from typing import Any

from realta.context import caller_location
from realta.errors import ArgumentError, DTypeError
from realta.functional.arguments import as_tensor, recording
from realta.functional.operation import operation
from realta.ops import get_op
from realta.types import bool_

__all__ = ["assert_", "print"]


@operation
def print(value: Any, name: str = "") -> None:
    """Prints a tensor when it runs: now, with its region, or before later values are realized.

    Args:
        value: tensor.
        name: a label before the values.

    Raises:
        ArgumentError: the label is no text.
    """
    _record("print", as_tensor(value), {"name": _text(name, "name")})


@operation
def assert_(cond: Any, message: str = "") -> None:
    """Raises `AssertionFailed` when it runs, unless every element of a bool tensor is true.

    What is recorded after it does not become real then.

    Args:
        cond: bool tensor.
        message: what the error says.

    Raises:
        DTypeError: the condition is not bool.
        ArgumentError: the message is no text.
        AssertionFailed: it does not hold; now, or when something recorded later is realized.
    """
    tensor = as_tensor(cond)
    if tensor.dtype is not bool_:
        raise DTypeError(
            f"assert_ takes bool, not {tensor.dtype}", fix="compare it, as in `x != 0`"
        )
    _record("assert_", tensor, {"message": _text(message, "message")})


def _text(value: Any, name: str) -> str:
    if not isinstance(value, str):
        raise ArgumentError(
            f"{name} is text, got {type(value).__name__}",
            where=str(caller_location()),
            fix="format it before the call; only tensors are known later",
        )
    return value


def _record(name: str, tensor: Any, attrs: dict[str, Any]) -> None:
    op = get_op(name)
    recording().effect(op, (tensor,), op.make_attrs(attrs))
