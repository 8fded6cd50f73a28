"""Declaring: the ops of a table of kernels, with the dtypes for which each is defined."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from realta.ops import find_op
from realta.types import DType

__all__ = ["declare"]


def declare(
    names: Iterable[str], dtypes: Iterable[DType], *, composites: bool = False
) -> Mapping[str, frozenset[DType]]:
    """What `Capabilities` lists for ops that are computed in all of some dtypes.

    Each op comes with those of the dtypes for which it is defined, and without it if there are
    none. A name that this version of core does not know is left out, so that one backend can serve
    several versions; `realta ops` has the names.

    Args:
        names: names of ops, primitives and composites mixed.
        dtypes: what their first data operand may be.
        composites: whether to list the composites among them, which are then claimed whole, or the
            primitives.
    """
    wanted = frozenset(dtypes)
    found = {}
    for name in names:
        op = find_op(name)
        if op is not None and op.primitive is not composites and op.dtypes & wanted:
            found[name] = op.dtypes & wanted
    return found
