"""Demanding: functions whose result has a shape that depends on the values of an operand."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from realta.context import GraphRealizationContext, caller_location
from realta.errors import ArgumentError, RealizationError, RealtaError
from realta.functional.calls import describe_call, misuse
from realta.tensor import Tensor

__all__ = ["PADDED", "checked_size", "data_dependent", "demanded", "results_on"]

P = ParamSpec("P")
R = TypeVar("R")

PADDED: Final = "give size= and fill_value=: the result is padded to that size, and counted"


def demanded(what: str, tensor: Tensor, fix: str = PADDED) -> NDArray[Any]:
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


def checked_size(size: Any) -> int:
    """The extent that a padded result is to have.

    Raises:
        ArgumentError: it is no int, or negative.
    """
    if type(size) is not int or size < 0:
        raise ArgumentError(f"a size of {size!r}", fix="give how many elements there are at most")
    return size


def data_dependent(function: Callable[P, R]) -> Callable[P, R]:
    """Makes errors of a function name the call, as those of operations do."""

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except RealtaError as error:
            error.at(describe_call(function.__name__, args, kwargs))
            raise
        except TypeError as error:
            wrong = misuse(function, args, kwargs)
            if wrong is None:
                raise
            raise wrong.at(describe_call(function.__name__, args, kwargs)) from error

    return call


def results_on(like: Tensor, *arrays: Any) -> tuple[Tensor, ...]:
    """Arrays as tensors where a tensor lives."""
    return tuple([Tensor(np.asarray(array), device=like._type.device) for array in arrays])
