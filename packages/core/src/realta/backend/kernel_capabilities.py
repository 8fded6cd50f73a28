"""Kernel capabilities: which ops have generated kernels, and for which dtypes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from realta.codegen.singles import SINGLES
from realta.ops import OpDef, OpKind, all_ops, find_op, get_op
from realta.types import DType

__all__ = ["KernelOps", "kernel_composites"]

_KINDS: Final = frozenset({OpKind.ELEMENTWISE, OpKind.MOVEMENT, OpKind.REDUCE})
"""Kinds of which every primitive of core has kernels."""
_OTHERS: Final = frozenset({"barrier", "constant", "conv_general", "dot_general"})
"""Ops that fusion groups of their own kinds hold, or that kernels have written into them."""
_OWN: Final = frozenset([op.name for op in all_ops() if "." not in op.name])
"""The ops of core. One that is defined elsewhere has no scalar instruction here, whatever its kind:
it needs a decomposition."""


_COMPOSITES: Final = ("attention",)
"""Composites with kernels of their own."""


def kernel_composites(
    storage: frozenset[DType], *, host_contractions: bool
) -> Mapping[str, frozenset[DType]]:
    """The composites that kernels compute whole, by dtypes.

    Args:
        storage: the dtypes that the device holds.
        host_contractions: whether the host multiplies matrices: what consists of such products is
            then left in parts, since its BLAS is faster than a kernel that does all at once.
    """
    if host_contractions:
        return {}
    return {name: get_op(name).dtypes & storage for name in _COMPOSITES}


class KernelOps(Mapping[str, frozenset[DType]]):
    """Primitive ops by dtypes, as capabilities list them.

    Args:
        storage: the dtypes that the device holds.
    """

    def __init__(self, storage: frozenset[DType]) -> None:
        self._storage = storage

    def __getitem__(self, name: str) -> frozenset[DType]:
        op = find_op(name)
        if op is None or not _has(op):
            raise KeyError(name)
        return op.dtypes & self._storage

    def __contains__(self, name: object) -> bool:
        op = find_op(name) if isinstance(name, str) else None
        return op is not None and _has(op)

    def __iter__(self) -> Iterator[str]:
        return (op.name for op in all_ops() if _has(op))

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _has(op: OpDef) -> bool:
    if not op.primitive or op.name not in _OWN:
        return False
    return op.kind in _KINDS or op.name in SINGLES or op.name in _OTHERS
