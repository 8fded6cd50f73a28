"""The reference backend: every primitive op by its NumPy reference, strictly checked.

The teaching text of the library and the fallback for ops that a device lacks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np

from realta.backend.op_by_op import Kernel, OpByOpBackend
from realta.graph import Node
from realta.hooks import hookimpl
from realta.ops import OpKind, all_ops, as_arrays, find_op

__all__ = ["Reference", "plugin"]

_ELSEWHERE: Final = frozenset({"transfer", "custom_call"})
_BY_CORE: Final = frozenset({OpKind.CONTROL, OpKind.EFFECT})
"""Primitives that never reach this session: core does them."""


def call_reference(node: Node, *arrays: np.ndarray[Any, Any]) -> Any:
    """The results of one op by its definition's reference."""
    with np.errstate(all="ignore"):
        return as_arrays(node.op.reference(*arrays, **node.attrs))


class ReferenceKernels(Mapping[str, Kernel]):
    """One kernel per primitive of the registry, ops defined later included."""

    def __getitem__(self, name: str) -> Kernel:
        if name not in self:
            raise KeyError(name)
        return call_reference

    def __contains__(self, name: object) -> bool:
        op = find_op(name) if isinstance(name, str) else None
        if op is None or not op.primitive:
            return False
        return op.name not in _ELSEWHERE and op.kind not in _BY_CORE

    def __iter__(self) -> Iterator[str]:
        return (op.name for op in all_ops() if op.name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class Reference(OpByOpBackend):
    """The backend ``reference``; its one device is ``reference:0``."""

    name = "reference"
    kernels = ReferenceKernels()


class _Plugin:
    """What the entry point names."""

    @hookimpl
    def realta_backends(self) -> list[OpByOpBackend]:
        """The reference backend."""
        return [Reference()]


plugin: Final = _Plugin()
