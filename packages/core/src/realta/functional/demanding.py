"""Demanding: the values of operands on which the shape of a result depends."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from realta.context import GraphRealizationContext, caller_location
from realta.errors import RealizationError
from realta.tensor import Tensor

__all__ = ["demanded"]


def demanded(what: str, tensor: Tensor, fix: str) -> NDArray[Any]:
    """The values of a tensor, which runs what it needs if it is pending.

    Args:
        what: what has a shape that depends on them, for errors.
        tensor: the operand.
        fix: what to write in a graph, where no tensor has values.

    Raises:
        RealizationError: it belongs to a graph, or to an open region that forbids it.
    """
    context = tensor._context
    if not tensor._settle() and isinstance(context, GraphRealizationContext):
        raise RealizationError(
            f"the shape of {what} depends on values, and a tensor of the graph {context.name!r} "
            "has none while the graph is recorded",
            where=str(caller_location()),
            fix=fix,
        )
    return tensor.numpy()
