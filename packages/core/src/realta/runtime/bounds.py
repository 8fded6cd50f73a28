"""Bounds statuses: what a `check_bounds` node found, read by core and raised as an error."""

from __future__ import annotations

from collections.abc import Callable

from realta.errors import ExecutionError, IndexBoundsError, RealtaError
from realta.graph import Node
from realta.runtime.storage import Storage

__all__ = ["bounds_error", "read_status"]


def read_status(
    status: Storage, check: Callable[[], Node], place: Callable[[], str]
) -> RealtaError | None:
    """The error that a status stands for, None if every index was inside its axis.

    Args:
        status: the int32[4] result: node (−1 if all is well), axis, low and high word of the index.
        check: tells the ``check_bounds`` node.
        place: tells the op it guards, with its line.
    """
    try:
        words = status.copy_to_host()
    except (ExecutionError, IndexBoundsError) as error:
        return error
    if int(words[0]) == -1:
        return None
    index = (int(words[2]) & 0xFFFFFFFF) | (int(words[3]) << 32)
    attrs = check().attrs
    return bounds_error(index, attrs["extent"], attrs["axis"], place())


def bounds_error(index: int, extent: int, axis: int, place: str = "") -> IndexBoundsError:
    """The error for an index outside ``-extent … extent - 1`` of an axis."""
    legal = f"use an index from {-extent} to {extent - 1}" if extent else "the axis is empty"
    return IndexBoundsError(
        f"index {index} is out of bounds for axis {axis} with size {extent}",
        where=place,
        fix=f'{legal}, or choose mode="clip" or "wrap"',
    )
