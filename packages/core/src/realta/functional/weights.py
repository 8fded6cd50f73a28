"""Weights by name: declared where a function is traced, given where it is compiled."""

from __future__ import annotations

from typing import Any

from realta.context import GraphRealizationContext, caller_location, complete_type, current
from realta.errors import ArgumentError, RealtaError
from realta.tensor import Tensor
from realta.types import TensorType

__all__ = ["constant_external"]


def constant_external(
    name: str, layout: Any, align: int | None = None, is_placeholder: bool = False
) -> Tensor:
    """A weight without a value, which the compiled function gets by name.

    Args:
        name: what ``compile(fn, weights={name: tensor})`` and ``load_weights`` call it; calls with
            one name and one type give one weight.
        layout: its type; on the default device if it names none.
        align: accepted for MAX's sake: buffers are always aligned to what the device wants.
        is_placeholder: accepted for MAX's sake: a weight is never there before it is given.

    Raises:
        ArgumentError: nothing is being compiled here, or the name has another type already.
    """
    where = f"constant_external({name!r}) at {caller_location()}"
    if type(name) is not str or not isinstance(layout, TensorType):
        raise ArgumentError(
            f"a weight has a name and a type, got {name!r} and {layout!r}",
            where=where,
            fix='write F.constant_external("w", realta.TensorType("float32", (2, 3)))',
        )
    context = current.get()
    if not isinstance(context, GraphRealizationContext):
        raise ArgumentError(
            "a weight is declared in a function that is being compiled",
            where=where,
            fix="call it inside a function given to realta.compile",
        )
    try:
        tensor: Tensor = context.declare_weight(name, complete_type(layout))
    except RealtaError as error:
        raise error.at(where) from None
    return tensor
